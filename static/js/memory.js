// The memory panel and the drawer by keyboard. Every key presses a button that is on the page; forms do the rest.

const CARD = "[data-candidate][tabindex]";
const PREFETCH_CARDS = 8;

function cards() {
  return [...document.querySelectorAll(`.pending-list ${CARD}`)].filter((card) => !card.hasAttribute("data-going") && card.getClientRects().length);
}

function currentCard() {
  return document.activeElement?.closest?.(CARD) ?? null;
}

function focusCard(card) {
  if (!card) return;
  for (const one of document.querySelectorAll(CARD)) one.tabIndex = one === card ? 0 : -1;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

// One card can be reached by Tab; the others follow from it.
function offerFirst() {
  const all = cards();
  if (all.length && !all.some((card) => card.tabIndex === 0)) all[0].tabIndex = 0;
}

function move(step) {
  const all = cards();
  const card = currentCard();
  if (!card) return focusCard(all.find((one) => one.tabIndex === 0) ?? all[0]);
  const next = all[all.indexOf(card) + step];
  if (next) return focusCard(next);
  if (step > 0) loadMore();
  return undefined;
}

function neighbour(card) {
  const all = cards();
  const at = all.indexOf(card);
  return all[at + 1] ?? all[at - 1] ?? null;
}

function loadMore() {
  document.querySelector("#pending-list .memory-more a")?.click();
}

function press(root, key) {
  const button = root?.querySelector(`button[data-key="${key}"]`);
  if (!button || button.form?.hasAttribute("data-going")) return false;
  button.click();
  return true;
}

function isTyping(event) {
  return event.target.closest?.("input, textarea, select, [contenteditable], [popover]") !== null;
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches?.("textarea[data-submits]")) return onKeyInBox(event);
  if (isTyping(event)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const card = currentCard();
  if (key === "j" || key === "k") {
    event.preventDefault();
    move(key === "j" ? 1 : -1);
  } else if (key === "?") {
    document.getElementById("memory-keys")?.togglePopover();
  } else if (key === "u") {
    if (!event.repeat) press(document.getElementById("memory-notice"), "u");
  } else if (card && !event.repeat && (key !== "Enter" || event.target === card)) {
    if (press(card, key)) event.preventDefault();
  }
}

// The wording of one memory: Enter keeps it, Shift and Enter break the line, Escape leaves it as it was.
function onKeyInBox(event) {
  if (event.key === "Escape") {
    event.stopPropagation();
    event.target.form.querySelector("[data-action=cancel]")?.click();
  } else if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    // A click, so that the form knows its button.
    if (!event.repeat) event.target.form.querySelector("button[type=submit]").click();
  }
}

// What htmx does with a card: the focus goes on at once, the answer is told in the notice.

function onBeforeRequest(event) {
  const form = event.detail.elt;
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

function remember(event) {
  const target = event.detail.target;
  if (!target?.matches?.("#panel, #memory-drawer, #confirmed") || !target.contains(document.activeElement)) return;
  const item = document.activeElement.closest("[data-candidate], [data-fact]");
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
  const error = place.querySelector("[aria-invalid=true]");
  if (error) return error.focus();
  const item = id && document.getElementById(id);
  if (item?.matches(CARD)) return focusCard(item);
  if (item) return (item.querySelector(`[data-action="${action}"]`) ?? item).focus({ preventScroll: true });
  const all = cards().filter((card) => place.contains(card));
  if (root !== "confirmed" && all.length) return focusCard(all[Math.min(at, all.length - 1)]);
  place.querySelector(root === "confirmed" ? "#confirmed-title" : "#pending-title")?.focus({ preventScroll: true });
  return undefined;
}

function onAfterSettle(event) {
  restore();
  const elt = event.detail.elt;
  const box = elt?.querySelector?.("textarea[data-submits]");
  if (elt?.matches?.("[data-candidate], [data-fact]") && box) {
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
    if (list.querySelector(".memory-more")) card.remove();
    else list.append(card);
  }
  if (list?.querySelector(".memory-more") && cards().length < PREFETCH_CARDS) loadMore();
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
  const card = form.closest?.(CARD);
  card?.removeAttribute("aria-busy");
  card?.removeAttribute("data-going");
  if (event.detail.successful || event.detail.xhr.status === 404) return;
  card?.focus();
  sayFailed(form.closest?.("[data-memory]"));
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

function refreshDrawer() {
  const drawer = document.getElementById("drawer");
  const body = document.getElementById("memory-drawer");
  const badge = document.getElementById("memory-badge");
  const head = body?.querySelector("#pending-head");
  if (!drawer?.open || !head || head.dataset.count === badge?.dataset.count) return;
  if (body.querySelector("[data-form=edit]")) return; // nobody's sentence is taken away
  window.htmx?.ajax("GET", "/memory/drawer/", { target: "#memory-drawer", swap: "outerHTML" });
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

document.addEventListener("keydown", onKey);
document.addEventListener("click", onClick);
document.addEventListener("focusin", (event) => {
  const card = event.target.closest?.(CARD);
  if (card) for (const one of document.querySelectorAll(CARD)) one.tabIndex = one === card ? 0 : -1;
});
document.addEventListener("htmx:beforeRequest", onBeforeRequest);
document.addEventListener("htmx:beforeSwap", (event) => {
  onBeforeSwap(event);
  remember(event);
});
document.addEventListener("htmx:afterSettle", onAfterSettle);
document.addEventListener("htmx:afterRequest", onAfterRequest);
document.addEventListener("fragment", () => {
  compareCounts();
  refreshDrawer();
});
document.addEventListener("keydown", (event) => {
  const drawer = document.getElementById("drawer");
  if (event.key === "Escape" && drawer?.open && drawer.contains(event.target)) {
    drawer.open = false;
    drawer.querySelector("summary").focus();
  }
});
offerFirst();
enhance();
