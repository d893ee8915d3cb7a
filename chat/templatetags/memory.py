"""Filters of the memory panel."""

from datetime import datetime

from django import template

from chat.panel.rules import kind_words, layer_words, rule_words
from chat.panel.threat_words import category_words
from chat.panel.words import age_words

register = template.Library()


@register.filter
def age(value: datetime) -> str:
    """“3 weeks ago”."""
    return age_words(value)


@register.filter
def percent(value: float) -> str:
    return f"{value:.0%}"


@register.filter
def private_kind(value: str) -> str:
    """What the filter has recognised, in words."""
    return kind_words([value])


@register.filter
def threat_kind(value: str) -> str:
    """What a text that is kept out of prompts reads like, in words."""
    return category_words(value)


@register.filter
def private_rule(value: str) -> str:
    """The rule of the filter, in words."""
    return rule_words([value])


@register.filter
def private_layer(value: str) -> str:
    """Where the filter stopped something, in words."""
    return layer_words(value)
