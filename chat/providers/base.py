"""The contract of a model service (DESIGN §2, §4, §8)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Purpose = Literal["answer", "title", "summary", "extraction", "review", "embed"]
Message = dict[str, Any]  # of the OpenAI chat shape: role, content, and for tools tool_calls / tool_call_id


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one service. `key_env` names the environment variable that holds the key; "" sends none."""

    kind: str
    base_url: str = ""
    key_env: str = ""
    model: str = ""
    is_local: bool = False
    has_usage: bool = True
    context_tokens: int | None = None  # the agent's window; Ollama cuts prompts at a small default when it is not told
    connect_timeout_seconds: float = 5
    read_timeout_seconds: float = 60


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model. `run_id` and `thread_id` go into headers, `max_tokens` limits the reply."""

    messages: list[Message]
    purpose: Purpose = "answer"
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    run_id: str = ""
    thread_id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the service reported them."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call of the model; `arguments` is the JSON text as the model wrote it, maybe broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Delta:
    """What one piece of a stream brings. Tool calls come whole, in the last pieces. `finish` is stop, length or tool_calls."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    finish: str = ""


@dataclass(slots=True)
class Answer:
    """A collected stream."""

    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    finish: str = ""


class ProviderError(Exception):
    """The model service could not answer."""

    code = "provider_error"
    is_retryable = False  # whether the same request may succeed later

    def __init__(self, *, status: int | None = None, retry_after_seconds: float | None = None) -> None:
        # Nothing of the answer's body or headers is kept: it may hold keys or people's text.
        super().__init__(f"{self.code}{f' (HTTP {status})' if status else ''}")
        self.status = status
        self.retry_after_seconds = retry_after_seconds


class ProviderUnreachable(ProviderError):
    """No connection to the model service."""

    code = "provider_unreachable"
    is_retryable = True


class ProviderTimeout(ProviderError):
    """The model service did not answer in time, or fell silent in mid-answer."""

    code = "provider_timeout"
    is_retryable = True


class ProviderAuthError(ProviderError):
    """The model service refused the key (401, 403), or the variable that holds it is not set."""

    code = "provider_auth"


class ProviderKeyMissing(ProviderAuthError):
    """The environment variable that should hold the key is not set, or holds no usable key."""

    code = "provider_key_missing"


class ProviderRateLimited(ProviderError):
    """The model service asks to wait (429)."""

    code = "provider_rate_limited"
    is_retryable = True


class ProviderOverloaded(ProviderError):
    """The model service is in trouble (5xx, 408)."""

    code = "provider_overloaded"
    is_retryable = True


class ProviderRejected(ProviderError):
    """The model service did not accept the request (other 4xx)."""

    code = "provider_rejected"


class ModelNotFound(ProviderRejected):
    """The model service does not have this model (404)."""

    code = "model_not_found"


class ContextTooLong(ProviderRejected):
    """The request does not fit the model's context window."""

    code = "context_too_long"


class StreamBroken(ProviderError):
    """The answer ended early, or was not in the expected format."""

    code = "stream_broken"
    is_retryable = True


class EmptyAnswer(ProviderError):
    """The model service answered with nothing."""

    code = "empty_answer"
    is_retryable = True


# No service asks money for a request that it did not take.
UNPAID = (ProviderUnreachable, ProviderAuthError, ProviderRateLimited, ProviderRejected)


class Provider(Protocol):
    """A kind of model service.

    `stream` yields at least one Delta with text or tool calls, or raises a ProviderError: EmptyAnswer when the stream
    ends properly with neither. Closing the iterator closes the connection.
    """

    def stream(self, endpoint: Endpoint, request: Request) -> AsyncGenerator[Delta, None]: ...


MOST_CHARS = 400_000  # of a whole answer; a model in a loop would fill the memory


async def complete(provider: Provider, endpoint: Endpoint, request: Request, answer: Answer | None = None) -> Answer:
    """Collects a whole answer. A caller that gives `answer` has what arrived, and what it cost, also when the call fails.

    An answer of more than MOST_CHARS is broken off with StreamBroken.
    """
    answer = answer or Answer()
    texts: list[str] = []
    reasonings: list[str] = []
    chars = 0
    try:
        async with aclosing(provider.stream(endpoint, request)) as stream:
            async for delta in stream:
                texts.append(delta.text)
                reasonings.append(delta.reasoning)
                answer.tool_calls.extend(delta.tool_calls)
                answer.usage = delta.usage or answer.usage
                answer.finish = delta.finish or answer.finish
                chars += len(delta.text) + len(delta.reasoning)
                if chars > MOST_CHARS:
                    raise StreamBroken
    finally:
        answer.text, answer.reasoning = "".join(texts), "".join(reasonings)
    return answer
