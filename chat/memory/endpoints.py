"""From rows to where text goes."""

from chat.models import Agent, Provider
from chat.providers.base import Endpoint


def endpoint_of(source: Agent | Provider, model: str = "") -> Endpoint:
    """The endpoint of an assistant, or of a model service with one of its models; `model` "" means the assistant's own."""
    provider = source.provider if isinstance(source, Agent) else source
    if not model and isinstance(source, Agent):
        model = source.model
    return Endpoint(
        kind=provider.kind,
        base_url=provider.base_url,
        key_env=provider.key_env,
        model=model,
        is_local=provider.is_local,
        has_usage=provider.supports_usage,
        context_tokens=source.context_tokens if isinstance(source, Agent) else None,
        connect_timeout_seconds=provider.connect_timeout_seconds,
        read_timeout_seconds=provider.read_timeout_seconds,
    )
