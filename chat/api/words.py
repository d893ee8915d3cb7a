"""What refusals mean, in the active language. Pages have words of their own (chat/presentation.py)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

_WORDS: dict[str, Promise] = {
    # chat.runs.errors
    "thread_mismatch": _("There is no such thread for this caller and assistant."),
    "not_found": _("This does not exist."),
    "incognito_mismatch": _("The thread is not of this kind; leave the field out, or begin a new thread."),
    "thread_is_incognito": _("An incognito thread is not put into the archive; delete it instead."),
    "invalid_mode": _("The assistant has no such mode."),
    "input_empty": _("There is nothing to send."),
    "input_invalid": _("Holds characters that cannot be stored."),
    "input_too_long": _("Does not fit the model's context window. Shorten it."),
    "rate_limited": _("Too many runs in a minute. Wait as long as the header “Retry-After” says."),
    "replaces_mismatch": _("This run cannot be replaced: it is not the latest of its place in the thread, or is still going."),
    "idempotency_key_reused": _("This Idempotency-Key was used with another request."),
    # of the API
    "continue_not_ready": _("context.run_id: Continuing with the files of an earlier run is not available yet."),
    "continue_needs_stream": _("context.run_id: An earlier run can only be continued on the streaming path (/run/stream)."),
    "internal": _("Something went wrong inside the program. Its log says more."),
}
_NOT_ACCEPTED = _("The call was not accepted.")


def refusal_words(code: str) -> str:
    """Says why a call was refused."""
    return str(_WORDS.get(code, _NOT_ACCEPTED))
