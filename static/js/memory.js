// The memory panel and the drawer made live: the focus goes on with the work, and every answer is told in the notice.

import { CARD, cards, currentCard, focusCard, loadMore, markCard, moreLink, neighbour, offerFirst } from "./memory_cards.js";
import { enableKeys, turns } from "./memory_keys.js";

const PREFETCH_CARDS = 8;
const ITEM = "[data-candidate], [data-fact], [data-note-op]";
const REFUSED = "[aria-invalid=true], [data-refused]";

// What htmx does with a card: the focus goes on at once, the answer is told in the notice.

function onBeforeRequest(event) {
  const form = event.detail.elt;
  const box = form.closest?.("[data-form=edit]")?.querySelector("textarea");
  if (box) box.readOnly = true; // what would be typed into it now would be lost
  const card = form.closest?.(CARD);
  if (!card || event.detail.requestConfig.verb !== "post") return;
  form.setAttribute("data-going", "");
  card.setAttribute("aria-busy", "true");
  if (card.contains(document.activeElement)) {
    const next = neighbour(card);
    card.setAttribute("data-going", "");
    card.dataset.hadFocus = "";
    if (form.dataset.form === "edit") leaving = { card: card.id, next: next?.id ?? "" }; // until it is known to be kept
    else if (next) focusCard(next);
  }
}

function onBeforeSwap(event) {
  // What does not exist any more is said in words, too.
  if (event.detail.xhr.status === 404 && event.detail.elt.closest("[data-memory]")) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
}

let leaving = null; // the card whose wording is being sent, and the one after it
let wanted = null; // what had the focus before a list was told anew
let isDrawerLate = false; // whether something was told that the drawer does not show yet

function remember(event) {
  const target = event.detail.target;
  if (!target?.matches?.("#panel, #memory-drawer, #confirmed") || !target.contains(document.activeElement)) return;
  const item = document.activeElement.closest(ITEM);
  const going = target.querySelector("[data-had-focus]");
  const all = cards();
  wanted = {
    root: target.id,
    id: item?.id ?? "",
    action: item === document.activeElement ? "" : document.activeElement.dataset.action ?? "",
    at: Math.max(0, all.indexOf(going ?? item)),
  };
}

function restore() {
  if (!wanted) return;
  const { root, id, action, at } = wanted;
  wanted = null;
  const place = document.getElementById(root);
  if (!place || (document.activeElement && document.activeElement !== document.body)) return;
  const error = place.querySelector(REFUSED);
  if (error) return error.focus();
  const item = id ? document.getElementById(id) : null;
  if (item?.matches(CARD)) return focusCard(item);
  if (item) return (item.querySelector(`[data-action="${action}"]`) ?? item).focus({ preventScroll: true });
  turns.forget(); // the card that they were pressed for is not here any more
  const all = cards().filter((card) => place.contains(card));
  if (root !== "confirmed" && all.length) return focusCard(all[Math.min(at, all.length - 1)]);
  place.querySelector(root === "confirmed" ? "#confirmed-title" : "#pending-title")?.focus({ preventScroll: true });
  return undefined;
}

function onAfterSettle(event) {
  restore();
  const elt = event.detail.elt;
  const box = elt?.querySelector?.("textarea[data-submits]");
  const refused = event.detail.requestConfig?.verb === "post" && elt?.querySelector?.(REFUSED);
  if (refused) {
    turns.forget(); // it needs another wording first
    refused.focus();
  } else if (elt?.matches?.(ITEM) && box) {
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  } else if (elt?.matches?.(CARD) && event.detail.requestConfig?.verb === "get") {
    focusCard(elt);
  } else if (elt?.matches?.("[data-fact]") && document.activeElement === document.body) {
    elt.querySelector("[data-action=edit]")?.focus({ preventScroll: true });
  }
  settleList();
}

function settleList() {
  const list = document.getElementById("pending-list");
  // A card that was put off goes to the end, or comes with the rest of the list.
  for (const card of list?.querySelectorAll("[data-later]:has(~ [data-candidate]:not([data-later]))") ?? []) {
    if (moreLink()) card.remove();
    else list.append(card);
  }
  if (moreLink() && cards().length < PREFETCH_CARDS) loadMore();
  if (leaving && !document.getElementById(leaving.card)) {
    const next = document.getElementById(leaving.next);
    if (document.activeElement === document.body) next ? focusCard(next) : document.getElementById("pending-title")?.focus();
    leaving = null;
  }
  offerFirst();
  enhance();
  compareCounts();
}

function onAfterRequest(event) {
  const form = event.detail.elt;
  form.removeAttribute?.("data-going");
  const box = form.closest?.("[data-form=edit]")?.querySelector("textarea");
  if (box) box.readOnly = false;
  const card = form.closest?.(CARD);
  card?.removeAttribute("aria-busy");
  card?.removeAttribute("data-going");
  card?.removeAttribute("data-had-focus");
  if (event.detail.successful || event.detail.xhr.status === 404) return;
  const root = form.closest?.("[data-memory]");
  if (root) turns.forget();
  card?.focus();
  sayFailed(root);
}

// No answer, or none that can be used: the page still says what happened.
function sayFailed(root) {
  const place = root?.querySelector(".memory-live");
  const notice = place?.querySelector("#memory-notice");
  if (!notice) return;
  const words = document.createElement("p");
  words.className = "memory-notice-words";
  words.textContent = place.dataset.failed;
  notice.replaceChildren(words);
  notice.classList.add("memory-notice-warn");
}

// The badge knows more than the list: say so, and leave the list as it is.
function compareCounts() {
  const news = document.getElementById("memory-news");
  const badge = document.getElementById("memory-badge");
  const head = document.getElementById("pending-head");
  if (news && badge && head) news.hidden = badge.dataset.count === head.dataset.count;
}

// Not while keys wait, which belong to the cards that are there.
function refreshDrawer() {
  if (turns.isBusy) return;
  isDrawerLate = false;
  const drawer = document.getElementById("drawer");
  const body = document.getElementById("memory-drawer");
  const badge = document.getElementById("memory-badge");
  const head = body?.querySelector("#pending-head");
  if (!drawer?.open || !head || head.dataset.count === badge?.dataset.count) return;
  if (body.querySelector("[data-form=edit]")) return; // nobody's sentence is taken away
  window.htmx?.ajax("GET", "/memory/drawer/", { source: "#memory-drawer", target: "#memory-drawer", swap: "outerHTML" });
}

function enhance() {
  for (const button of document.querySelectorAll("[data-action=select-all]")) button.hidden = false;
}

function onClick(event) {
  if (event.target.closest("[data-action=select-all]")) {
    const boxes = [...document.querySelectorAll("#pending-list input[name=id]")];
    const areAll = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !areAll;
  }
}

turns.onIdle = () => {
  if (isDrawerLate) refreshDrawer();
};
enableKeys();
document.addEventListener("click", onClick);
document.addEventListener("focusin", (event) => {
  const card = event.target.closest?.(CARD);
  if (card) markCard(card);
});
document.addEventListener("htmx:beforeRequest", onBeforeRequest);
document.addEventListener("htmx:beforeSwap", (event) => {
  onBeforeSwap(event);
  remember(event);
});
document.addEventListener("htmx:afterSettle", onAfterSettle);
document.addEventListener("htmx:afterRequest", onAfterRequest);
document.addEventListener("fragment", () => {
  isDrawerLate = true;
  compareCounts();
  refreshDrawer();
});
document.addEventListener("keydown", (event) => {
  const drawer = document.getElementById("drawer");
  if (event.key === "Escape" && !event.defaultPrevented && drawer?.open && drawer.contains(event.target)) {
    drawer.open = false;
    drawer.querySelector("summary").focus();
  }
});
offerFirst();
enhance();
