// The memory panel and the drawer by keyboard. Every key presses a button that is on the page; forms do the rest.
// Keys and clicks take turns: each one belongs to the card that has the focus, or the button that is there, after the one before.

import { CARD, cards, currentCard, loadMore, moreLink, move } from "./memory_cards.js";
import { Turns } from "./turns.js";

const ITEM = "[data-candidate], [data-fact], [data-note-op]";
const COMMANDS = new Set(["j", "k", "u", "e", "x", "l", "b", "Enter"]);
const GOES_ON = new Set(["j", "x", "l", "b", "Enter"]); // the focus is on the next card then

let isTurn = false; // whether a click is one that waited
let moreRequest = null;

export const turns = new Turns({
  act: (action) => (action.key ? actKey(action) : actClick(action)),
  isReady: (action) => !waitsForMore(action),
});

function click(button) {
  isTurn = true;
  button?.click();
  isTurn = false;
}

function press(root, key) {
  const button = root?.querySelector(`button[data-key="${key}"]`);
  if (button?.getClientRects().length) click(button);
}

// Whether the card after the last one is still to come. It is asked for once; when it does not come, the key does without.
function waitsForMore(action) {
  const card = currentCard();
  if (!card || !GOES_ON.has(action.key) || cards().at(-1) !== card || !moreLink()) return false;
  if (!action.hasAsked) loadMore();
  action.hasAsked = true;
  return moreRequest !== null;
}

function isTyping(target) {
  return target.closest?.("input, textarea:not([readonly]), select, [contenteditable], [popover]") !== null;
}

// Whether the wording of a card is being opened: what is typed meanwhile belongs into it.
function isOpening() {
  return turns.actions.some((action) => action.key === "e" || action.name === "edit");
}

function isForUs(key, target) {
  if (["Enter", " "].includes(key) && target.closest?.("a[href], button, summary")) return false; // a click of its own
  if (turns.isBusy) return COMMANDS.has(key) || (isOpening() && (key.length === 1 || key === "Escape"));
  return ["j", "k", "u"].includes(key) || (COMMANDS.has(key) && currentCard() !== null);
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, repeat } = event;
  const box = target.closest?.("textarea[data-submits]");
  if (box && !box.readOnly) return onKeyInBox(event);
  if (isTyping(target) || (box && !box.closest(CARD))) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "?" && !isOpening()) return document.getElementById("memory-keys")?.togglePopover();
  if (!isForUs(key, target)) return;
  event.preventDefault();
  if (!repeat || (!turns.isBusy && ["j", "k"].includes(key))) turns.take({ key, typed: event.key });
}

// The wording of one memory: Enter keeps it, Shift and Enter break the line, Escape leaves it as it was.
function onKeyInBox(event) {
  if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey)) {
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) typeInto(event.target, event.key);
  }
}

function typeInto(box, typed) {
  // A click, so that the form knows its button.
  if (typed === "Enter") return box.form.querySelector("button[type=submit]").click();
  if (typed === "Escape") return box.form.querySelector("[data-action=cancel]")?.click();
  if (typed.length > 1) return;
  box.setRangeText(typed, box.selectionStart, box.selectionEnd, "end");
  box.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertText", data: typed }));
}

function actKey({ key, typed }) {
  const box = document.activeElement;
  if (box?.matches("textarea[data-submits]")) {
    if (box.closest(CARD)) typeInto(box, typed);
  } else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (key === "u") press(document.getElementById("memory-notice"), "u");
  else press(currentCard(), key);
}

// Clicks on the buttons of an item. Its answer may tell the item anew, so the button is looked for when its turn has come.

function isSame(button, { name, value, form }) {
  return button.dataset.action === name && (button.value ?? "") === value && (button.closest("form")?.dataset.form ?? "") === form;
}

function onClick(event) {
  const button = event.target.closest("[data-action]");
  const item = button?.closest(ITEM);
  if (isTurn || !turns.isBusy || !item?.closest("[data-memory]")) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.detail > 1) return; // the second half of a double click
  const form = button.closest("form");
  turns.take({
    item: item.id,
    name: button.dataset.action,
    value: button.value ?? "",
    form: form?.dataset.form ?? "",
    scope: form?.elements.scope?.value,
  });
}

function actClick(action) {
  const buttons = document.getElementById(action.item)?.querySelectorAll("[data-action]") ?? [];
  const button = [...buttons].find((one) => isSame(one, action));
  const scope = button?.closest("form")?.elements.scope;
  if (scope && action.scope) scope.value = action.scope;
  click(button);
}

function onBeforeSend(event) {
  const { elt, xhr } = event.detail;
  if (!elt.closest?.("[data-memory]")) return;
  if (!elt.matches("[data-action=more]")) return turns.hold(xhr);
  moreRequest = xhr;
  xhr.addEventListener("loadend", () => {
    moreRequest = null;
    turns.go();
  });
}

export function enableKeys() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick, true);
  document.addEventListener("htmx:beforeSend", onBeforeSend);
}
