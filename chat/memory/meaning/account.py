"""Each call to an embedder is a MemoryOp, as all of memory's own calls are."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.models import MemoryOp, Owner, Provider
from chat.text.tokens import count_tokens


@dataclass(slots=True)
class Usage:
    """Tokens of a call; `is_estimate` when the service did not report them."""

    tokens: int = 0
    is_estimate: bool = False


def usage_of(texts: Sequence[str], reported: int | None) -> Usage:
    if reported is not None:
        return Usage(reported)
    return Usage(sum(count_tokens(text) for text in texts), is_estimate=True)


@dataclass(slots=True)
class Account:
    """One call, from `open` to `close`. Its row is there before the call, so that a killed worker leaves a trace."""

    service: Provider
    op: MemoryOp
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, tenant_id: str, user_id: int | None, service: Provider, model: str) -> "Account":
        kind = MemoryOp.Kind.EMBEDDING
        return cls(service, MemoryOp.objects.create(tenant_id=tenant_id, user_id=user_id, kind=kind, provider=service, model=model))

    def close(self, error_code: str, usage: Usage) -> None:
        """`error_code` "" for a call that brought what was asked for. A row that was erased meanwhile stays erased."""
        MemoryOp.objects.filter(pk=self.op.pk).update(
            outcome=MemoryOp.Outcome.FAILED if error_code else MemoryOp.Outcome.DONE,
            error_code=error_code,
            duration_ms=round((time.monotonic() - self.started) * 1000),
            input_tokens=usage.tokens,
            is_estimate=usage.is_estimate,
            cost=self.service.cost(usage.tokens, 0),
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question's call has come to, before there was a row."""

    service: Provider
    model: str
    error_code: str
    usage: Usage
    duration_ms: int


def note_question(owner: Owner, thread_id: str, asked: Asked) -> None:
    """Writes the call that was made for a question; inside the transaction that stores its run."""
    MemoryOp.objects.create(
        tenant_id=owner.tenant_id,
        user_id=owner.user_id,
        agent_id=owner.agent_id,
        thread_id=thread_id,
        kind=MemoryOp.Kind.EMBEDDING,
        provider=asked.service,
        model=asked.model,
        outcome=MemoryOp.Outcome.FAILED if asked.error_code else MemoryOp.Outcome.DONE,
        error_code=asked.error_code,
        input_tokens=asked.usage.tokens,
        is_estimate=asked.usage.is_estimate,
        cost=asked.service.cost(asked.usage.tokens, 0),
        duration_ms=asked.duration_ms,
    )
