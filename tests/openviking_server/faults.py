"""Ways to misbehave. A fault holds for the requests whose "METHOD path" its `where` is found in, `times` times or always."""

import threading
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "delay",  # answers properly, `seconds` late
    "status",  # an error of `status` in the envelope, 503 by default; the request is not carried out
    "upstream",  # 401 because the server's own model refuses its key
    "html",  # 502 from a proxy in front
    "envelope",  # 200 and `body`, whatever that is, in place of the envelope
    "foreign",  # the hits of everybody, beside one's own
    "endless",  # a body that never ends
    "trickle",  # a proper answer, a byte every `seconds`
    "redirect",  # to `to`, another host
    "closed",  # the connection is closed before anything is read into it: not carried out
    "lost",  # carried out, and the connection closed before the answer
    "stale",  # answered, and the kept connection then closed without a word
    "task",  # commits are accepted, and their tasks fail
]


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    where: str = ""
    times: int | None = None
    seconds: float = 0.0
    status: int = 503
    body: Any = None
    to: str = ""


class Faults:
    """The faults in force: `add`, `clear`, and `taken`, which uses one up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: list[tuple[Fault, int | None]] = []

    def add(self, kind: Kind, where: str = "", **more: Any) -> None:
        """`faults.add("delay", "search/find", seconds=3)`; `times=1` for once."""
        fault = Fault(kind, where, **more)
        with self._lock:
            self._left.append((fault, fault.times))

    def clear(self) -> None:
        with self._lock:
            self._left.clear()

    def taken(self, method: str, path: str) -> Fault | None:
        """The first fault for a request, used up by one."""
        with self._lock:
            for at, (fault, left) in enumerate(self._left):
                if fault.where in f"{method} {path}":
                    if left is not None:
                        self._left[at : at + 1] = [(fault, left - 1)] if left > 1 else []
                    return fault
        return None
