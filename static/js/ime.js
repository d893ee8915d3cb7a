// Enter and Escape belong to the input method while it composes, in every box of the page.

// Some browsers end the composition before they report the key that ended it; that key comes within this time.
const SAME_KEY_MS = 50;

export function guardComposition() {
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
}
