"""Pages and API (DESIGN §6)."""

from django.urls import include, path

urlpatterns = [
    # Pages first: the API answers everything else below agents/, threads/ and runs/.
    path("", include("chat.views.urls")),
    path("", include("chat.api.urls")),
]
