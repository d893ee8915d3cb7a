from django import template
from django.http import HttpRequest

from chat.admin.overview import Overview, overview

register = template.Library()


@register.simple_tag
def school_overview(request: HttpRequest) -> Overview:
    """The figures of the schools that the viewer administrates."""
    return overview(request)
