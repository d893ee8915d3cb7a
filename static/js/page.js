// Small things of every page of the chat: copying, panels, the rename box.

async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Plain HTTP in a school's network has no clipboard interface.
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "visually-hidden";
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
  return undefined;
}

function confirmCopied(button) {
  const label = button.querySelector("[data-label]");
  if (!label || !button.dataset.done) return;
  const words = label.textContent;
  label.textContent = button.dataset.done;
  button.dataset.done = words;
  setTimeout(() => {
    button.dataset.done = label.textContent;
    label.textContent = words;
  }, 1500);
}

async function copyAnswer(link) {
  const response = await fetch(link.href, { credentials: "same-origin" });
  if (!response.ok) return;
  await toClipboard(await response.text());
  confirmCopied(link);
}

async function copyCode(button) {
  const code = button.closest(".code")?.querySelector("code");
  if (!code) return;
  await toClipboard(code.textContent);
  confirmCopied(button);
}

function closePanel(panel) {
  const place = panel.parentElement;
  panel.remove();
  place.closest("article, aside")?.querySelector("[aria-expanded=true]")?.setAttribute("aria-expanded", "false");
  (place.closest("article, aside")?.querySelector("[data-opened]") ?? place).focus({ preventScroll: true });
}

function onClick(event) {
  const control = event.target.closest("[data-action]");
  if (!control) return;
  const action = control.dataset.action;
  if (action === "copy-answer") {
    event.preventDefault();
    copyAnswer(control);
  } else if (action === "copy-code") {
    copyCode(control);
  } else if (action === "close-panel") {
    closePanel(control.closest("[data-panel]"));
  }
}

// A link that opens a panel in place closes it when it is followed again.
function onBeforeRequest(event) {
  const link = event.detail.elt;
  const panel = event.detail.target?.querySelector?.(":scope > [data-panel]");
  if (!panel || !link.dataset.action) return;
  const wasOpenedHere = link.hasAttribute("data-opened");
  for (const one of event.detail.target.closest("article, aside")?.querySelectorAll("[data-opened]") ?? []) {
    one.removeAttribute("data-opened");
    one.setAttribute("aria-expanded", "false");
  }
  if (wasOpenedHere) {
    event.preventDefault();
    panel.remove();
  }
}

function onAfterSwap(event) {
  const link = event.detail.requestConfig?.elt;
  const panel = event.detail.target?.querySelector?.(":scope > [data-panel]");
  if (panel && link) {
    link.setAttribute("data-opened", "");
    link.setAttribute("aria-expanded", "true");
    for (const button of panel.querySelectorAll("[data-action=close-panel]")) button.hidden = false;
    panel.scrollIntoView({ block: "nearest" });
  }
  if (link?.dataset.action === "skip" && matchMedia("(hover: hover)").matches) document.getElementById("composer-input")?.focus({ preventScroll: true });
  if (link?.dataset.form === "rename") {
    showTitle();
    document.getElementById("thread-menu")?.hidePopover?.();
  }
}

function onKey(event) {
  if (event.key !== "Escape" || event.target.closest?.("[popover]")) return;
  const panels = document.querySelectorAll("[data-panel]");
  const panel = event.target.closest?.("[data-panel]") ?? panels[panels.length - 1];
  if (panel?.querySelector("[data-action=close-panel]:not([hidden])")) closePanel(panel);
}

// The tab's title follows the thread's.
export function showTitle() {
  const title = document.getElementById("thread-title").textContent.trim();
  document.title = document.title.replace(/^.*(?= · )/s, () => title);
}

export function enhancePage() {
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  document.addEventListener("htmx:beforeRequest", onBeforeRequest);
  const end = document.getElementById("delete-thread");
  end?.addEventListener("submit", () => localStorage.removeItem(`chat:draft:${end.dataset.draft}`));
  document.addEventListener("htmx:afterSwap", onAfterSwap);
  const menu = document.getElementById("thread-menu");
  menu?.addEventListener("toggle", (event) => {
    const box = menu.querySelector("input[name=title]");
    if (event.newState !== "open" || !box) return;
    box.value = document.getElementById("thread-title").textContent.trim();
    box.select();
  });
}
