// The cards of what waits: which one has the focus, and where it goes.

export const CARD = "[data-candidate][tabindex], [data-note-op][tabindex]";

export function cards() {
  return [...document.querySelectorAll(`.pending-list :is(${CARD})`)].filter((card) => !card.hasAttribute("data-going") && card.getClientRects().length);
}

export function currentCard() {
  return document.activeElement?.closest?.(CARD) ?? null;
}

// One card can be reached by Tab; the others follow from it.
export function markCard(card) {
  for (const one of document.querySelectorAll(CARD)) one.tabIndex = one === card ? 0 : -1;
}

export function focusCard(card) {
  if (!card) return;
  markCard(card);
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

export function offerFirst() {
  const all = cards();
  if (all.length && !all.some((card) => card.tabIndex === 0)) all[0].tabIndex = 0;
}

export function move(step) {
  const all = cards();
  const card = currentCard();
  focusCard(card ? all[all.indexOf(card) + step] : all.find((one) => one.tabIndex === 0) ?? all[0]);
}

export function neighbour(card) {
  const all = cards();
  const at = all.indexOf(card);
  return all[at + 1] ?? all[at - 1] ?? null;
}

// The rest of a long list.

export function moreLink() {
  return document.querySelector("#pending-list .memory-more a");
}

export function loadMore() {
  moreLink()?.click();
}
