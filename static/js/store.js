// What the browser keeps for the page. A browser that keeps nothing, or holds something odd, must not stop the page.

export function recall(area, name) {
  try {
    return JSON.parse(window[area].getItem(name) ?? "null");
  } catch {
    return null;
  }
}

export function keep(area, name, value) {
  try {
    window[area].setItem(name, JSON.stringify(value));
  } catch {
    // Full, or forbidden: the text is still in the box.
  }
}

export function forget(area, name) {
  try {
    window[area].removeItem(name);
  } catch {
    // Nothing was kept.
  }
}
