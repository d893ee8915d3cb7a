"""The layers of the settings, in order of the prompt."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from chat.memory.base import Layer


@cache
def layers() -> tuple[Layer, ...]:
    """One object of each class in settings.MEMORY_LAYERS; ImportError names one that does not exist."""
    return tuple(import_string(path)() for path in settings.MEMORY_LAYERS)
