"""What `manage.py doctor` looks at. Findings name variables, addresses and codes, never keys or texts."""

import asyncio
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.checks import run_checks
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from chat.memory.backends.base import BackendError, BackendMisconfigured, MemoryManager
from chat.memory.external import chosen
from chat.memory.external.waiting import Waiting, waiting
from chat.memory.meaning.embedder import embedder_of
from chat.memory.meaning.trial import try_embedder
from chat.memory.notes.lost import put_aside
from chat.memory.notes.survey import survey
from chat.models import Provider, Tenant, WorkerBeat
from chat.providers.base import ProviderError
from chat.runs.beat import WORKER_AWAY_SECONDS
from chat.text import tokens

ANSWER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """`is_good` is false for what keeps the product from working; what only makes it worse has `is_note`."""

    is_good: bool
    subject: str
    text: str
    is_note: bool = False


def findings() -> Iterator[Finding]:
    """One at a time, for some take seconds. Rows are looked at only in a database that is up to date."""
    yield from check_settings()
    yield check_data_folder()
    yield check_token_ranks()
    yield check_channel_layer()
    yield from check_backend()
    database = check_database()
    yield database
    if database.is_good:
        yield check_worker()
        yield check_notes()
        yield from (check_forgetting(one) for one in waiting())
        for service in Provider.objects.filter(agents__is_active=True).distinct().order_by("pk"):
            yield check_provider(service)
        for tenant in Tenant.objects.filter(embedder__isnull=False).select_related("embedder").order_by("pk"):
            yield check_embedder(tenant)


def check_settings() -> list[Finding]:
    problems = [message for message in run_checks() if not message.is_silenced()]
    if not problems:
        return [Finding(True, "settings", "nothing to complain about")]
    return [
        Finding(not problem.is_serious(), "settings", f"{problem.msg} {problem.hint or ''}".strip(), is_note=not problem.is_serious())
        for problem in problems
    ]


def check_data_folder() -> Finding:
    folder = settings.DATA_DIR
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(False, "data folder", f"{folder} cannot be written to by this user")
    for path in (folder, folder / "secret_key"):
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            return Finding(False, "data folder", f"other users of this machine can look into {path}: chmod go-rwx {path}")
    return Finding(True, "data folder", f"{folder} is writable and private")


def check_token_ranks() -> Finding:
    if tokens.is_exact() or tokens.load_ranks(settings.TIKTOKEN_DIR):
        return Finding(True, "token ranks", "counts are exact")
    return Finding(True, "token ranks", "missing or damaged, so counts are estimates: make setup, or manage.py token_ranks", is_note=True)


def check_channel_layer() -> Finding:
    kind = "Redis" if settings.REDIS_URL else "in memory, for one web process"

    async def ask() -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.send(channel, {"type": "doctor"})
        await layer.receive(channel)

    try:
        asyncio.run(asyncio.wait_for(ask(), ANSWER_SECONDS))
    except (OSError, TimeoutError, ConnectionError) as error:
        return Finding(False, "channel layer", f"{kind}: no message came through ({type(error).__name__}); look at REDIS_URL")
    return Finding(True, "channel layer", kind)


def check_backend() -> Iterator[Finding]:
    """Asks a memory backend outside whether it can be used. Where the start does not fail for it, one that is away is only a note."""
    try:
        manager = chosen.make(settings.MEMORY_MANAGER)
    except BackendMisconfigured:
        return  # said by `check_settings`
    if manager.capabilities.is_external:
        yield asyncio.run(_look_at(manager))


async def _look_at(manager: MemoryManager) -> Finding:
    name = " at ".join(part for part in (manager.capabilities.title, manager.capabilities.place) if part)
    try:
        health = await manager.warm()
    except BackendError as error:
        return Finding(False, "memory backend", f"{name} cannot be used ({error.code}): web and worker do not start")
    finally:
        await manager.close()
    if not health.is_usable:
        return Finding(True, "memory backend", f"{name} cannot be used ({health.code}): answers come without it", is_note=True)
    return Finding(True, "memory backend", f"{name} can be used{f' (version {health.version})' if health.version else ''}")


def check_database() -> Finding:
    try:
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        return Finding(False, "database", f"{connection.vendor} cannot be reached ({type(error).__name__}); look at DATABASE_URL")
    if missing:
        return Finding(False, "database", f"{connection.vendor}, {missing} migrations are missing: manage.py migrate")
    return Finding(True, "database", f"{connection.vendor}, up to date")


def check_worker() -> Finding:
    newest = WorkerBeat.objects.order_by("-beat_at").first()
    if newest is None:
        return Finding(False, "worker", "none is running: manage.py worker")
    age = (timezone.now() - newest.beat_at).total_seconds()
    return Finding(age <= WORKER_AWAY_SECONDS, "worker", f"last seen {age:.0f} seconds ago")


def check_notes() -> Finding:
    """Names the storage in use, so that nobody takes texts for lost that lie in the other one."""
    found = survey()
    told = f"{found.texts} texts, {found.where}"
    if found.unreadable:
        return Finding(False, "notes", f"{told}; not readable as UTF-8 text: {', '.join(found.unreadable)}")
    if found.is_closed:
        return Finding(False, "notes", f"{told}; the folder of notes in DATA_DIR cannot be read, so nothing in it is erased")
    if found.drifted:
        told += f"; far over their budget, so nothing is written: {', '.join(found.drifted)}"
    if found.elsewhere:
        told += f"; {found.elsewhere} more are in the other storage, where nobody sees them: manage.py notes_move, or look at NOTES_STORAGE"
    if aside := put_aside():
        told += f"; {aside} folders of unknown owners are put aside, as after an older database was restored; each is removed after 30 days"
    return Finding(True, "notes", told, is_note=bool(found.drifted or found.elsewhere or aside))


def check_forgetting(what: Waiting) -> Finding:
    """What teachers were promised and is not done yet."""
    told = f"{what.scopes} requests to forget everything and {what.sessions} deleted conversations wait"
    if what.is_set_up:
        told += f" for the worker{f' ({what.code})' if what.code else ''}; they are tried until they are done"
    else:
        told += (
            f" for the backend {what.backend}, which is not set up any more: set it up again"
            f" (MEMORY_MANAGER={what.backend}) until they are done; where its data is gone for good an empty server will do"
        )
    return Finding(True, f"forgetting at {what.backend}", told, is_note=True)


def check_provider(service: Provider) -> Finding:
    """Asks for the list of models, which costs nothing. A service without such a list is there all the same."""
    subject = f"model service {service.name!r} of {service.tenant}"
    if service.kind == Provider.Kind.DEMO:
        return Finding(True, subject, "the offline stand-in")
    key = os.environ.get(service.key_env, "") if service.key_env else ""
    if service.key_env and not key:
        return Finding(False, subject, f"the variable {service.key_env} is not set where this command runs")
    path = "/api/tags" if service.kind == Provider.Kind.OLLAMA else "/models"
    try:
        answer = httpx.get(
            service.base_url.rstrip("/") + path, headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=ANSWER_SECONDS
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Finding(False, subject, f"{service.base_url} does not answer ({type(error).__name__})")
    if answer.status_code in (401, 403):
        return Finding(False, subject, f"{service.base_url} refuses the key (HTTP {answer.status_code})")
    return Finding(answer.status_code < 500, subject, f"{service.base_url} answers (HTTP {answer.status_code})")


def check_embedder(tenant: Tenant) -> Finding:
    """Asks for one vector. Without any the product finds by words, so a service that is away is only a note."""
    subject = f"embedder of {tenant}"
    service = embedder_of(tenant)
    if service is None:
        return Finding(True, subject, "it is not set up: look at the school's page in the admin site", is_note=True)
    try:
        trial = try_embedder(tenant, service)
    except ProviderError as error:
        return Finding(True, subject, f"{service.base_url} makes no vectors with {tenant.embedding_model} ({error})", is_note=True)
    return Finding(True, subject, f"{tenant.embedding_model} gives vectors of {trial.dimension} numbers in {trial.duration_ms} ms")
