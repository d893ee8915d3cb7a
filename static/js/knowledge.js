// The knowledge base, made live: files go up one by one with their progress, and what the worker reads moves on by itself.

import { element } from "./fragments.js";

const POLL_MS = 2000;
const AT_ONCE = 2;
const TAKEN_AT_ONCE = 200;
const TOO_FAST_MS = 15_000;

// What the worker has read since: asked for while something is going and somebody looks.

function lists() {
  return document.getElementById("documents") ?? document.getElementById("about");
}

function isBusy(node) {
  return node.contains(document.activeElement) || node.querySelector(":popover-open") !== null;
}

function say(words) {
  const place = document.getElementById("documents-said");
  if (place && words) place.textContent = words;
}

// What was said of a file when it came in is over as soon as it has been read.
function retell(row) {
  if (!["ready", "failed"].includes(row.dataset.state)) return;
  const address = row.querySelector(".document-name a").getAttribute("href");
  for (const one of document.querySelectorAll("#outcomes .outcome[data-outcome=kept]")) {
    if (one.querySelector("a").getAttribute("href") !== address) continue;
    one.querySelector(".outcome-words").textContent = row.querySelector(".state").textContent.trim();
  }
}

// A row that somebody is in keeps its links and menus; only its state moves on.
function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  const [before, after] = [old, fresh].map((row) => row.querySelector("[data-part=state]"));
  if (before.dataset.words !== after.dataset.words && ["ready", "failed"].includes(fresh.dataset.state)) say(after.dataset.words);
  if (!isBusy(old)) old.replaceWith(fresh);
  else if (!before.contains(document.activeElement)) before.replaceWith(after);
}

function patchLists(fresh) {
  const old = document.getElementById("documents");
  const shelves = (root) => [...root.querySelectorAll(".shelf-list")].map((one) => one.id).join();
  if (shelves(old) !== shelves(fresh) || shelves(old) === "") {
    if (!isBusy(old)) old.replaceWith(fresh);
    return;
  }
  for (const list of fresh.querySelectorAll(".document-rows")) {
    const here = document.getElementById(list.closest(".shelf-list").id).querySelector(".document-rows");
    if (!here) {
      if (!isBusy(old)) old.replaceWith(fresh);
      return;
    }
    const ids = new Set([...list.children].map((row) => row.id));
    for (const row of [...here.children]) if (!ids.has(row.id) && !isBusy(row)) row.remove();
    [...list.children].forEach((row, at) => {
      const known = document.getElementById(row.id);
      if (known) patch(known, row);
      else here.insertBefore(row, here.children[at] ?? null);
    });
  }
  old.dataset.seen = fresh.dataset.seen;
  old.toggleAttribute("data-going", fresh.hasAttribute("data-going"));
}

async function patchDocument() {
  const response = await fetch(location.href, { credentials: "same-origin" });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const hasMoved = page.getElementById("document-note").children.length > 0;
  for (const id of ["about", "passages", "document-note", ...(hasMoved ? ["changes"] : [])]) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (!old || !fresh || old.isEqualNode(fresh)) continue;
    if (id === "about") {
      const state = fresh.querySelector("[data-part=state]");
      if (!fresh.hasAttribute("data-going")) say(state.dataset.words);
      old.dataset.seen = fresh.dataset.seen;
      old.toggleAttribute("data-going", fresh.hasAttribute("data-going"));
      old.querySelector("[data-part=state]").replaceWith(state);
      old.querySelector(".about-list").replaceWith(fresh.querySelector(".about-list"));
    } else old.replaceWith(fresh);
  }
}

async function look() {
  const place = lists();
  if (!place || document.hidden) return;
  const address = new URL(place.dataset.news, location.href);
  address.searchParams.set("seen", place.dataset.seen);
  let response;
  try {
    response = await fetch(address, { credentials: "same-origin", headers: { "HX-Request": "true" } });
  } catch {
    return; // no network just now; the next look may have one
  }
  if (response.headers.has("HX-Refresh")) location.reload(); // the session has ended
  if (response.status !== 200) return;
  if (place.id === "about") await patchDocument();
  else {
    const fresh = element(await response.text());
    fresh.querySelectorAll(".document").forEach(retell); // first: the lists take parts of these rows away
    patchLists(fresh);
  }
}

let timer = 0;

function follow() {
  clearTimeout(timer);
  if (document.hidden || !lists()?.hasAttribute("data-going")) return;
  timer = setTimeout(async () => {
    await look();
    follow();
  }, POLL_MS);
}

async function lookNow() {
  await look();
  follow();
}

// Files that go up

class Uploads {
  constructor(form) {
    this.form = form;
    this.box = form.querySelector("input[type=file]");
    this.list = form.querySelector(".outcomes");
    this.waiting = [];
    this.going = 0;
    form.querySelector("[data-can-drop]").hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.add(this.box.files);
      this.box.value = "";
    });
    this.followDrags(form.querySelector("[data-drop]"));
    addEventListener("beforeunload", (event) => {
      if (this.going || this.waiting.length) event.preventDefault();
    });
  }

  followDrags(zone) {
    const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    let depth = 0;
    const show = (step) => {
      depth = Math.max(0, depth + step);
      zone.toggleAttribute("data-over", depth > 0);
    };
    zone.addEventListener("dragenter", (event) => hasFiles(event) && show(1));
    zone.addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
    // A file that misses the place must not take the page away.
    for (const name of ["dragover", "drop"]) addEventListener(name, (event) => hasFiles(event) && event.preventDefault());
    zone.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      depth = 0;
      show(0);
      this.add(event.dataTransfer.files);
    });
  }

  // The choices count as they stood when the files were given.
  add(files) {
    const choices = new FormData(this.form);
    choices.delete("file");
    for (const file of [...files].slice(0, TAKEN_AT_ONCE)) this.take(file, choices);
    this.next();
  }

  take(file, choices) {
    const code = this.refusal(file);
    if (code) {
      this.list.prepend(this.ended(file.name, code));
      return;
    }
    const row = this.form.querySelector("#outcome-going").content.firstElementChild.cloneNode(true);
    for (const place of row.querySelectorAll("[data-name]")) place.textContent = file.name;
    this.list.append(row);
    const one = { file, choices, row };
    row.querySelector("[data-action=cancel-upload]").addEventListener("click", () => this.cancel(one));
    this.waiting.push(one);
  }

  refusal(file) {
    const ending = `.${file.name.split(".").pop().toLowerCase()}`;
    if (!this.box.accept.split(",").includes(ending)) return "format";
    if (file.size === 0) return "empty";
    return file.size > Number(this.form.dataset.maxBytes) ? "large" : "";
  }

  ended(name, code) {
    const row = this.form.querySelector("#outcome-ended").content.firstElementChild.cloneNode(true);
    row.querySelector("[data-name]").textContent = name;
    const words = row.querySelector("[data-words]");
    words.textContent = words.dataset[code];
    return row;
  }

  cancel(one) {
    if (one.request) one.request.abort();
    else {
      this.waiting = this.waiting.filter((other) => other !== one);
      this.settle(one, this.ended(one.file.name, "cancelled"));
    }
  }

  next() {
    while (this.going < AT_ONCE && this.waiting.length) this.send(this.waiting.shift());
  }

  // An XMLHttpRequest, for fetch does not tell how much has gone up.
  send(one) {
    this.going += 1;
    const request = new XMLHttpRequest();
    one.request = request;
    const bar = one.row.querySelector("progress");
    const words = one.row.querySelector("[data-words]");
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total ? loaded / total : 0;
      words.textContent = loaded < total ? `${Math.floor((100 * loaded) / total)} %` : words.dataset.storing;
    });
    request.addEventListener("load", () => this.answer(one, request));
    request.addEventListener("error", () => this.finish(one, null));
    request.addEventListener("abort", () => this.finish(one, this.ended(one.file.name, "cancelled")));
    const body = new FormData();
    for (const [name, value] of one.choices) body.append(name, value);
    body.append("file", one.file);
    request.open("POST", this.form.action);
    request.setRequestHeader("HX-Request", "true");
    request.send(body);
  }

  answer(one, request) {
    const row = request.status === 200 ? element(request.responseText) : null;
    if (row?.dataset.code === "too_fast") return this.wait(one, row);
    this.finish(one, row);
    if (request.getResponseHeader("HX-Refresh")) location.reload(); // the session has ended
    return undefined;
  }

  // Many files at once: the server takes so many a minute, and the others wait for their turn.
  wait(one, row) {
    this.going -= 1;
    one.request = null;
    one.row.querySelector("progress").value = 0;
    one.row.querySelector("[data-words]").textContent = row.querySelector(".outcome-words").textContent;
    this.waiting.unshift(one);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.next(), TOO_FAST_MS);
  }

  finish(one, row) {
    this.going -= 1;
    this.settle(one, row ?? this.ended(one.file.name, "broken"));
    this.next();
    lookNow();
  }

  settle(one, row) {
    const hadFocus = one.row.contains(document.activeElement);
    one.row.replaceWith(row);
    if (hadFocus) row.focus();
    const said = document.getElementById("upload-said");
    const isDone = !this.going && !this.waiting.length;
    said.textContent = isDone ? `${row.textContent} ${said.dataset.done}` : row.textContent;
  }
}

const form = document.getElementById("upload");
if (form) new Uploads(form);
document.addEventListener("visibilitychange", () => !document.hidden && lists()?.hasAttribute("data-going") && lookNow());
document.querySelector(".passage-found")?.focus({ preventScroll: true });
follow();
