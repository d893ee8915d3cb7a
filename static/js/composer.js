// The message box: the draft survives, one message is one run however often it is sent. That Enter sends is in keys.js.

import { forget, keep, recall } from "./store.js";

const PENDING_POST = "chat:posted";

function newKey() {
  // randomUUID is missing where a school serves plain HTTP.
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Composer {
  constructor(form, { socket, rounds, isThread }) {
    this.form = form;
    this.socket = socket;
    this.rounds = rounds;
    this.isThread = isThread;
    this.box = form.elements.input;
    this.mode = form.elements.mode ?? null;
    this.incognito = form.elements.incognito ?? null;
    this.key = form.elements.key;
    this.note = form.querySelector("#composer-note");
    this.sendButton = form.querySelector("[data-action=send]");
    this.stopButton = form.querySelector("[data-action=stop]");
    this.draftName = `chat:draft:${form.dataset.draft}`;
    this.pending = null;
    this.isPosting = false;
    const isPosted = this.settlePosted();
    this.restore();
    this.listen();
    this.fit();
    this.refresh();
    this.takeFocus();
    // The address of a message just sent names its round, which the browser makes its focus after this.
    if (isPosted) addEventListener("load", () => document.activeElement?.matches("article[data-run]") && this.takeFocus());
  }

  takeFocus() {
    // Who comes from the search wants to read.
    if (new URLSearchParams(location.search).has("run")) return;
    if (matchMedia("(hover: hover)").matches) this.box.focus({ preventScroll: true });
  }

  listen() {
    this.box.addEventListener("input", () => {
      this.save();
      this.fit();
      if (!this.pending) this.say("");
    });
    this.mode?.addEventListener("change", () => this.save());
    this.incognito?.addEventListener("change", () => this.save());
    this.form.addEventListener("submit", (event) => this.submit(event));
    document.addEventListener("submit", (event) => this.submitInRound(event));
    addEventListener("pageshow", () => {
      this.isPosting = false;
    });
    // The card of a conversation that is not there yet: its first message says that it was skipped.
    document.addEventListener("click", (event) => {
      const skip = event.target.closest("#guide form [data-action=skip]");
      if (!skip || !this.form.elements.guide) return;
      event.preventDefault();
      this.form.elements.guide.value = skip.value;
      document.getElementById("note-marks").remove();
      this.box.focus();
    });
    for (const card of document.querySelectorAll("[data-action=example]")) {
      card.addEventListener("click", (event) => {
        event.preventDefault();
        this.fill(card.textContent.trim());
      });
    }
  }

  fill(text) {
    this.box.value = text;
    this.box.focus();
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  submit(event) {
    if (event.submitter === this.stopButton) return this.stop(event);
    if (!this.box.value.trim() || this.pending || this.isPosting) return event.preventDefault();
    if (this.rounds?.going().length) {
      event.preventDefault();
      return this.say(this.form.dataset.waiting);
    }
    if (!this.isThread || !this.rounds) return this.post();
    event.preventDefault();
    this.pending = { action: "send", key: this.key.value, input: this.box.value, mode: this.mode?.value ?? "" };
    if (this.socket.send(this.pending)) this.sendButton.setAttribute("aria-busy", "true");
    else this.postInstead();
    return undefined;
  }

  // Leaves the page; the draft is dropped when the next page shows the message.
  post() {
    this.isPosting = true;
    this.sendButton.setAttribute("aria-busy", "true");
    keep("sessionStorage", PENDING_POST, { draft: this.draftName, key: this.key.value });
  }

  // Without a socket the form is sent, but a server that does not answer must not take the page away.
  async postInstead() {
    try {
      const response = await fetch("/healthz", { cache: "no-store" });
      if (!response.ok) throw new Error(String(response.status));
    } catch {
      this.pending = null;
      this.say(this.form.dataset.offline);
      return;
    }
    if (!this.pending) return;
    this.pending = null;
    this.post();
    this.form.submit();
  }

  // After a new connection: the same key makes it the same run.
  resend() {
    if (this.pending) this.socket.send(this.pending);
  }

  accept({ key }) {
    if (this.pending?.key !== key) return;
    if (this.box.value === this.pending.input) this.box.value = "";
    this.finish();
    this.save();
    this.fit();
    this.say("");
    this.refresh();
  }

  refuse({ key, message }) {
    this.say(message);
    if (this.pending?.key === key) this.finish();
    this.stopButton.disabled = false;
  }

  finish() {
    this.pending = null;
    this.key.value = newKey();
    this.sendButton.removeAttribute("aria-busy");
  }

  stop(event) {
    const going = this.rounds?.going() ?? [];
    if (!this.socket?.isOpen || !going.length) return;
    event.preventDefault();
    this.stopButton.disabled = true;
    for (const article of going) this.socket.send({ action: "stop", run: article.dataset.run });
  }

  // "Stop" and "Try again" in a round.
  submitInRound(event) {
    const form = event.target;
    const article = form.closest("article[data-run]");
    if (!article || !form.dataset.form) return;
    const run = article.dataset.run;
    const frame = form.dataset.form === "stop" ? { action: "stop", run } : {
      action: "send",
      key: newKey(),
      input: article.querySelector("[data-part=input]").textContent,
      mode: article.dataset.mode,
      replaces: run,
    };
    if (this.socket?.send(frame)) {
      event.preventDefault();
      form.querySelector("button").disabled = true;
      if (frame.action === "send") setTimeout(() => { form.querySelector("button").disabled = false; }, 2000);
    } else if (!form.elements.csrfmiddlewaretoken) {
      form.append(this.form.elements.csrfmiddlewaretoken.cloneNode());
    }
  }

  // Shows "Stop" instead of "Send" while an answer is being written.
  refresh() {
    const going = this.rounds?.going() ?? [];
    const hadFocus = document.activeElement === this.stopButton;
    this.stopButton.hidden = !going.length;
    this.sendButton.hidden = Boolean(going.length);
    this.stopButton.disabled = false;
    if (going.length) this.stopButton.setAttribute("formaction", `/runs/${going.at(-1).dataset.run}/stop/`);
    else if (hadFocus) this.box.focus({ preventScroll: true });
    if (!going.length && this.note.textContent === this.form.dataset.waiting) this.say("");
  }

  say(words) {
    if (this.note.textContent !== words) this.note.textContent = words;
    this.note.hidden = !words;
  }

  fit() {
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight + 2}px`;
  }

  // The draft, one for each conversation and for a new one with each assistant; none of what is incognito.

  save() {
    const text = this.box.value;
    const isKept = !this.incognito?.checked && this.form.dataset.incognito === undefined;
    if (isKept && (text || this.mode)) keep("localStorage", this.draftName, { text, mode: this.mode?.value ?? "" });
    else forget("localStorage", this.draftName);
  }

  forget() {
    forget("localStorage", this.draftName);
  }

  restore() {
    const stored = recall("localStorage", this.draftName);
    if (!stored) return;
    if (!this.box.value) this.box.value = stored.text;
    const isChosen = this.mode && this.mode.selectedIndex !== Math.max(0, [...this.mode.options].findIndex((one) => one.defaultSelected));
    if (this.mode && !isChosen && [...this.mode.options].some((one) => one.value === stored.mode)) this.mode.value = stored.mode;
  }

  // Says whether this page is the one that shows a message sent by form.
  settlePosted() {
    const posted = recall("sessionStorage", PENDING_POST);
    if (!posted || !document.querySelector(`article[data-key="${CSS.escape(posted.key)}"]`)) return false;
    forget("localStorage", posted.draft);
    forget("sessionStorage", PENDING_POST);
    return true;
  }
}
