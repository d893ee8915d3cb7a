"""Why a run is refused, before anything is stored."""


class RunRefused(Exception):
    """The message was not accepted."""

    code = "refused"
    status = 400  # of HTTP

    def __init__(self, field: str = "", **details: object) -> None:
        super().__init__(self.code)
        self.field = field  # the name of the argument that is wrong, "" when it is none
        self.details = details  # numbers for the message, never text of people


class ThreadMismatch(RunRefused):
    """The thread does not exist for this user and assistant."""

    code = "thread_mismatch"


class IncognitoMismatch(RunRefused):
    """The thread is incognito and the order says it is not, or the other way round: a thread never changes that."""

    code = "incognito_mismatch"


class AgentNotFound(RunRefused):
    """The assistant does not exist for this user."""

    code = "not_found"
    status = 404


class ModeNotFound(RunRefused):
    """The assistant has no such mode."""

    code = "invalid_mode"


class InputEmpty(RunRefused):
    """There is nothing to send."""

    code = "input_empty"


class InputInvalid(RunRefused):
    """The input holds characters that cannot be stored (NUL, lone surrogates)."""

    code = "input_invalid"


class InputTooLong(RunRefused):
    """The question alone does not fit the model's window."""

    code = "input_too_long"


class TooManyRuns(RunRefused):
    """More messages a minute than the limit allows."""

    code = "rate_limited"
    status = 429


class ReplacesMismatch(RunRefused):
    """The run to replace is not the latest of its place in this thread, or is still going."""

    code = "replaces_mismatch"


class KeyConflict(RunRefused):
    """The same key was used with another message."""

    code = "idempotency_key_reused"
    status = 409


class SignedOut(RunRefused):
    """The session behind the message has ended."""

    code = "signed_out"
    status = 401
