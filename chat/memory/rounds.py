"""A round as text: what of a finished run is shown to a model again (DESIGN §2, §4)."""

from chat.models import Run
from chat.text.boundary import ASSISTANT_MARK, CANCELLED_ROUND, FAILED_ROUND, USER_MARK, clean


def round_text(run: Run) -> str:
    """Input and output, cleaned, with their speakers."""
    return f"{USER_MARK} {clean(run.input)}\n{ASSISTANT_MARK} {answer_text(run)}"


def answer_text(run: Run) -> str:
    """The cleaned output; of a failed run only a placeholder, never an error or what arrived before it (seed 000 §2.2)."""
    if run.status == Run.Status.FAILED:
        return FAILED_ROUND
    output = clean(run.output)
    if run.status == Run.Status.CANCELLED:
        return f"{output}\n{CANCELLED_ROUND}" if output.strip() else CANCELLED_ROUND
    return output
