"""The layers of the settings, in order of the prompt."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from chat.memory.base import Layer

RUNNING_CONVERSATION = ("thread",)  # the layers that work while memory is off


@cache
def layers() -> tuple[Layer, ...]:
    """One object of each class in settings.MEMORY_LAYERS; ImportError names one that does not exist."""
    return tuple(import_string(path)() for path in settings.MEMORY_LAYERS)


def working(known: tuple[Layer, ...], *, has_memory: bool) -> list[Layer]:
    """Those of the `known` layers that work now: all of them, or without memory those of the running conversation."""
    return [layer for layer in known if has_memory or layer.name in RUNNING_CONVERSATION]
