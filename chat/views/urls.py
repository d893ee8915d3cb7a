"""Pages. Each area lists its own addresses here."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, path
from django.views.i18n import set_language

from chat.forms import LoginForm
from chat.views import settings, tenants

urlpatterns: list[URLPattern] = [
    path("accounts/login/", LoginView.as_view(authentication_form=LoginForm, redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="set-language"),
    path("tenants/switch/", tenants.switch_tenant, name="tenant-switch"),
    path("settings/", settings.settings_page, name="settings"),
    path("settings/preferences/", settings.save_preferences, name="settings-preferences"),
    path("settings/password/", settings.change_password, name="settings-password"),
    path("settings/tokens/", settings.create_token, name="settings-tokens"),
    path("settings/tokens/<str:token_id>/revoke/", settings.revoke_token, name="settings-token-revoke"),
]
