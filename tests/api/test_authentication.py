"""Who may call: bearer tokens, sessions, CSRF."""

from datetime import timedelta

from django.test import AsyncClient
from django.utils import timezone

from chat.models import ApiToken, Preference, Thread
from tests import builders
from tests.api.cases import ApiCase


class TokenTests(ApiCase):
    async def test_token_opens_the_api(self) -> None:
        response = await self.get("/agents")
        assert [one["id"] for one in response.json()["agents"]] == [self.agent.pk]

    async def test_anonymous_call_is_told_how_to_log_in(self) -> None:
        response = await AsyncClient().get("/agents")
        assert self.error_of(response, 401) == "not_authenticated"
        assert response["WWW-Authenticate"].startswith("Bearer")

    async def test_wrong_headers_are_refused(self) -> None:
        for header in (
            "Bearer",
            "Bearer ",
            "Bearer nope",
            f"Basic {self.token}",
            self.token,
            "Bearer " + "x" * 5_000,
            "Bearer ä",
            f"Bearer {self.token}x",
        ):
            with self.subTest(header=header[:20]):
                assert self.error_of(await self.get("/agents", Authorization=header), 401) == "not_authenticated"

    async def test_revoked_token_is_refused(self) -> None:
        await ApiToken.objects.aupdate(revoked_at=timezone.now())
        assert self.error_of(await self.get("/agents"), 401) == "not_authenticated"

    async def test_token_of_a_deactivated_user_is_refused(self) -> None:
        await type(self.user).objects.aupdate(is_active=False)
        assert self.error_of(await self.get("/agents"), 401) == "not_authenticated"

    async def test_wrong_token_is_not_saved_by_a_session(self) -> None:
        await self.http.aforce_login(self.user)
        assert self.error_of(await self.get("/agents", Authorization="Bearer nope"), 401) == "not_authenticated"

    async def test_use_is_noted_once_a_minute(self) -> None:
        await self.get("/agents")
        await self.token_row.arefresh_from_db()
        first = self.token_row.last_used_at
        await self.get("/agents")
        await self.token_row.arefresh_from_db()
        assert first is not None and self.token_row.last_used_at == first

    async def test_use_after_a_minute_is_noted_again(self) -> None:
        earlier = timezone.now() - timedelta(minutes=2)
        await ApiToken.objects.aupdate(last_used_at=earlier)
        await self.get("/agents")
        await self.token_row.arefresh_from_db()
        assert self.token_row.last_used_at > earlier

    async def test_messages_follow_the_callers_preference(self) -> None:
        await Preference.objects.acreate(user=self.user, language="zh-hans")
        chinese = await self.get("/threads/th_none/runs")
        await Preference.objects.aupdate(language="en")
        english = await self.get("/threads/th_none/runs", **{"Accept-Language": "zh-CN"})
        assert english.json()["error"]["message"] == "This does not exist."
        assert (chinese["Content-Language"], english["Content-Language"]) == ("zh-hans", "en")


class SessionTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent)
        self.browser = AsyncClient(enforce_csrf_checks=True)

    async def archive(self, **headers: str) -> object:
        return await self.browser.post(f"/threads/{self.thread.pk}/archive", b"", content_type="application/json", headers=headers)

    async def test_session_reads(self) -> None:
        await self.browser.aforce_login(self.user)
        assert (await self.browser.get("/agents")).status_code == 200

    async def test_session_without_csrf_token_changes_nothing(self) -> None:
        await self.browser.aforce_login(self.user)
        assert self.error_of(await self.archive(), 403) == "csrf_failed"
        assert (await Thread.objects.aget()).status == "active"

    async def test_session_with_csrf_token_changes(self) -> None:
        await self.browser.aforce_login(self.user)
        await self.browser.get("/accounts/login/")
        secret = "a" * 32
        self.browser.cookies["csrftoken"] = secret
        assert (await self.archive(**{"X-CSRFToken": secret})).status_code == 200

    async def test_token_needs_no_csrf_token(self) -> None:
        assert (await self.archive(Authorization=f"Bearer {self.token}")).status_code == 200
