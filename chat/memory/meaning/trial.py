"""One call, to see whether an embedder works; asked for by administrators."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from chat.memory.meaning.embedder import embed_within
from chat.models import Provider, Tenant
from chat.providers.embeddings import Embedded
from chat.providers.http import close_clients

PROBE: Final = "今天天气很好。"  # what any embedder can read, and nobody's text
TRIAL_SECONDS: Final = 20.0  # a model that is not loaded yet takes its time


@dataclass(frozen=True, slots=True)
class Trial:
    """How long a vector is, in numbers, and how long it took."""

    dimension: int
    duration_ms: int


def try_embedder(tenant: Tenant, service: Provider) -> Trial:
    """Asks the service once, with the school's model. To be called where no event loop runs. Raises a ProviderError."""
    started = time.monotonic()
    found = asyncio.run(_ask(tenant, service))
    return Trial(found.vectors.shape[1], round((time.monotonic() - started) * 1000))


async def _ask(tenant: Tenant, service: Provider) -> Embedded:
    try:
        return await embed_within(TRIAL_SECONDS, tenant, service, [PROBE], attempts=1)
    finally:
        await close_clients()
