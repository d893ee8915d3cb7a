"""What the kinds and rules of the filter are called, in the reader's language. Rows and results hold the names of `chat.text`."""

from collections.abc import Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

_KINDS: dict[str, Promise] = {
    "id_card": gettext_lazy("an identity number"),
    "id_doc": gettext_lazy("the number of a document"),
    "bank_card": gettext_lazy("a bank card number"),
    "phone": gettext_lazy("a telephone number"),
    "contact": gettext_lazy("a way to reach a person"),
    "score": gettext_lazy("a pupil's marks"),
    "rank": gettext_lazy("a pupil's rank"),
    "health": gettext_lazy("somebody's health"),
    "address": gettext_lazy("a home address"),
    "family": gettext_lazy("a family's circumstances"),
}

_RULES: dict[str, Promise] = {
    "number of a document": gettext_lazy("number after the name of a document"),
    "national ID": gettext_lazy("identity number of 18 digits"),
    "national ID, 15 digits": gettext_lazy("identity number of 15 digits"),
    "national ID with a wrong check digit": gettext_lazy("identity number with a wrong check digit"),
    "bank card": gettext_lazy("bank card number by its check digit"),
    "bank card by its word": gettext_lazy("number beside the word for a card or account"),
    "mobile number": gettext_lazy("mobile number"),
    "telephone number": gettext_lazy("telephone number with its area code"),
    "telephone number by its word": gettext_lazy("number beside the word for a telephone"),
    "address of mail or chat": gettext_lazy("mail address or chat account"),
    "mark of somebody": gettext_lazy("mark beside a person"),
    "full marks of somebody": gettext_lazy("full marks beside a person"),
    "mark of a group or in an exam": gettext_lazy("marks of a group or in an exam"),
    "marks of several subjects": gettext_lazy("marks in several subjects"),
    "marks of several people": gettext_lazy("marks of several people"),
    "list of marks": gettext_lazy("list of marks"),
    "mark in English": gettext_lazy("mark beside a person in English text"),
    "class in English": gettext_lazy("average of a class in English text"),
    "mark of whoever sat the exam": gettext_lazy("mark in an exam whoever sat it"),
    "rank of somebody": gettext_lazy("rank beside a person"),
    "place in a class": gettext_lazy("place in a class or year"),
    "illness outside a lesson": gettext_lazy("illness where no lesson is meant"),
    "illness of somebody": gettext_lazy("illness beside a person"),
    "illness of whoever has it": gettext_lazy("illness that somebody has"),
    "home of whoever lives there": gettext_lazy("house and door of whoever lives there"),
    "where somebody lives": gettext_lazy("address beside a person"),
    "family matter outside a lesson": gettext_lazy("family matter where no lesson is meant"),
    "family of somebody": gettext_lazy("family matter beside a person"),
}

_LAYERS: dict[str, Promise] = {
    "core": gettext_lazy("core memory"),
    "thread": gettext_lazy("summary of a conversation"),
    "title": gettext_lazy("title of a conversation"),
    "external": gettext_lazy("memory backend"),
}


def kind_words(kinds: Sequence[str]) -> str:
    """What the filter has recognised: “a pupil's marks, a home address”."""
    return _(", ").join(str(_KINDS.get(kind, kind)) for kind in kinds) or _("something private")


def rule_words(rules: Sequence[str]) -> str:
    """How it was recognised. A rule that was renamed since keeps the name that it had."""
    return _(", ").join(str(_RULES.get(rule, rule)) for rule in rules)


def layer_words(layer: str) -> str:
    """Where it was stopped."""
    return str(_LAYERS.get(layer, layer))
