"""Texts into vectors: OpenAI's `/embeddings`, which Ollama and most servers of one's own speak too."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from chat.providers.base import Endpoint, ProviderError, Request, StreamBroken
from chat.providers.failures import failure_of_object
from chat.providers.http import MAX_ATTEMPTS, Network, post_json, with_path

Role = Literal["query", "passage"]
Style = Literal["by_name", "prefix", "input_type", "none"]  # how the model is told the role of a text

TEXTS_AT_ONCE: Final = 64
DIMENSION_MOST: Final = 8_192


class EmbeddingUnusable(ProviderError):
    """The answer holds other vectors than were asked for: too few, of different lengths, or with numbers that are none."""

    code = "embedding_unusable"


class EmbeddingDimension(EmbeddingUnusable):
    """The vectors have another length than those that were made with this model before."""

    code = "embedding_dimension"


@dataclass(frozen=True, slots=True)
class Embedded:
    """A row for each text, of length 1. `input_tokens` None: the service did not report them."""

    vectors: NDArray[np.float32]
    input_tokens: int | None = None


async def embed(
    endpoint: Endpoint,
    texts: Sequence[str],
    role: Role = "passage",
    *,
    style: Style = "by_name",
    attempts: int = MAX_ATTEMPTS,
    network: Network | None = None,
) -> Embedded:
    """The vectors of texts that are not empty, asked for in batches. Raises a ProviderError."""
    parts: list[NDArray[np.float32]] = []
    tokens: int | None = 0
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = texts[start : start + TEXTS_AT_ONCE]
        payload = _payload(endpoint.model, some, role, style)
        request = Request(messages=[], purpose="embed")
        answer = await post_json(endpoint, _url(endpoint), payload, request, network or Network(), attempts=attempts)
        parts.append(_vectors(answer, len(some)))
        reported = _tokens(answer)
        tokens = tokens + reported if tokens is not None and reported is not None else None
    if len({part.shape[1] for part in parts}) > 1:
        raise EmbeddingUnusable
    return Embedded(np.concatenate(parts) if parts else np.zeros((0, 0), np.float32), tokens)


def _url(endpoint: Endpoint) -> str:
    base = endpoint.base_url.strip().rstrip("/")
    if endpoint.kind == "ollama":
        return with_path(base.removesuffix("/v1").removesuffix("/api"), "/v1/embeddings")
    return with_path(base, "/embeddings", default_path="/v1")


def _payload(model: str, texts: Sequence[str], role: Role, style: Style) -> dict[str, Any]:
    has_prefix = style == "prefix" or (style == "by_name" and "e5" in model.lower())
    payload: dict[str, Any] = {"model": model, "input": [f"{role}: {text}" for text in texts] if has_prefix else list(texts)}
    if style == "input_type":
        payload["input_type"] = role
    return payload


def _vectors(answer: object, count: int) -> NDArray[np.float32]:
    """The rows of an answer in the order of the texts, each made to length 1."""
    if isinstance(answer, dict) and answer.get("error"):
        raise failure_of_object(answer["error"])
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise StreamBroken
    places = [one.get("index", i) for i, one in enumerate(data)]
    if sorted(places, key=str) != sorted(range(count), key=str):
        raise EmbeddingUnusable
    rows = [one.get("embedding") for _, one in sorted(zip(places, data, strict=True), key=lambda both: both[0])]
    found: NDArray[np.float64] = np.zeros(0)
    with contextlib.suppress(TypeError, ValueError, OverflowError):  # refused below, without the cause, which may quote the answer
        found = np.array(rows, np.float64)
    if found.ndim != 2 or not 0 < found.shape[1] <= DIMENSION_MOST or not np.isfinite(found).all():
        raise EmbeddingUnusable
    lengths = np.sqrt((found * found).sum(axis=1, keepdims=True))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise EmbeddingUnusable
    return (found / lengths).astype(np.float32)


def _tokens(answer: object) -> int | None:
    usage = answer.get("usage") if isinstance(answer, dict) else None
    tokens = usage.get("prompt_tokens", usage.get("total_tokens")) if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) and 0 <= tokens < 10**9 else None
