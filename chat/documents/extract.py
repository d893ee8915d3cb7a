"""Reading a file in a process of its own, which may take its time and its memory and no more."""

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Final

from chat.documents.base import FORMATS, DocumentError, Extracted, Limits, Piece, Progress
from chat.documents.sniff import check

_ROOT: Final = Path(__file__).resolve().parents[2]
# Of our own environment the child gets what finds libraries and nothing that could be a key.
_ENVIRONMENT: Final = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP")
# A line is a passage or a word on progress; longer ones are not of our child's making.
_LINE_BYTES: Final = 64 * 1024

log = logging.getLogger(__name__)


def extract(name: str, data: bytes, limits: Limits = Limits(), progress: Progress | None = None) -> Extracted:  # noqa: B008
    """The passages of a file called `name`; raises DocumentError.

    `progress` is called from here while the file is read; what it raises ends the reading and comes through.
    """
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if extension not in FORMATS:
        raise DocumentError("unsupported")
    if len(data) > limits.size:
        raise DocumentError("too_large")
    if not data.strip(b"\x00 \t\r\n"):
        raise DocumentError("empty")
    check(extension, data)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return _read(extension, file, limits, progress or _nobody)


def _nobody(done: int, total: int) -> None:
    """Progress that nobody wants."""


def _read(extension: str, file: IO[bytes], limits: Limits, progress: Progress) -> Extracted:
    command = [sys.executable, "-m", "chat.documents.child", extension, json.dumps(asdict(limits))]
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    child = subprocess.Popen(  # noqa: S603 (our own module, arguments of our own)
        command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=_ROOT, env=environment
    )
    is_over = threading.Event()
    clock = threading.Timer(limits.seconds, _end(child, is_over))
    clock.daemon = True
    clock.start()
    try:
        extracted = _listen(child, progress)
    finally:
        clock.cancel()
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()
    if extracted is None:
        log.warning("Reading a %s file ended without a result.", extension)
        raise DocumentError("too_slow" if is_over.is_set() else "broken")
    return extracted


def _end(child: "subprocess.Popen[bytes]", is_over: threading.Event) -> Callable[[], None]:
    def end() -> None:
        is_over.set()
        child.kill()

    return end


def _listen(child: "subprocess.Popen[bytes]", progress: Progress) -> Extracted | None:
    """What the child has read, None when it ended without an end; raises what it found wrong with the file."""
    pieces: list[Piece] = []
    while child.stdout and (line := child.stdout.readline(_LINE_BYTES)).endswith(b"\n"):
        try:
            kind, *values = json.loads(line)
        except ValueError:
            return None
        if kind == "piece":
            pieces.append(Piece(*values))
        elif kind == "progress":
            progress(*values)
        elif kind == "end":
            return Extracted(pieces, *values)
        elif kind == "error":
            raise DocumentError(*values)
        else:
            log.warning("A file could not be read: %s", values)
    return None
