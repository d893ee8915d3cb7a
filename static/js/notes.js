// The page of the notes made live: what is typed is counted, and nothing that was typed is lost when a store is told anew.

const MARK = "§";

// A store's size as the server counts it: code points of all entries, and three for each mark between them.
function charsOf(text) {
  const entries = [[]];
  for (const line of text.split(/\r\n?|\n/)) {
    if (line.trim() === MARK) entries.push([]);
    else entries.at(-1).push(line);
  }
  const kept = new Set(entries.map((lines) => lines.join("\n").trim()).filter(Boolean));
  return [...kept].reduce((sum, entry) => sum + [...entry].length, 0) + 3 * Math.max(0, kept.size - 1);
}

function withCommas(number) {
  return number.toLocaleString("en-US");
}

function count(box) {
  show(box.form, charsOf(box.value));
}

// Of a text that was changed from outside: the entries that are chosen to stay.
function countChosen(form) {
  const chosen = [...form.querySelectorAll("input[name=entry]:checked")];
  show(form, chosen.reduce((sum, one) => sum + Number(one.dataset.chars), 0) + 3 * Math.max(0, chosen.length - 1));
}

function show(form, chars) {
  const place = form.querySelector("[data-part=count]");
  if (!place) return;
  const limit = Number(place.dataset.limit);
  const words = chars > limit ? place.dataset.over : place.dataset.words;
  const values = { chars: withCommas(chars), limit: withCommas(limit), more: withCommas(chars - limit) };
  place.textContent = words.replace(/\{(\w+)\}/g, (_whole, name) => values[name]);
  place.classList.toggle("store-over", chars > limit);
  place.hidden = false;
}

function countAll() {
  for (const box of document.querySelectorAll("[data-store] textarea[name=text]")) count(box);
  for (const form of document.querySelectorAll("[data-form=entries]")) countChosen(form);
}

// Another form of the same store was sent while its text was being edited: the draft stays, with the state that it began from,
// so that saving it says what has changed meanwhile.

let draft = null;

function keepDraft(event) {
  const section = event.detail.target?.closest?.("[data-store]");
  const box = section?.querySelector("textarea[name=text]");
  const { elt, triggeringEvent } = event.detail.requestConfig ?? {};
  const sent = elt?.closest("form");
  const pressed = triggeringEvent?.submitter ?? elt;
  const isOwn = sent?.dataset.form === "text";
  const line = section?.querySelector("textarea[name=content]");
  draft = null;
  if (!section) return;
  draft = { store: section.id, focus: pressed?.closest("[data-entry]")?.dataset.entry ?? "" };
  if (box && !isOwn && box.value !== box.defaultValue) {
    draft.text = box.value;
    draft.digest = box.form.elements.digest.value;
  }
  if (line && line.form !== sent && line.value !== line.defaultValue) draft.line = line.value;
}

function giveBack() {
  const section = draft && document.getElementById(draft.store);
  if (!section) return;
  const box = section.querySelector("textarea[name=text]");
  if (box && draft.text !== undefined) {
    box.value = draft.text;
    box.form.elements.digest.value = draft.digest;
  }
  const line = section.querySelector("textarea[name=content]");
  if (line && draft.line !== undefined) line.value = draft.line;
  if (!document.activeElement || document.activeElement === document.body) focusIn(section);
  draft = null;
}

// To what was refused; after a deletion to the entry that stands in its place; else to the title of the store.
function focusIn(section) {
  const refused = section.querySelector("[aria-invalid=true], [data-refused]");
  const buttons = [...section.querySelectorAll("[data-entry] [data-action=remove]")];
  const next = draft.focus ? buttons[Math.min(Number(draft.focus), buttons.length) - 1] : null;
  (refused ?? next ?? section.querySelector("h2")).focus({ preventScroll: refused === null });
}

function onAfterSettle(event) {
  if (!event.detail.elt?.matches?.("[data-store]")) return;
  giveBack();
  countAll();
}

// What was refused is an answer, too.
function onBeforeSwap(event) {
  const { xhr, elt } = event.detail;
  if ([404, 409, 422].includes(xhr.status) && elt.closest("[data-store]")) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
  keepDraft(event);
}

function sayFailed(event) {
  const page = document.querySelector("[data-notes]");
  const place = page?.querySelector(".memory-live");
  if (event.detail.successful || !page?.contains(event.detail.elt) || event.detail.xhr.status >= 400 && event.detail.xhr.status < 500) return;
  const words = document.createElement("p");
  words.className = "memory-notice-words";
  words.textContent = place.dataset.failed;
  const notice = place.querySelector("#memory-notice");
  notice.replaceChildren(words);
  notice.classList.add("memory-notice-warn");
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-store] textarea[name=text]")) count(event.target);
  if (event.target.matches("[data-form=entries] input")) countChosen(event.target.form);
});
document.addEventListener("htmx:beforeSwap", onBeforeSwap);
document.addEventListener("htmx:afterSettle", onAfterSettle);
document.addEventListener("htmx:afterRequest", sayFailed);
countAll();
