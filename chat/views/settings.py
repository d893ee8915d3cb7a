"""The settings page: preferences, memory, password, API tokens. Each form is its own POST and works without script."""

from copy import copy
from typing import cast

from django.conf import settings as django_settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from chat.consents import said_by
from chat.forms import PasswordForm, PreferenceForm, TokenForm, TopicsForm, time_zone_names
from chat.memory.switches import off_by, switch_memory
from chat.middleware import PageRequest
from chat.models import ApiToken, Owner


@require_GET
@login_required
def settings_page(request: HttpRequest) -> HttpResponse:
    return _page(cast(PageRequest, request))


@require_POST
@login_required
def save_preferences(request: HttpRequest) -> HttpResponse:
    page = cast(PageRequest, request)
    form = PreferenceForm(request.POST, instance=copy(page.preference))  # a refused form must not change this page
    if not form.is_valid():
        return _page(page, preference_form=form)
    saved = form.save()
    response = redirect("settings")
    if saved.language:
        translation.activate(saved.language)
    else:
        response.delete_cookie(django_settings.LANGUAGE_COOKIE_NAME)  # of the log-in page; else it would go on deciding
    messages.success(request, _("The settings are saved."))
    return response


@require_POST
@login_required
def save_memory_switch(request: HttpRequest) -> HttpResponse:
    """Switches memory on or off for the user; counts from their next message on."""
    page = cast(PageRequest, request)
    is_on = request.POST.get("memory") == "on"
    switch_memory(page.user.pk, is_on=is_on)
    messages.success(request, _("Memory is switched on.") if is_on else _("Memory is switched off."))
    return redirect("memory" if request.POST.get("back") == "memory" else "settings")


@require_POST
@login_required
def save_topics(request: HttpRequest) -> HttpResponse:
    """What reviews of notes leave alone; counts from the next review on."""
    page = cast(PageRequest, request)
    form = TopicsForm(request.POST, instance=copy(page.preference))
    if not form.is_valid():
        return _page(page, topics_form=form)
    form.save()
    messages.success(request, _("The topics are saved."))
    return redirect("settings")


@require_POST
@login_required
def change_password(request: HttpRequest) -> HttpResponse:
    page = cast(PageRequest, request)
    form = PasswordForm(page.user, request.POST)
    if not form.is_valid():
        return _page(page, password_form=form)
    update_session_auth_hash(request, form.save())
    messages.success(request, _("The password is changed. Other devices are logged out; API tokens keep working."))
    return redirect("settings")


@require_POST
@login_required
@vary_on_headers("HX-Request")
def create_token(request: HttpRequest) -> HttpResponse:
    """Answers with the token's text, the only time that it is shown: neither a session nor a row may keep it."""
    page = cast(PageRequest, request)
    form = TokenForm(request.POST, user=page.user)
    if not form.is_valid():
        form.fields["name"].widget.attrs["autofocus"] = True
        return _tokens(page, token_form=form)
    token, text = ApiToken.objects.issue(page.user, form.cleaned_data["name"])
    return _tokens(page, new_token=token, new_token_text=text)


@require_POST
@login_required
@vary_on_headers("HX-Request")
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    page = cast(PageRequest, request)
    token = ApiToken.objects.for_user(page.user).usable().filter(pk=token_id).first()
    if token is None:
        raise Http404
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    if page.htmx:
        return _tokens(page, revoked_token=token)
    messages.success(request, _("The token “%(name)s” is revoked.") % {"name": token})
    return redirect("settings")


def _tokens(request: PageRequest, **context: object) -> HttpResponse:
    """The list of tokens alone for htmx, else the page with it."""
    if not request.htmx:
        return _page(request, **context)
    return render(request, "chat/settings/_tokens.html", _token_context(request) | context)


def _token_context(request: PageRequest) -> dict[str, object]:
    usable = ApiToken.objects.for_user(request.user).usable().order_by("-created_at")
    return {"tokens": usable, "token_form": TokenForm(user=request.user)}


def _page(request: PageRequest, **context: object) -> HttpResponse:
    owner = Owner(request.tenant.pk, request.user.pk) if request.tenant is not None else None
    usual: dict[str, object] = {
        "has_memory": request.preference.has_memory,
        "off_by": off_by(owner) if owner is not None else "",
        "consents": said_by(request.user),
        "preference_form": PreferenceForm(instance=request.preference),
        "topics_form": TopicsForm(instance=request.preference),
        "password_form": PasswordForm(request.user),
        "time_zones": time_zone_names(),
    }
    return render(request, "chat/settings/page.html", usual | _token_context(request) | context)
