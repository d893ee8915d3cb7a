"""Tags of the frame: the product's name and icons."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

register = template.Library()


@register.simple_tag
def product_name() -> str:
    return gettext("Memory Chat")


@register.simple_tag
def icon(name: str) -> SafeString:
    """A symbol of static/img/sprite.svg, hidden from screen readers: a label in words stands beside it."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>', static("img/sprite.svg"), name
    )
