"""The layers of the settings, in order of the prompt."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from chat.memory.base import Layer

RUNNING_CONVERSATION = ("thread",)  # the layers that work while memory is off
# One stands in the place of the other: while a memory backend outside this program is in force recall stands back.
OF_THE_BUILTIN, OF_ANOTHER = "recall", "external"


@cache
def layers() -> tuple[Layer, ...]:
    """One object of each class in settings.MEMORY_LAYERS; ImportError names one that does not exist."""
    return tuple(import_string(path)() for path in settings.MEMORY_LAYERS)


def working(known: tuple[Layer, ...], *, has_memory: bool, backend: str = "") -> list[Layer]:
    """Those of the `known` layers that work now: without memory those of the running conversation, else all but one.

    `backend` is the memory backend outside this program that is in force, "" for none.
    """
    if not has_memory:
        return [layer for layer in known if layer.name in RUNNING_CONVERSATION]
    stands_back = OF_THE_BUILTIN if backend else OF_ANOTHER
    return [layer for layer in known if layer.name != stands_back]
