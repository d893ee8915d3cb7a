"""The process that reads one file: bytes on standard input, the format and the limits as arguments, lines of JSON out.

Nothing that a file can do to a parser reaches further than here: the process has no rows, no keys and no files to write,
and may take so much memory and time. It says `["progress", done, in all]`, then `["piece", text, heading, page]` for each
and `["end", characters, pages, encoding]`, or `["error", code, found]`; without an end the file was too much for it.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import BinaryIO, Final

from chat.documents.base import DocumentError, Limits
from chat.documents.formats import READERS
from chat.documents.passages import passages

_BETWEEN_REPORTS_SECONDS: Final = 0.2


class _Reporter:
    """Sends lines to the parent; of progress only as much as somebody can see."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.last_at = float("-inf")

    def send(self, *values: object) -> None:
        self.out.write(json.dumps(values, ensure_ascii=False).encode() + b"\n")

    def progress(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done >= total or now - self.last_at >= _BETWEEN_REPORTS_SECONDS:
            self.last_at = now
            self.send("progress", done, total)
            self.out.flush()


def main() -> None:
    name, limits = sys.argv[1], Limits(**json.loads(sys.argv[2]))
    reporter = _Reporter(_private_output())
    sys.excepthook = _excepthook(reporter)
    hold(limits)
    try:
        read(name, sys.stdin.buffer.read(), limits, reporter)
    except DocumentError as error:
        reporter.send("error", error.code, error.found)
    reporter.out.flush()


def read(name: str, data: bytes, limits: Limits, reporter: _Reporter) -> None:
    content = READERS[name](data, limits, reporter.progress)
    characters = sum(len(block.text) for block in content.blocks)
    if characters > limits.characters:
        raise DocumentError("too_much_text")
    pieces = passages(content.blocks)
    if not pieces:
        raise DocumentError("empty")
    for piece in pieces:
        reporter.send("piece", piece.text, piece.heading, piece.page)
    reporter.send("end", characters, content.pages, content.encoding)


def hold(limits: Limits) -> None:
    """Keeps this process to its limits, as far as the system can (it cannot on Windows)."""
    try:
        import resource
    except ImportError:
        return
    seconds = int(limits.seconds) + 2
    wanted = {"RLIMIT_AS": limits.memory, "RLIMIT_CPU": seconds, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    for name, value in wanted.items():
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (OSError, ValueError):
            continue  # the parent's clock still holds


def _private_output() -> BinaryIO:
    """Standard output, for us alone: what a library prints goes where errors go."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


def _excepthook(reporter: _Reporter) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """Says what failed and where, without a word of the document."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace and trace.tb_next:
            trace = trace.tb_next
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""  # noqa: PTH119
        reporter.send("failed", f"{kind.__name__} at {place}")
        reporter.out.flush()

    return hook


if __name__ == "__main__":
    main()
