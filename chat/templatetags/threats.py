"""Filters that mark what the threat scan keeps out of prompts."""

from django import template

from chat.memory.blocked import threat_of
from chat.memory.knowledge.telling import threat_of_passage
from chat.models import Passage
from chat.panel.threat_words import category_words

register = template.Library()


@register.filter
def blocked_as(text: str) -> str:
    """What a text reads like that is kept out of prompts, in words; "" for one that may go into them."""
    return category_words(category) if (category := threat_of(text)) else ""


@register.filter
def blocked_passage(passage: Passage) -> str:
    """As `blocked_as`, for a passage with the name and the heading that it is told with."""
    return category_words(category) if (category := threat_of_passage(passage)) else ""
