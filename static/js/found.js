// The words of a search, marked in the round to which it has led; the first of them comes into view.

const BLOCKS = "p, li, td, th, h1, h2, h3, h4, h5, h6, pre, dt, dd, blockquote, div";
const TOP_PART = 1 / 3; // of the window's height stands above the first word

// As the server folds (chat/text/fold.py), letter by letter, so that each folded letter knows where it stands.
function fold(text) {
  return [...text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)].map(({ 0: letter, index }) => ({
    folded: letter.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC"),
    start: index,
    end: index + letter.length,
  }));
}

function wordsOf(query) {
  const folded = fold(query).map((one) => one.folded).join("");
  return folded.split(/\s+/).filter(Boolean);
}

// The text of a part of the round with, for each of its UTF-16 units, the node and the place in it.
function textOf(part) {
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  const places = [];
  let text = "";
  let block = null;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("button")) continue;
    const own = node.parentElement.closest(BLOCKS);
    if (own !== block) {
      text += "\n";
      places.push(null);
      block = own;
    }
    for (const { folded, start, end } of fold(node.data)) {
      text += folded;
      for (let unit = 0; unit < folded.length; unit += 1) places.push({ node, start, end });
    }
  }
  return { text, places };
}

function rangesIn(part, words) {
  const { text, places } = textOf(part);
  return words.flatMap((word) => {
    const ranges = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const first = places[at];
      const last = places[at + word.length - 1];
      const range = new Range();
      range.setStart(first.node, first.start);
      range.setEnd(last.node, last.end);
      ranges.push(range);
    }
    return ranges;
  });
}

function show(range) {
  const [entry] = performance.getEntriesByType("navigation");
  if (entry?.type === "reload" || entry?.type === "back_forward") return;
  const { top, bottom } = range.getBoundingClientRect();
  const isHidden = top < 0 || bottom > window.innerHeight * (1 - TOP_PART);
  if (isHidden) window.scrollBy({ top: top - window.innerHeight * TOP_PART, behavior: "instant" });
}

export function markFound() {
  const round = document.querySelector(".run-found");
  const words = wordsOf(new URLSearchParams(location.search).get("q") ?? "");
  if (!round || !words.length) return;
  const parts = [...round.querySelectorAll("[data-part=input], [data-part=output]")];
  const ranges = parts.flatMap((part) => rangesIn(part, words));
  if (!ranges.length) return;
  ranges.sort((one, other) => one.compareBoundaryPoints(Range.START_TO_START, other));
  if (window.Highlight) CSS.highlights.set("found", new Highlight(...ranges));
  // The browser goes to the round by itself until the page is complete.
  if (document.readyState === "complete") show(ranges[0]);
  else addEventListener("load", () => requestAnimationFrame(() => show(ranges[0])), { once: true });
}
