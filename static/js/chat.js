// The chat page: forms and links that already work, made live.

import { Composer } from "./composer.js";
import { markFound } from "./found.js";
import { enhancePage } from "./page.js";
import { Socket } from "./socket.js";
import { Rounds } from "./rounds.js";
import { enhanceFound, enhanceSearch } from "./search.js";

enhancePage();
enhanceSearch();
enhanceFound();
markFound();

const chat = document.querySelector("[data-socket]");
if (chat) {
  const list = document.getElementById("messages");
  const form = document.getElementById("composer");
  const socket = new Socket(chat.dataset.socket);
  const rounds = new Rounds(list, { isThread: Boolean(chat.dataset.thread), sync: () => socket.send(rounds.seen()) });
  const composer = form ? new Composer(form, { socket, rounds, isThread: Boolean(chat.dataset.thread) }) : null;

  socket.onOpen = () => {
    if (chat.dataset.thread) socket.send(rounds.seen());
    composer?.resend();
  };
  socket.onFrame = (frame) => {
    if (frame.type === "sent") composer?.accept(frame);
    else if (frame.type === "error") composer?.refuse(frame);
    else rounds.apply(frame);
    if (frame.type === "run") composer?.refresh();
  };
  // The conversation was deleted in another tab.
  document.addEventListener("fragment", (event) => {
    if (event.detail.target === "messages") composer?.forget();
  });
  // Asks to log in, and comes back; the draft is kept.
  socket.onDenied = () => location.reload();
  socket.connect();
} else {
  const form = document.getElementById("composer");
  if (form) new Composer(form, { socket: null, rounds: null, isThread: true });
}
