"""Pages and API (DESIGN §6)."""

from django.urls import include, path

urlpatterns = [
    path("", include("chat.api.urls")),
    path("", include("chat.views.urls")),
]
