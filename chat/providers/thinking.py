"""Takes `<think>…</think>` at the beginning of an answer apart from the answer; the tags may be split over pieces."""

OPEN = "<think>"
CLOSE = "</think>"


def _partial_end(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the beginning of `tag`."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-size:]):
            return size
    return 0


class ThinkSplitter:
    """Feeds on the pieces of an answer. Once `is_plain`, all that follows is answer and need not be fed."""

    __slots__ = ("_held", "_state", "is_plain")

    def __init__(self) -> None:
        self._state = "before"  # → "opened" → "inside" → "closed" → plain; line ends beside the tags are dropped
        self._held = ""  # what cannot be decided yet
        self.is_plain = False

    def feed(self, piece: str) -> tuple[str, str]:
        """Returns the (reasoning, answer) that can be told now."""
        text = self._held + piece
        self._held = ""
        if self._state == "before":
            start = text.lstrip()
            if not start.startswith(OPEN):
                if OPEN.startswith(start):
                    self._held = text
                    return "", ""
                self.is_plain = True
                return "", text
            self._state = "opened"
            text = start[len(OPEN) :]
        if self._state == "opened":
            text = text.lstrip("\r\n")
            self._state = "inside" if text else "opened"
        if self._state == "inside":
            reasoning, tag, text = text.partition(CLOSE)
            if not tag:
                size = _partial_end(reasoning, CLOSE)
                self._held = reasoning[len(reasoning) - size :]
                return reasoning[: len(reasoning) - size], ""
            self._state = "closed"
        elif self._state == "opened":
            return "", ""
        else:
            reasoning = ""
        text = text.lstrip("\r\n")
        self.is_plain = bool(text)
        return reasoning, text

    def finish(self) -> tuple[str, str]:
        """Returns what was still held, when the answer is over."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "inside" else ("", held)
