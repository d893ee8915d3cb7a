"""What the categories of the threat scan are called, in the reader's language: a noun behind “it reads like”."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from chat.memory.blocked import FAILED
from chat.text.threats import TOO_LONG

_CATEGORIES: dict[str, Promise] = {
    "instruction_override": gettext_lazy("an order to set the assistant's instructions aside"),
    "role_hijack": gettext_lazy("an order to play a part without limits"),
    "prompt_leak": gettext_lazy("an order to reveal what the assistant was told"),
    "deception": gettext_lazy("an order to hide something or to lie"),
    "exfiltration": gettext_lazy("an order to send data elsewhere"),
    "secret_access": gettext_lazy("a grasp at passwords or keys"),
    "persistence": gettext_lazy("an order that wants to stay or to spread"),
    "authority_grant": gettext_lazy("a permission that only you can give, and only when it is asked for"),
    "fence_breakout": gettext_lazy("an imitation of the system's own lines"),
    "hidden_markup": gettext_lazy("hidden markup that carries orders"),
    "command_exec": gettext_lazy("an order to run dangerous commands"),
    "invisible_unicode": gettext_lazy("text with invisible characters"),
    "homoglyph": gettext_lazy("text disguised with look-alike letters"),
    TOO_LONG: gettext_lazy("more text than can be looked through"),
    FAILED: gettext_lazy("text that could not be checked"),
}


def category_words(category: str) -> str:
    """A category that was renamed since keeps the name that it had."""
    return str(_CATEGORIES.get(category, category))
