"""Lines of a body that arrives in pieces, as the event stream and NDJSON formats need them."""

MAX_LINE_BYTES = 4 * 1024 * 1024


class LineTooLong(Exception):
    """A line exceeds MAX_LINE_BYTES."""


class LineSplitter:
    """Cuts bytes at LF, CRLF or CR. Works on bytes, so a character split over two pieces stays whole in its line.

    A line is handed out at its CR already; an LF that follows in the next piece belongs to it.
    """

    __slots__ = ("_after_cr", "_size", "_tail")

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # pieces of the line that is not closed yet
        self._size = 0
        self._after_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the lines that `data` closes, without their ends; raises LineTooLong."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if not data:
            return []
        self._after_cr = data.endswith(b"\r")
        lines = data.splitlines()  # of bytes: splits at LF, CR and CRLF only
        rest = b"" if self._after_cr or data.endswith(b"\n") else lines.pop()
        if lines and self._tail:
            self._tail.append(lines[0])
            lines[0] = b"".join(self._tail)
            self._tail.clear()
            self._size = 0
        if rest:
            self._tail.append(rest)
            self._size += len(rest)
        if self._size > MAX_LINE_BYTES or any(len(line) > MAX_LINE_BYTES for line in lines):
            raise LineTooLong
        return lines

    def finish(self) -> bytes:
        """Returns the last line when nothing closed it, else b""."""
        rest = b"".join(self._tail)
        self._tail.clear()
        self._size = 0
        return rest
