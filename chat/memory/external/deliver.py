"""The write verb of the external layer: what was said goes to the memory backend (seed 002 §7)."""

from chat.memory.base import Lease
from chat.models import Thread


def catch_up(thread: Thread, lease: Lease) -> None:
    return None
