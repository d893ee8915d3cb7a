"""What a process does before its first run, so that the first message does not wait for it."""

import logging
import threading

from django.conf import settings

from chat import providers
from chat.memory.notes.survey import where
from chat.memory.registry import layers
from chat.text import threats, tokens

log = logging.getLogger(__name__)


def warm_up() -> None:
    """Loads token ranks and the rules of the threat scan in threads, the model clients' parts and the memory layers.

    A layer that is not there stops the start. It says where notes are: after a change of the settings they would seem to be lost.
    """
    log.info("Notes are kept as %s", where())
    tokens.start_loading(settings.TIKTOKEN_DIR)
    threading.Thread(target=threats.warm_up, name="threats", daemon=True).start()
    providers.warm_up()
    layers()
