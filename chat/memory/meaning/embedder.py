"""A school's embedder, and how it is called."""

import asyncio
from collections.abc import Sequence

from chat.memory.endpoints import endpoint_of
from chat.models import Provider, Tenant
from chat.models.tenancy import EmbeddingRoles
from chat.providers.base import ProviderTimeout
from chat.providers.embeddings import Embedded, Role, Style, embed
from chat.providers.http import MAX_ATTEMPTS

_STYLES: dict[str, Style] = {
    EmbeddingRoles.BY_NAME: "by_name",
    EmbeddingRoles.PREFIX: "prefix",
    EmbeddingRoles.INPUT_TYPE: "input_type",
    EmbeddingRoles.NONE: "none",
}


def embedder_of(tenant: Tenant) -> Provider | None:
    """The school's embedder, when it is set up so that it can be asked."""
    service = tenant.embedder
    if service is None or not tenant.embedding_model or service.kind == Provider.Kind.DEMO or service.tenant_id != tenant.pk:
        return None
    return service


async def embed_within(
    seconds: float, tenant: Tenant, service: Provider, texts: Sequence[str], role: Role = "passage", *, attempts: int = MAX_ATTEMPTS
) -> Embedded:
    """The vectors of texts by the school's model, within so many seconds. Raises a ProviderError."""
    endpoint = endpoint_of(service, tenant.embedding_model)
    try:
        async with asyncio.timeout(seconds):
            return await embed(endpoint, texts, role, style=_STYLES[tenant.embedding_roles], attempts=attempts)
    except TimeoutError:
        raise ProviderTimeout from None
