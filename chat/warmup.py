"""What a process does before its first run, so that the first message does not wait for it."""

from django.conf import settings

from chat import providers
from chat.memory.registry import layers
from chat.text import tokens


def warm_up() -> None:
    """Loads the token ranks in a thread, the model clients' parts and the memory layers; a layer that is not there stops the start."""
    tokens.start_loading(settings.TIKTOKEN_DIR)
    providers.warm_up()
    layers()
