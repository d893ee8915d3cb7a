"""The frame around all pages: log-in and its throttle, headers, error pages, schools."""

import re

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import AsyncClient, Client, RequestFactory
from django.utils.module_loading import import_string
from django.views.defaults import server_error

from chat.middleware import HeadersMiddleware, PreferenceMiddleware, standing_of
from chat.models import Membership, Preference
from tests import builders

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/login/"


def sign_in(user):
    client = Client()
    client.force_login(user)
    return client


def try_login(client, username, password="wrong", address=LOGIN):
    return client.post(address, {"username": username, "password": password})


class TestLogin:
    def test_right_password_leads_to_the_conversations(self, client):
        user = builders.teacher()
        response = try_login(client, user.username, builders.PASSWORD)
        assert (response.status_code, response["Location"]) == (302, "/")

    def test_after_log_in_comes_the_page_that_was_asked_for(self, client):
        user = builders.teacher()
        assert client.get("/settings/")["Location"] == f"{LOGIN}?next=/settings/"
        response = client.post(f"{LOGIN}?next=/settings/", {"username": user.username, "password": builders.PASSWORD, "next": "/settings/"})
        assert response["Location"] == "/settings/"

    @pytest.mark.parametrize(
        ("referer", "following"),
        [("http://testserver/settings/?a=1#x", "/settings/%3Fa%3D1"), ("https://elsewhere.example/settings/", "/"), ("", "/")],
    )
    def test_form_sent_after_the_session_ended_leads_back_to_its_page(self, client, referer, following):
        response = client.post("/settings/preferences/", headers={"referer": referer})
        assert response["Location"] == f"{LOGIN}?next={following}"

    def test_foreign_address_is_no_way_out_of_the_log_in(self, client):
        user = builders.teacher()
        data = {"username": user.username, "password": builders.PASSWORD, "next": "https://elsewhere.example/"}
        assert client.post(LOGIN, data)["Location"] == "/"

    def test_wrong_password_and_unknown_user_read_the_same(self, client):
        user = builders.teacher()
        known, unknown = try_login(client, user.username), try_login(client, "nobody")
        errors = [response.context["form"].non_field_errors() for response in (known, unknown)]
        assert errors[0] == errors[1]
        assert "administrator" in str(client.post(LOGIN, {"username": "x", "password": "y"}, headers={"accept-language": "en"}).content)

    def test_logging_out_is_a_post(self):
        client = sign_in(builders.teacher())
        assert client.get("/accounts/logout/").status_code == 405
        client.post("/accounts/logout/")
        assert client.get("/settings/").status_code == 302

    def test_language_can_be_chosen_before_logging_in(self, client):
        client.post("/language/", {"language": "en", "next": LOGIN})
        assert '<html lang="en"' in client.get(LOGIN).content.decode()

    def test_the_browsers_language_is_used_when_nothing_was_chosen(self, client):
        assert '<html lang="en"' in client.get(LOGIN, headers={"accept-language": "en-GB"}).content.decode()
        assert '<html lang="zh-hans"' in client.get(LOGIN).content.decode()


@pytest.fixture
def few_attempts(settings):
    settings.AXES_FAILURE_LIMIT = 2


@pytest.mark.usefixtures("few_attempts")
class TestThrottle:
    def test_too_many_failures_pause_the_log_in_even_with_the_right_password(self, client):
        user = builders.teacher()
        try_login(client, user.username)
        locked = try_login(client, user.username)
        assert locked.status_code == 429
        assert "registration/locked.html" in [template.name for template in locked.templates]
        assert try_login(client, user.username, builders.PASSWORD).status_code == 429

    def test_locked_page_says_how_long_to_wait(self, client):
        for _ in range(2):
            locked = client.post(LOGIN, {"username": "x", "password": "y"}, headers={"accept-language": "en"})
        assert re.search(r"Try again in 15 minutes, at \d\d:\d\d", locked.content.decode())

    def test_other_spellings_of_the_name_share_the_count(self, client):
        user = builders.teacher(name="teacher")
        try_login(client, "ｔｅａｃｈｅｒ")
        try_login(client, " teacher ")
        assert try_login(client, user.username, builders.PASSWORD).status_code == 429

    def test_another_teacher_of_the_same_address_is_not_locked(self, client):
        other = builders.teacher()
        for _ in range(2):
            try_login(client, "somebody")
        assert try_login(client, other.username, builders.PASSWORD).status_code == 302

    def test_success_clears_the_count(self, client):
        user = builders.teacher()
        for password in ("wrong", builders.PASSWORD, "wrong"):
            client.post("/accounts/logout/")
            last = try_login(client, user.username, password)
        assert last.status_code == 200

    def test_administration_shares_the_count(self, client):
        user = builders.teacher()
        for _ in range(2):
            locked = try_login(client, user.username, address="/admin/login/")
        assert locked.status_code == 429
        assert try_login(client, user.username, builders.PASSWORD).status_code == 429

    @pytest.mark.django_db(transaction=True)
    async def test_log_in_over_asgi_is_paused_too(self):
        client = AsyncClient()
        for _ in range(2):
            locked = await client.post(LOGIN, {"username": "x", "password": "y"})
        assert locked.status_code == 429
        assert "registration/locked.html" in [template.name for template in locked.templates]


class TestHeaders:
    @pytest.mark.parametrize("address", [LOGIN, "/settings/", "/admin/login/", "/nowhere/"])
    def test_every_page_forbids_foreign_and_inline_code(self, address):
        response = sign_in(builders.teacher()).get(address)
        policy = response["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response["X-Frame-Options"] == "DENY"

    @pytest.mark.parametrize("address", [LOGIN, "/settings/"])
    def test_pages_hold_no_inline_code_or_style(self, address):
        page = sign_in(builders.teacher()).get(address).content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page)

    def test_personal_pages_are_kept_by_no_cache(self):
        response = sign_in(builders.teacher()).get("/settings/")
        assert "no-store" in response["Cache-Control"]
        assert response["X-Robots-Tag"] == "noindex, nofollow"

    def test_what_a_view_decides_about_caching_stands(self):
        middleware = HeadersMiddleware(lambda request: HttpResponse(headers={"Cache-Control": "max-age=60"}))
        assert middleware(RequestFactory().get("/"))["Cache-Control"] == "max-age=60"

    def test_pages_that_name_no_icon_still_get_ours(self, client):
        assert client.get("/favicon.ico")["Location"] == "/static/img/favicon.svg"

    def test_administration_bears_the_products_name(self, client):
        assert "记得 · 管理" in client.get("/admin/login/").content.decode()

    def test_htmx_comes_from_this_server_and_may_not_evaluate_strings(self, client):
        page = client.get(LOGIN).content.decode()
        assert re.search(r'<script src="/static/django_htmx/htmx-2[^"]*" defer></script>', page)
        assert '"allowEval": false' in page


class TestErrorPages:
    def test_missing_page_is_calm_and_keeps_the_frame(self):
        response = sign_in(builders.teacher()).get("/nowhere/")
        assert response.status_code == 404
        assert 'id="main"' in response.content.decode()

    def test_server_error_page_needs_no_row(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            response = server_error(RequestFactory().get("/"))
        assert response.status_code == 500
        assert 'id="main"' in response.content.decode()

    def test_form_without_its_token_gets_a_page_in_words(self):
        client = Client(enforce_csrf_checks=True)
        response = client.post(LOGIN, {"username": "x", "password": "y"}, headers={"accept-language": "en"})
        assert response.status_code == 403
        assert "The form was too old" in response.content.decode()

    @pytest.mark.parametrize("name", ["400.html", "403.html", "404.html", "500.html"])
    def test_error_pages_can_be_rendered_without_a_request(self, name):
        assert "</html>" in render_to_string(name)


class TestSchools:
    def test_switch_is_offered_to_a_member_of_several(self):
        user = builders.teacher()
        assert "school-menu" not in sign_in(user).get("/settings/").content.decode()
        Membership.objects.create(tenant=builders.tenant(), user=user)
        assert "school-menu" in sign_in(user).get("/settings/").content.decode()

    def test_switching_changes_the_current_school(self):
        user, second = builders.teacher(), builders.tenant()
        Membership.objects.create(tenant=second, user=user)
        client = sign_in(user)
        assert client.post("/tenants/switch/", {"tenant": second.id}).status_code == 302
        assert client.get("/settings/").context["school"] == second

    @pytest.mark.parametrize("which", ["foreign", "missing", "none", "unreadable"])
    def test_foreign_school_is_answered_like_a_missing_one(self, which):
        user = builders.teacher()
        tenant_id = {"foreign": builders.tenant().id, "missing": "tn_nowhere", "none": "", "unreadable": "tn_\0"}[which]
        assert sign_in(user).post("/tenants/switch/", {"tenant": tenant_id}).status_code == 404
        assert not Preference.objects.filter(user=user).exists()

    def test_school_that_one_has_left_is_current_no_more(self):
        first = builders.tenant()
        user, second = builders.teacher(first), builders.tenant()
        Preference.objects.create(user=user, tenant=second)
        assert sign_in(user).get("/settings/").context["school"] == first

    def test_switching_is_a_post_of_somebody_who_is_logged_in(self, client):
        assert client.post("/tenants/switch/", {"tenant": "tn_x"})["Location"].startswith(LOGIN)
        assert sign_in(builders.teacher()).get("/tenants/switch/").status_code == 405


class TestPreferenceMiddleware:
    def test_reads_preference_and_schools_in_one_query(self, django_assert_num_queries):
        user = builders.teacher()
        Preference.objects.create(user=user, theme="dark")
        request = RequestFactory().get("/")
        request.user = user
        with django_assert_num_queries(1):
            standing = standing_of(request)
        assert (standing.preference.theme, standing.tenant) == ("dark", builders.school_of(user))

    def test_user_without_a_school_still_has_a_preference(self, django_user_model):
        user = django_user_model.objects.create_superuser("root", password=builders.PASSWORD)
        Preference.objects.create(user=user, language="en")
        response = sign_in(user).get("/settings/")
        assert '<html lang="en"' in response.content.decode()
        assert response.context["school"] is None

    def test_anonymous_page_asks_the_database_nothing(self, client, django_assert_num_queries):
        with django_assert_num_queries(0):
            client.get(LOGIN)

    def test_static_file_asks_the_database_nothing(self, django_assert_num_queries):
        client = sign_in(builders.teacher())
        with django_assert_num_queries(0):
            response = client.get("/static/css/variables.css")
        assert response.status_code == 200

    def test_time_zone_that_is_gone_falls_back_to_the_servers(self):
        user = builders.teacher()
        Preference.objects.create(user=user, time_zone="Mars/Olympus")
        assert sign_in(user).get("/settings/").status_code == 200

    def test_no_middleware_forces_async_views_off_the_event_loop(self, settings):
        assert [name for name in settings.MIDDLEWARE if not import_string(name).async_capable] == []

    @pytest.mark.django_db(transaction=True)
    async def test_async_view_finds_user_and_school_without_another_hop(self):
        async def view(request: HttpRequest) -> HttpResponse:
            user = await request.auser()
            return HttpResponse(f"{user.username} {request.tenant} {request.user.is_authenticated}")

        school = await sync_to_async(builders.tenant)("第一中学")
        user = await sync_to_async(builders.teacher)(school, "li")
        client = AsyncClient()
        await client.aforce_login(user)
        request = (await client.get("/nowhere/")).asgi_request
        response = await PreferenceMiddleware(view)(request)
        assert response.content.decode() == "li 第一中学 True"
