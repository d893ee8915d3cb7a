// Parts of the page that the server tells anew, whole, by their id.

export function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return template.content.firstElementChild;
}

// Puts the part in its place and returns it; null when it is not on this page or says the same already. What tells of something
// the person has just done stays as long as there is nothing else to say there.
export function replaceFragment({ target, html }) {
  const old = document.getElementById(target);
  const fresh = element(html);
  if (!old || old.isEqualNode(fresh) || ("stays" in old.dataset && !fresh.childElementCount)) return null;
  replacePart(old, fresh);
  document.dispatchEvent(new CustomEvent("fragment", { detail: { target } }));
  return fresh;
}

// Puts `fresh` where `old` stands; what the person has opened stays open, and the focus where it was.
export function replacePart(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const item = focused?.closest("[id]");
  const opened = [...old.querySelectorAll("[id] details[open]")].map((one) => one.closest("[id]").id);
  old.replaceWith(fresh);
  for (const id of opened) part(fresh, id)?.querySelector("details")?.setAttribute("open", "");
  window.htmx?.process(fresh);
  if (focused) refocus(fresh, part(fresh, item?.id), focused);
}

function part(fresh, id) {
  return fresh.id === id ? fresh : id && fresh.querySelector(`#${CSS.escape(id)}`);
}

// To the same control of the same thing, else to the thing; when that is gone, to what is said of it, or back to writing.
function refocus(fresh, place, focused) {
  const { thread, action } = focused.dataset;
  const control = thread ? `[data-thread="${thread}"]` : action ? `[data-action="${action}"]` : focused.localName;
  const same = place?.querySelector(control) ?? place;
  if (same && same !== fresh) return same.focus({ preventScroll: true });
  const said = fresh.querySelector("[tabindex='-1']");
  const box = matchMedia("(hover: hover)").matches ? document.getElementById("composer-input") : null;
  return (said ?? box)?.focus({ preventScroll: true });
}
