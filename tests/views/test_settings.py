"""The settings page: language, theme, time zone, password, API tokens."""

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from chat.forms import TOKENS_MAX, time_zone_names
from chat.memory.switches import off_by
from chat.models import ApiToken, Owner, Preference, Tenant
from chat.models.tenancy import token_digest
from tests import builders

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
PREFERENCES = {"language": "", "theme": "system", "time_zone": ""}


@pytest.fixture
def teacher():
    return builders.teacher()


@pytest.fixture
def page(teacher):
    client = Client()
    client.force_login(teacher)
    return client


def save(page, **values):
    return page.post("/settings/preferences/", PREFERENCES | values, follow=True)


class TestPreferences:
    def test_language_takes_effect_at_once_and_over_the_browsers(self, page):
        response = save(page, language="en")
        assert '<html lang="en"' in response.content.decode()
        assert "The settings are saved." in response.content.decode()
        assert '<html lang="en"' in page.get("/settings/", headers={"accept-language": "zh-CN"}).content.decode()

    def test_language_of_the_browser_is_back_when_the_choice_is_given_up(self, page):
        page.post("/language/", {"language": "en"})
        save(page, language="en")
        assert '<html lang="zh-hans"' in save(page, language="").content.decode()

    @pytest.mark.parametrize("theme", ["light", "dark", "system"])
    def test_theme_is_a_mark_on_the_page(self, page, theme):
        assert f'data-theme="{theme}"' in save(page, theme=theme).content.decode()

    def test_choices_begin_alike(self, page):
        fields = save(page, language="en").context["preference_form"].fields
        assert [fields[name].choices[0][1] for name in ("language", "theme")] == ["As the browser asks", "Like the system"]

    def test_time_zone_moves_the_times_of_the_page(self, page, teacher):
        token, _text = ApiToken.objects.issue(teacher, "marks")
        ApiToken.objects.filter(pk=token.pk).update(created_at=datetime(2020, 1, 1, 20, 0, tzinfo=UTC))
        save(page, language="en", time_zone="Asia/Shanghai")
        assert "2 Jan 2020" in page.get("/settings/").content.decode()
        save(page, language="en", time_zone="America/New_York")
        assert "1 Jan 2020" in page.get("/settings/").content.decode()

    def test_unknown_time_zone_is_refused_by_name(self, page, teacher):
        response = save(page, language="en", time_zone="Mars/Olympus", theme="dark")
        assert "Mars/Olympus" in str(response.context["preference_form"].errors["time_zone"])
        assert not Preference.objects.filter(user=teacher).exists()
        assert 'data-theme="system"' in response.content.decode()

    def test_list_of_time_zones_holds_places_that_exist(self):
        names = time_zone_names()
        assert {"Asia/Shanghai", "Asia/Urumqi", "UTC"} <= set(names)
        assert "Etc/GMT+8" not in names

    def test_saving_leaves_the_school_alone(self, page, teacher):
        school = builders.school_of(teacher)
        Preference.objects.create(user=teacher, tenant=school)
        save(page, theme="dark")
        assert Preference.objects.get(user=teacher).tenant == school


class TestPassword:
    def change(self, page, old, new):
        return page.post("/settings/password/", {"old_password": old, "new_password1": new, "new_password2": new}, follow=True)

    def test_new_password_works_and_this_device_stays_logged_in(self, page, teacher):
        self.change(page, builders.PASSWORD, "another long sentence")
        assert page.get("/settings/").status_code == 200
        teacher.refresh_from_db()
        assert teacher.check_password("another long sentence")

    def test_other_devices_are_logged_out(self, page, teacher):
        other = Client()
        other.force_login(teacher)
        self.change(page, builders.PASSWORD, "another long sentence")
        assert other.get("/settings/").status_code == 302

    @pytest.mark.parametrize(("old", "new"), [("wrong", "another long sentence"), (builders.PASSWORD, "12345678")])
    def test_wrong_old_or_weak_new_password_changes_nothing(self, page, teacher, old, new):
        response = self.change(page, old, new)
        assert response.context["password_form"].errors
        teacher.refresh_from_db()
        assert teacher.check_password(builders.PASSWORD)


class TestTokens:
    def make(self, page, name="marks", **headers):
        return page.post("/settings/tokens/", {"name": name}, headers=headers)

    def text_in(self, response):
        found = re.search(r"mem_[\w-]{40,}", response.content.decode())
        return found and found[0]

    def test_token_is_shown_once_and_only_its_hash_is_stored(self, page, teacher):
        text = self.text_in(self.make(page))
        token = ApiToken.objects.get(user=teacher)
        assert token.digest == token_digest(text)
        assert text not in str(token.__dict__)
        assert self.text_in(page.get("/settings/")) is None
        assert text not in str(dict(page.session))

    def test_htmx_gets_the_list_alone(self, page):
        response = self.make(page, **HTMX)
        assert response.content.decode().lstrip().startswith('<section class="card" id="tokens"')
        assert "HX-Request" in response["Vary"]
        assert self.text_in(response)

    def test_revoked_token_is_unusable_and_gone_from_the_list(self, page, teacher):
        token, _text = ApiToken.objects.issue(teacher, "old script")
        response = page.post(f"/settings/tokens/{token.id}/revoke/", follow=True)
        assert not ApiToken.objects.usable().exists()
        assert not response.context["tokens"]

    def test_after_revoking_by_htmx_the_focus_goes_to_what_was_done(self, page, teacher):
        token, _text = ApiToken.objects.issue(teacher, "old script")
        response = page.post(f"/settings/tokens/{token.id}/revoke/", headers=HTMX)
        assert re.search(r"autofocus>[^<]*old script", response.content.decode())

    def test_token_of_another_teacher_is_answered_like_a_missing_one(self, page):
        token, _text = ApiToken.objects.issue(builders.teacher(), "foreign")
        assert page.post(f"/settings/tokens/{token.id}/revoke/").status_code == 404
        assert page.post("/settings/tokens/tok_nowhere/revoke/").status_code == 404
        assert ApiToken.objects.usable().get() == token
        assert "foreign" not in page.get("/settings/").content.decode()

    def test_token_needs_a_name(self, page):
        assert self.make(page, name=" ").context["token_form"].errors["name"]
        assert not ApiToken.objects.exists()

    def test_number_of_tokens_is_limited_and_the_way_out_named(self, page, teacher):
        page.post("/settings/preferences/", PREFERENCES | {"language": "en"})
        for number in range(TOKENS_MAX):
            ApiToken.objects.issue(teacher, f"script {number}")
        assert "Revoke one of them first" in self.make(page).content.decode()
        assert ApiToken.objects.count() == TOKENS_MAX


@pytest.mark.parametrize(
    "address", ["/settings/preferences/", "/settings/memory/", "/settings/password/", "/settings/tokens/", "/settings/tokens/tok_x/revoke/"]
)
def test_every_change_is_a_post_of_somebody_who_is_logged_in(client, page, address):
    assert page.get(address).status_code == 405
    assert client.post(address)["Location"].startswith("/accounts/login/")


def test_fragment_asked_for_after_the_session_ended_reloads_its_page(client):
    response = client.post("/settings/tokens/", {"name": "marks"}, headers=HTMX)
    assert (response.status_code, response["HX-Refresh"]) == (204, "true")


class TestMemorySwitch:
    def test_memory_is_switched_off_and_on_again(self, page, teacher):
        page.post("/settings/memory/", {"memory": "off"})
        assert off_by(owner_of(teacher)) == "teacher"
        assert 'data-off-by="teacher"' in page.get("/settings/").content.decode()
        page.post("/settings/memory/", {"memory": "on"})
        assert off_by(owner_of(teacher)) == ""

    def test_the_page_says_when_the_school_has_switched_it_off(self, page, teacher):
        save(page, language="en")
        Tenant.objects.update(has_memory=False)
        html = page.get("/settings/").content.decode()
        assert f"{builders.school_of(teacher).name} has switched memory off for everybody" in html
        assert "summary and its last rounds" in html

    def test_saving_other_settings_leaves_it_off(self, page, teacher):
        page.post("/settings/memory/", {"memory": "off"})
        save(page, theme="dark")
        assert off_by(owner_of(teacher)) == "teacher"

    def test_the_panel_has_the_switch_and_gets_its_teacher_back(self, page):
        html = page.get("/memory/").content.decode()
        assert 'action="/settings/memory/"' in html and 'value="memory"' in html
        assert page.post("/settings/memory/", {"memory": "off", "back": "memory"})["Location"] == "/memory/"
        assert page.post("/settings/memory/", {"memory": "off", "back": "https://evil.example"})["Location"] == "/settings/"


def owner_of(teacher):
    return Owner(builders.school_of(teacher).pk, teacher.pk)


class TestTopics:
    def test_they_are_kept_a_line_each_and_shown_again(self, page, teacher):
        response = page.post("/settings/topics/", {"unwanted_topics": "  减肥 \r\n\r\n减肥\r\n家里的事"}, follow=True)
        assert Preference.objects.get(user=teacher).unwanted_topics == "减肥\n家里的事"
        assert "家里的事" in response.content.decode()
        assert "话题已保存" in response.content.decode()

    @pytest.mark.parametrize("text", ["\n".join(map(str, range(51))), "长" * 61])
    def test_too_many_and_too_long_ones_are_refused_with_what_was_typed(self, page, teacher, text):
        html = page.post("/settings/topics/", {"unwanted_topics": text}).content.decode()
        assert "最多 50 行，每行 60 字" in html
        assert text.split("\n")[-1] in html
        assert not Preference.objects.filter(user=teacher).exclude(unwanted_topics="").exists()

    def test_nothing_else_changes(self, page, teacher):
        Preference.objects.update_or_create(user=teacher, defaults={"theme": "dark", "has_memory": False})
        page.post("/settings/topics/", {"unwanted_topics": "减肥", "theme": "light", "has_memory": "on"})
        kept = Preference.objects.get(user=teacher)
        assert (kept.theme, kept.has_memory, kept.unwanted_topics) == ("dark", False, "减肥")
