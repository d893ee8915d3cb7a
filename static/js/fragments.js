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
  replacePart(old, fresh);
  document.dispatchEvent(new CustomEvent("fragment", { detail: { target } }));
  return fresh;
}

// Puts `fresh` where `old` stands; what the person has opened stays open, and the focus where it was.
export function replacePart(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const item = focused?.closest("[id]");
  const opened = [...old.querySelectorAll("[id] details[open]")].map((one) => one.closest("[id]").id);
  const { thread = "", action = "" } = focused?.dataset ?? {};
  old.replaceWith(fresh);
  for (const id of opened) fresh.querySelector(`#${CSS.escape(id)} details`)?.setAttribute("open", "");
  window.htmx?.process(fresh);
  if (!focused) return;
  const place = item && item !== old ? document.getElementById(item.id) : fresh;
  const control = thread ? `[data-thread="${thread}"]` : `[data-action="${action}"]`;
  ((thread || action) && place?.querySelector(control) || place)?.focus({ preventScroll: true });
}
