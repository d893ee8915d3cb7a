// Enter sends, and belongs to the input method while it composes. No module: it is loaded before the page's boxes are
// there, as modules come after them, on a slow machine seconds later. Until then a message goes out by form.

(() => {
  // Some browsers end the composition before they report the key that ended it; that key comes within this time.
  const SAME_KEY_MS = 50;
  let keyIsDown = false;
  let endedAt = -Infinity;

  addEventListener("keydown", (event) => {
    if (event.isComposing) {
      keyIsDown = true;
      event.stopImmediatePropagation();
      return;
    }
    const isLateKey = event.keyCode === 229 || performance.now() - endedAt < SAME_KEY_MS;
    endedAt = -Infinity;
    if (isLateKey && ["Enter", "Escape", "Process", "Unidentified"].includes(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  addEventListener("keyup", () => {
    keyIsDown = false;
    endedAt = -Infinity;
  }, true);

  addEventListener("compositionend", () => {
    // A key that was reported before the end has already been kept away from the page.
    endedAt = keyIsDown ? -Infinity : performance.now();
  }, true);

  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.defaultPrevented) return;
    if (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    const form = event.target.closest?.("#composer textarea")?.form;
    if (!form) return;
    event.preventDefault();
    if (!event.repeat) form.requestSubmit(form.querySelector("[data-action=send]"));
  });
})();
