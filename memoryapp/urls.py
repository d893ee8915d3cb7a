"""Addresses. The web room lists its own in chat/urls.py."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]

# Below the API's paths these answer as JSON.
handler400 = "chat.api.errors.bad_request"
handler500 = "chat.api.errors.server_error"
