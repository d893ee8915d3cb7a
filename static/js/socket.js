// A plain WebSocket that comes back by itself: at once, then with growing pauses.

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15000;
const LOGGED_OUT = 4401;

export class Socket {
  constructor(path) {
    this.url = new URL(path, location.href.replace(/^http/, "ws")).href;
    this.onOpen = () => {};
    this.onFrame = () => {};
    this.onDenied = () => {};
    this.pause = FIRST_PAUSE_MS;
    this.timer = 0;
    this.socket = null;
    addEventListener("online", () => this.hurry());
    addEventListener("pageshow", (event) => event.persisted && this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    this.timer = 0;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => {
      document.documentElement.dataset.live = "yes";
      this.onOpen();
    });
    socket.addEventListener("message", (event) => {
      this.pause = FIRST_PAUSE_MS;
      this.onFrame(JSON.parse(event.data));
    });
    socket.addEventListener("close", (event) => {
      if (this.socket !== socket) return;
      document.documentElement.dataset.live = "no";
      if (event.code === LOGGED_OUT) {
        this.onDenied();
        return;
      }
      // Jitter, so that the pages of a school do not come back in one moment after a restart.
      this.timer = setTimeout(() => this.connect(), this.pause * (0.5 + Math.random()));
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    });
  }

  // The network or the reader is back: do not wait for the end of the pause.
  hurry() {
    if (this.timer) {
      this.pause = FIRST_PAUSE_MS;
      this.connect();
    } else if (this.socket && this.socket.readyState > WebSocket.OPEN) {
      this.connect();
    }
  }

  // Says whether the frame went out.
  send(frame) {
    if (!this.isOpen) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }
}
