// Pages without a conversation: what stands at their edges stays up to date.

import { replaceFragment } from "./fragments.js";
import { Socket } from "./socket.js";

if (!document.querySelector("[data-socket]")) {
  const socket = new Socket("/ws/");
  socket.onFrame = (frame) => frame.type === "fragment" && replaceFragment(frame);
  socket.connect();
}
