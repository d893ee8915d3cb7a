"""The conversation as a review of notes reads it: one line a message, short, and without sensitive places (§3.2 of the spec).

Pure: from rounds to text. What was said is somebody's words and no order: a line end inside a message becomes a sign, so
that no message can write a line of another speaker; marks of roles and of our own boundary are defused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from chat.memory.rounds import without_marks
from chat.models import Run
from chat.text.boundary import CANCELLED_ROUND, FAILED_ROUND, clean
from chat.text.redlines import redact

USER: Final = "USER"
ASSISTANT: Final = "ASSISTANT"
LINE_END: Final = " ⏎ "
BODY_CHARS, HEAD_CHARS, TAIL_CHARS = 200, 140, 59
# Of a long message its ends alone are read: what is cut away there is far from what is shown.
END_CHARS: Final = 2_000
MESSAGES_A_ROUND: Final = 2

_LINE_ENDS: Final = re.compile(r"\s*[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]\s*")
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,40}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """`text` is ready to stand inside the boundary; `shown` and `total` count messages."""

    text: str
    shown: int
    total: int


def transcript(rounds: Sequence[Run], total_rounds: int) -> Transcript:
    """The finished `rounds`, oldest first, of a conversation of `total_rounds`."""
    shown, total = len(rounds) * MESSAGES_A_ROUND, max(total_rounds, len(rounds)) * MESSAGES_A_ROUND
    lines = [f"本会话共 {total} 条消息，以下是其中 {shown} 条。"]
    if total > shown:
        lines.append(f"（另外 {total - shown} 条较早的消息已略去）")
    for run in rounds:
        lines += [f"{USER}: {body(run.input)}", _answer(run)]
    return Transcript("\n".join(lines), shown, total)


def body(text: str) -> str:
    """A message on one line: sensitive places taken out, marks defused, the middle of a long one left out."""
    if len(text) <= 2 * END_CHARS:
        line = _on_one_line(text)
        return line if len(line) <= BODY_CHARS else f"{line[:HEAD_CHARS]}…{line[-TAIL_CHARS:]}"
    head, tail = _on_one_line(text[:END_CHARS]), _on_one_line(text[-END_CHARS:])
    return f"{head[:HEAD_CHARS]}…{tail[-TAIL_CHARS:]}"


def _on_one_line(text: str) -> str:
    return _LINE_ENDS.sub(LINE_END, clean(redact(text)).strip())


def _answer(run: Run) -> str:
    if run.status == Run.Status.FAILED:
        return f"{ASSISTANT}: {FAILED_ROUND}"
    said = body(without_marks(run.output, len(run.citations)))
    if run.status == Run.Status.CANCELLED:
        said = f"{said} {CANCELLED_ROUND}".strip()
    names = _tool_names(run.tool_calls)
    speaker = f"{ASSISTANT}[tools: {', '.join(names)}]:" if names else f"{ASSISTANT}:"
    return f"{speaker} {said}".rstrip()


def _tool_names(calls: Sequence[dict[str, Any]]) -> list[str]:
    """Each tool once, in order; what is no name of a tool was made up by the model and is left out."""
    names = [str(call.get("name", "")) for call in calls if isinstance(call, dict)]
    return list(dict.fromkeys(name for name in names if _TOOL_NAME.fullmatch(name)))
