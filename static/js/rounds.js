// The rounds on the page: applies frames by run and offset, keeps the reader's place.

import { element, replaceFragment, replacePart } from "./fragments.js";
import { showTitle } from "./page.js";

const NEAR_END_PX = 96;

function isGoing(article) {
  return article.dataset.status === "running" || article.dataset.status === "queued";
}

export class Rounds {
  constructor(list, { isThread, sync }) {
    this.list = list;
    this.isThread = isThread;
    this.sync = sync;
    this.syncedAt = 0;
    this.announcer = document.getElementById("announcer");
    this.toEnd = document.querySelector("[data-action=to-end]");
    if (!isThread) return;
    this.followEnd();
    this.startAtEnd();
  }

  articles() {
    return [...this.list.querySelectorAll("article[data-run]")];
  }

  going() {
    return this.articles().filter(isGoing);
  }

  // What the server must know to tell what is missing.
  seen() {
    const articles = this.articles();
    const slots = articles.map((one) => Number(one.dataset.slot));
    return {
      action: "sync",
      first: slots.length ? Math.min(...slots) : 0,
      after: slots.length ? Math.max(...slots) : 0,
      open: articles.filter(isGoing).map((one) => one.dataset.run),
      shown: articles.filter((one) => !isGoing(one)).map((one) => one.dataset.run),
    };
  }

  // The page has lost its place; asks again, at most twice a second.
  rejoin() {
    const now = performance.now();
    if (now - this.syncedAt < 500) return;
    this.syncedAt = now;
    this.sync();
  }

  apply(frame) {
    const wasAtEnd = this.isAtEnd();
    if (frame.type === "run") this.place(frame);
    else if (frame.type === "fragment") this.replaceFragment(frame);
    else if (["delta", "block", "reasoning", "tool", "notes"].includes(frame.type)) this.grow(frame);
    if (wasAtEnd && frame.type !== "fragment") this.scrollToEnd();
  }

  place({ run, html }) {
    const fresh = element(html);
    const slot = Number(fresh.dataset.slot);
    const old = document.getElementById(run) || this.articles().find((one) => Number(one.dataset.slot) === slot);
    if (old?.isEqualNode(fresh)) return;
    const hadStatus = old?.dataset.run === run ? old.dataset.status : "";
    if (old) this.replace(old, fresh);
    else {
      const next = this.articles().find((one) => Number(one.dataset.slot) > slot);
      this.list.insertBefore(fresh, next || null);
    }
    window.htmx?.process(fresh);
    if (fresh.dataset.status !== hadStatus) this.announce(fresh);
    if (!old && isGoing(fresh)) this.scrollToEnd();
  }

  replace(old, fresh) {
    const hadFocus = old.contains(document.activeElement);
    const thinking = fresh.querySelector("[data-part=reasoning]");
    if (thinking && old.querySelector("[data-part=reasoning]")?.open) thinking.open = true;
    old.replaceWith(fresh);
    if (hadFocus) fresh.focus({ preventScroll: true });
  }

  grow(frame) {
    const article = document.getElementById(frame.run);
    if (!article) return this.rejoin();
    if (!isGoing(article)) return;
    if (frame.type === "tool" || frame.type === "notes") return this.tellPart(article, frame);
    const mark = frame.type === "reasoning" ? "reasoning" : "offset";
    const offset = Number(article.dataset[mark]);
    if (frame.to <= offset) return;
    if (frame.at !== offset) return this.rejoin();
    article.dataset[mark] = frame.to;
    if (frame.type === "reasoning") {
      article.querySelector("[data-part=reasoning]").hidden = false;
      article.querySelector("[data-part=reasoning-text]").insertAdjacentHTML("beforeend", frame.html);
      return;
    }
    const tail = article.querySelector("[data-part=tail]");
    if (frame.type === "delta") {
      if (frame.html) tail.insertAdjacentHTML("beforeend", frame.html);
    } else {
      tail.insertAdjacentHTML("beforebegin", frame.html);
      tail.innerHTML = frame.tail;
    }
  }

  // The tools that were used so far, and what has come of them in the notes.
  tellPart(article, { type, html }) {
    const fresh = element(html);
    const old = article.querySelector(`[data-part=${fresh.dataset.part}]`);
    if (!old || old.isEqualNode(fresh)) return;
    replacePart(old, fresh);
    if (type === "notes" && this.announcer) this.announcer.textContent = fresh.querySelector("li:last-child [data-part=words]")?.textContent ?? "";
  }

  replaceFragment(frame) {
    if (frame.target === "summary-line") return this.placeSummaryLine(element(frame.html));
    if (frame.target.startsWith("notice-")) return this.placeNotice(element(frame.html));
    const fresh = replaceFragment(frame);
    if (fresh && frame.target === "threads-recent") this.dropDoubles(fresh);
    if (fresh && frame.target === "thread-title") showTitle();
    return undefined;
  }

  // A line behind the last round that stands up to `data-after`; an earlier part of the conversation that is not shown keeps its own.
  placeNotice(fresh) {
    const old = document.getElementById(fresh.id);
    if (old) return old.isEqualNode(fresh) ? undefined : replacePart(old, fresh);
    const after = Number(fresh.dataset.after);
    const articles = this.articles();
    const last = articles.filter((one) => Number(one.dataset.slot) <= after).at(-1);
    if (!last) return undefined;
    const wasAtEnd = this.isAtEnd();
    let place = last.nextElementSibling;
    while (place?.matches("[data-notice]")) place = place.nextElementSibling;
    this.list.insertBefore(fresh, place);
    window.htmx?.process(fresh);
    if (wasAtEnd) this.scrollToEnd();
    return undefined;
  }

  // The line above the first round that the summary does not stand for. A part of the conversation that begins behind
  // the summary has no line, unless it begins right there.
  placeSummaryLine(fresh) {
    const old = document.getElementById(fresh.id);
    const upto = Number(fresh.dataset.upto);
    const articles = this.articles();
    const first = articles.find((one) => Number(one.dataset.slot) > upto);
    const isHere = !fresh.hidden && first && (first !== articles[0] || Number(first.dataset.slot) === upto + 1);
    if (isHere && old?.dataset.upto === fresh.dataset.upto) return;
    const hadFocus = old?.contains(document.activeElement);
    old?.remove();
    if (!isHere) return;
    this.list.insertBefore(fresh, first);
    window.htmx?.process(fresh);
    if (hadFocus) fresh.querySelector("a").focus({ preventScroll: true });
  }

  // A conversation that has moved up to the first page leaves the further ones.
  dropDoubles(recent) {
    const ids = new Set([...recent.querySelectorAll("[data-thread]")].map((one) => one.dataset.thread));
    for (const link of document.querySelectorAll("#threads-more [data-thread]")) {
      if (ids.has(link.dataset.thread)) link.closest("li").remove();
    }
  }

  announce(article) {
    const status = article.querySelector("[data-part=status]");
    if (this.announcer && status) this.announcer.textContent = status.textContent;
  }

  // The reader's place: new text moves the page only when its end was in view.

  isAtEnd() {
    const root = document.documentElement;
    return root.scrollHeight - root.clientHeight - window.scrollY < NEAR_END_PX;
  }

  scrollToEnd() {
    window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
  }

  startAtEnd() {
    const [entry] = performance.getEntriesByType("navigation");
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const isFound = new URLSearchParams(location.search).has("run");
    if (!isFound) {
      if (this.seekElsewhere()) return undefined;
      addEventListener("hashchange", () => this.seekElsewhere());
    }
    // The mark has done its work; a later reload must not go back to it.
    if (location.hash) setTimeout(() => history.replaceState(history.state, "", location.pathname));
    if (target && (isFound || target !== this.articles().at(-1))) return undefined;
    if (entry?.type === "reload" || entry?.type === "back_forward") return undefined;
    this.scrollToEnd();
    return undefined;
  }

  // A round of an earlier page: the server shows the part of the conversation in which it stands.
  seekElsewhere() {
    if (!location.hash.startsWith("#run_") || document.getElementById(location.hash.slice(1))) return false;
    location.replace(`${location.pathname}?run=${location.hash.slice(1)}${location.hash}`);
    return true;
  }

  followEnd() {
    if (!this.toEnd) return;
    this.toEnd.addEventListener("click", () => this.scrollToEnd());
    const show = () => {
      this.toEnd.hidden = this.isAtEnd();
    };
    addEventListener("scroll", show, { passive: true });
    addEventListener("resize", show, { passive: true });
  }
}
