"""Brings a thread's layers up to date, each from its own cursor (DESIGN §3.6, §3.8)."""

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from chat.memory.base import Layer, LayerTrouble, Lease, LeaseLost
from chat.memory.calls import Interrupted
from chat.memory.external.chosen import in_force
from chat.memory.registry import layers, working
from chat.memory.switches import is_memory_on
from chat.models import LayerState, Owner, Thread
from chat.providers.base import ProviderError

log = logging.getLogger(__name__)
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 600.0
INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, slots=True)
class Later:
    """Something is left to do; `error_code` says why it could not be done now, "" when its time has only not come yet."""

    at: datetime
    error_code: str


def settle(thread_id: str, lease: Lease) -> Later | None:
    """Lets every layer that is due catch up. Returns when to come again, or None when all is done.

    A layer in trouble waits by itself and does not hold the others. While memory is off only the running conversation
    is brought up to date; recall stands back, where it is, while another memory backend is in force.

    Raises LeaseLost and Interrupted, and lets a database that cannot be reached pass to the worker's loop.
    """
    thread = Thread.objects.select_related("agent__provider").filter(pk=thread_id).first()
    if thread is None:
        return None
    has_memory = is_memory_on(Owner(thread.tenant_id, thread.user_id, thread.agent_id), thread)
    due = working(layers(), has_memory=has_memory, backend=in_force(thread.agent))
    waits = [later for layer in due if (later := _settle_layer(thread, layer, lease))]
    return min(waits, key=lambda later: later.at, default=None)


def wait_seconds(attempts: int) -> float:
    """How long to wait after that many failures in a row: 1 s to 10 min, doubling, with jitter so that many do not come at once."""
    doubled = FIRST_WAIT_SECONDS * 2.0 ** min(max(attempts, 1) - 1, 32)
    return min(LONGEST_WAIT_SECONDS, doubled * random.uniform(1.0, 1.5))


def _settle_layer(thread: Thread, layer: Layer, lease: Lease) -> Later | None:
    state = LayerState.objects.filter(thread=thread, layer=layer.name).first()
    if state and state.retry_at and state.retry_at > timezone.now():
        return Later(state.retry_at, state.error_code)
    try:
        layer.catch_up(thread, lease)
    except (LeaseLost, Interrupted, OperationalError, InterfaceError):
        raise
    except (LayerTrouble, ProviderError) as error:
        log.warning("Layer %s of thread %s could not catch up: %s", layer.name, thread.pk, error)
        return _trouble(thread, layer, lease, error)
    except Exception as error:
        log.exception("Layer %s of thread %s failed", layer.name, thread.pk)
        return _trouble(thread, layer, lease, error)
    if state and state.attempts:
        LayerState.objects.filter(pk=state.pk).update(attempts=0, error_code="", retry_at=None, updated_at=timezone.now())
    return None


def _trouble(thread: Thread, layer: Layer, lease: Lease, error: Exception) -> Later | None:
    """Records the failure and when the layer is tried again; None when the thread was deleted meanwhile."""
    if not Thread.objects.filter(pk=thread.pk).exists():
        return None
    code = error.code if isinstance(error, LayerTrouble | ProviderError) else INTERNAL_ERROR
    asked_to_wait = error.retry_after_seconds if isinstance(error, ProviderError) else None
    now = timezone.now()
    with transaction.atomic():
        state, _ = LayerState.objects.get_or_create(thread=thread, layer=layer.name)
        state.attempts += 1
        state.error_code = code
        state.retry_at = now + timedelta(seconds=min(LONGEST_WAIT_SECONDS, max(wait_seconds(state.attempts), asked_to_wait or 0)))
        state.updated_at = now
        state.save(update_fields=["attempts", "error_code", "retry_at", "updated_at"])
        lease.renew()  # a worker that lost the thread records nothing
    return Later(state.retry_at, code)
