// Parts of the page that the server tells anew, whole, by their id.

export function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return template.content.firstElementChild;
}

// Puts the part in its place and returns it; null when it is not on this page or says the same already.
export function replaceFragment({ target, html }) {
  const old = document.getElementById(target);
  const fresh = element(html);
  if (!old || old.isEqualNode(fresh)) return null;
  const focused = old.contains(document.activeElement) ? document.activeElement.dataset.thread : "";
  old.replaceWith(fresh);
  window.htmx?.process(fresh);
  if (focused) fresh.querySelector(`[data-thread="${focused}"]`)?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("fragment", { detail: { target } }));
  return fresh;
}
