// The search by keyboard: "/" or Ctrl-K goes to the box in the sidebar, Escape goes back to where one was. The arrows go
// from the page's box through what was found and back.

const BOX = "[data-search-box]";
const FOUND = ".found-title a, .found-place, .found-rest a, .found-more a";

function isTyping(event) {
  const box = event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  if (!box) return false;
  // Nothing is being typed in an empty box, but "/" may be about to be.
  return event.key === "/" || Boolean(box.value ?? box.textContent);
}

function isCall(event) {
  if (event.isComposing || event.defaultPrevented || event.altKey || event.shiftKey && event.key !== "/") return false;
  const hasControl = event.ctrlKey || event.metaKey;
  return hasControl ? event.key.toLowerCase() === "k" : event.key === "/";
}

export function enhanceSearch() {
  const box = document.querySelector(BOX);
  if (!box) return;
  const sheet = box.closest("[popover]");
  let cameFrom = null;

  function open() {
    if (document.activeElement !== box) cameFrom = document.activeElement;
    if (!box.checkVisibility()) sheet?.showPopover();
    box.focus();
    box.select();
  }

  function close() {
    box.value = box.defaultValue;
    if (sheet?.matches(":popover-open")) sheet.hidePopover();
    if (cameFrom?.isConnected && cameFrom !== document.body) cameFrom.focus({ preventScroll: true });
    else box.blur();
    cameFrom = null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.target === box && event.key === "Escape" && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (isCall(event) && event.target !== box && !isTyping(event)) {
      event.preventDefault();
      open();
    }
  });
  // What was searched stands in the address; going back in the history shows it again.
  addEventListener("pageshow", () => {
    box.value = box.defaultValue;
  });
}

export function enhanceFound() {
  const box = document.getElementById("search-q");
  if (!box) return;
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...document.querySelectorAll(FOUND)];
    const at = links.indexOf(event.target);
    const isHere = event.target === box || at >= 0;
    if (!isHere || event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const next = step ? (links[at + step] ?? (at + step < 0 ? box : null)) : null;
    if (next && next !== event.target) {
      event.preventDefault();
      next.focus();
    } else if (at >= 0 && event.key === "Escape") {
      box.focus();
      box.select();
    }
  });
  // Whoever has searched from the sidebar goes on here; a phone's keyboard would cover what was found.
  const [entry] = performance.getEntriesByType("navigation");
  const isNew = entry?.type === "navigate" && !location.hash && matchMedia("(hover: hover)").matches;
  if (isNew && document.activeElement === document.body) box.focus({ preventScroll: true });
}
