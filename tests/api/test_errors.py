"""Whatever goes wrong below the API's paths answers as JSON."""

from unittest.mock import patch

from django.db import OperationalError
from django.test import AsyncClient

from chat.api import agents
from tests.api.cases import ApiCase


class ErrorTests(ApiCase):
    async def test_unknown_paths_are_not_found(self) -> None:
        for path in (
            "/agents/",
            "/agents/x",
            "/agents/x/y/z",
            "/threads",
            "/threads/th_x/y",
            "/threads/a%00b/runs",
            "/threads/中/runs",
            "/runs/run_x/halt",
            "/runs",
        ):
            for call in (self.get, self.post):
                with self.subTest(path=path, call=call.__name__):
                    assert self.error_of(await call(path), 404) == "not_found"

    async def test_unknown_path_needs_no_csrf_token_to_be_unknown(self) -> None:
        response = await AsyncClient(enforce_csrf_checks=True).post("/threads/x/y")
        assert self.error_of(response, 404) == "not_found"

    async def test_wrong_method_is_told_the_right_ones(self) -> None:
        for path, allowed in {
            "/agents": "GET",
            "/agents/ag_x/run": "POST",
            "/threads/th_x/runs": "GET",
            "/healthz": "GET",
            "/metrics": "GET",
        }.items():
            for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "POST" if allowed == "GET" else "GET"):
                with self.subTest(path=path, method=method):
                    response = await self.http.generic(method, path, headers=self.headers)
                    assert self.error_of(response, 405) == "method_not_allowed"
                    assert response["Allow"] == allowed

    async def test_head_answers_like_get(self) -> None:
        response = await self.http.head("/agents", headers=self.headers)
        assert (response.status_code, response.content) == (200, b"")

    async def test_wrong_host_is_json(self) -> None:
        response = await self.http.get("/agents", headers=self.headers | {"Host": "evil.example"})
        assert self.error_of(response, 400) == "bad_request"

    async def test_failure_inside_is_json_and_tells_nothing(self) -> None:
        with patch.object(agents, "_agents", side_effect=OperationalError("table of secrets")), self.assertLogs("django.request", "ERROR"):
            response = await self.get("/agents")
        assert self.error_of(response, 500) == "internal"
        assert "secrets" not in response.content.decode()

    async def test_pages_keep_their_own_errors(self) -> None:
        response = await self.http.get("/no-such-page/")
        assert response.status_code == 404 and response["Content-Type"].startswith("text/html")
