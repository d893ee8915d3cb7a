"""A round as text: what of a finished run is shown to a model again (DESIGN §2, §4)."""

import re
from typing import Final

from chat.models import Run
from chat.text.boundary import ASSISTANT_MARK, CANCELLED_ROUND, FAILED_ROUND, USER_MARK, clean

_MARK: Final = re.compile(r"(?<![A-Za-z0-9_\])])[ ]?\[(\d{1,2})\](?![(\[])")  # of a source; not a[1], [text][1] or [1](link)


def without_marks(text: str, sources: int) -> str:
    """An answer without the numbers of the sources that it was given: in another turn the same numbers mean others."""
    if not sources:
        return text
    return _MARK.sub(lambda mark: "" if 1 <= int(mark[1]) <= sources else mark[0], text)


def round_text(run: Run) -> str:
    """Input and output, cleaned, with their speakers."""
    return told(clean(run.input), answer_text(run))


def told(question: str, answer: str) -> str:
    """A question and its answer with their speakers."""
    return f"{USER_MARK} {question}\n{ASSISTANT_MARK} {answer}"


def answer_text(run: Run) -> str:
    """The cleaned output; of a failed run only a placeholder, never an error or what arrived before it (seed 000 §2.2)."""
    if run.status == Run.Status.FAILED:
        return FAILED_ROUND
    output = clean(without_marks(run.output, len(run.citations)))
    if run.status == Run.Status.CANCELLED:
        return f"{output}\n{CANCELLED_ROUND}" if output.strip() else CANCELLED_ROUND
    return output
