"""The model behind the demo schools' assistants: the offline stand-in, or what the environment names."""

import ipaddress
import os
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from django.conf import settings

from chat.models import Agent, Provider, Tenant

OLLAMA_USUAL_URL = "http://127.0.0.1:11434"
KEY_ENV = "OPENAI_API_KEY"
PROBE_SECONDS = 0.5
NAMES = {Provider.Kind.OPENAI: "OpenAI 兼容", Provider.Kind.OLLAMA: "Ollama", Provider.Kind.DEMO: "离线演示"}
DEMO_MODEL = "demo"
OFFERED = "offered"  # the row of an Ollama that nobody asked for: assistants are put there by people only


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model service and a model there."""

    kind: str
    base_url: str
    model: str
    key_env: str = ""


def wanted() -> Wanted:
    """What the environment asks for; the offline stand-in when it asks for nothing."""
    if settings.OPENAI_BASE_URL and settings.OPENAI_MODEL:
        return Wanted("openai", settings.OPENAI_BASE_URL, settings.OPENAI_MODEL, KEY_ENV if os.environ.get(KEY_ENV) else "")
    if settings.OLLAMA_MODEL:
        return Wanted("ollama", settings.OLLAMA_URL or OLLAMA_USUAL_URL, settings.OLLAMA_MODEL)
    return Wanted("demo", "", DEMO_MODEL)


def is_local_address(base_url: str) -> bool:
    """Whether the host is this machine or stands in a private network, by its address or by all addresses of its name."""
    host = urlsplit(base_url).hostname or ""
    try:
        addresses = {ipaddress.ip_address(host)}
    except ValueError:
        try:
            addresses = {ipaddress.ip_address(found[4][0]) for found in socket.getaddrinfo(host, None)}
        except OSError:
            return False
    return bool(addresses) and all(address.is_loopback or address.is_private for address in addresses)


def keep_provider(tenant: Tenant, want: Wanted, role: str = "") -> Provider:
    """The school's row for this service, made or brought up to date. Its id is fixed, so people may rename it.

    `role` tells it from another row of the same kind.
    """
    fields = {"base_url": want.base_url, "key_env": want.key_env, "is_local": want.kind == "demo" or is_local_address(want.base_url)}
    found, is_new = Provider.objects.get_or_create(
        pk=provider_id(tenant, role or want.kind), defaults={"tenant": tenant, "kind": want.kind, "name": provider_name(want), **fields}
    )
    if not is_new and found.kind != "demo":
        if model_in_name(found):
            fields["name"] = provider_name(want)
        Provider.objects.filter(pk=found.pk).update(**fields)
    return found


def provider_id(tenant: Tenant, kind: str) -> str:
    return f"pv_{tenant.pk.removeprefix('tn_')}_{kind}"


def provider_name(want: Wanted) -> str:
    """The kind, and the model that the environment named: so the next start knows which one it had set."""
    name = NAMES[Provider.Kind(want.kind)]
    return f"{name} · {want.model}"[:100] if want.model and want.kind != "demo" else name


def model_in_name(service: Provider) -> str:
    """The model that `provider_name` wrote there; the empty text when a person has renamed the service."""
    prefix = f"{NAMES[Provider.Kind(service.kind)]} · "
    return service.name.removeprefix(prefix) if service.name.startswith(prefix) else ""


def follow_environment(tenant: Tenant) -> None:
    """Puts the school's assistants on the wanted model.

    Only those move which stand where the environment had put them: whoever was given another service or model by a
    person keeps it.
    """
    want = wanted()
    before = Provider.objects.filter(pk=provider_id(tenant, want.kind)).first()
    target = keep_provider(tenant, want)
    placed = Agent.objects.filter(tenant=tenant, provider_id__in=[provider_id(tenant, kind) for kind in Provider.Kind.values])
    if before is not None and model_in_name(before):
        placed.filter(provider=target, model=model_in_name(before)).update(model=want.model)
    placed.exclude(provider=target).update(provider=target, model=want.model)


def ollama_models() -> list[str] | None:
    """The models of an Ollama at its usual address, or None when none answers. Asks for half a second at most."""
    try:
        answer = httpx.get(f"{settings.OLLAMA_URL or OLLAMA_USUAL_URL}/api/tags", timeout=PROBE_SECONDS, trust_env=False)
        return [str(model["name"]) for model in answer.raise_for_status().json()["models"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None


def offer_ollama(tenants: list[Tenant]) -> str:
    """Makes a row for an Ollama that answers, and returns the line that offers it; the empty text when there is nothing to offer."""
    if wanted().kind != "demo":
        return ""
    models = ollama_models()
    if models is None:
        return ""
    url = settings.OLLAMA_URL or OLLAMA_USUAL_URL
    for tenant in tenants:
        keep_provider(tenant, Wanted("ollama", url, ""), OFFERED)
    known = f" (models: {', '.join(models[:5])})" if models else ", without any model yet"
    return f"An Ollama answers at {url}{known}. Start with OLLAMA_MODEL=<name> to use it, or choose it in /admin/."
