"""Whatever a caller sends, the answer is a clear one: never a 500, and nothing stored by what is refused."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import override_settings
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.models import Run, Thread
from tests.api.cases import ApiCase
from tests.fakes import ScriptedProvider, scripted

# Surrogates too: JSON can write half of a pair.
TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=20) | st.sampled_from(["", "\0", "\ud800", "th_x", "出题"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["input", "thread_id", "mode", "incognito", "context", "run_id", "user_id"]) | TEXTS
OBJECTS = st.dictionaries(NAMES, VALUES | st.fixed_dictionaries({"run_id": VALUES}), max_size=5)
NEARLY_GOOD = st.fixed_dictionaries(
    {"input": TEXTS}, optional={"thread_id": VALUES, "mode": VALUES, "incognito": VALUES, "context": VALUES}
)
BODIES = st.binary(max_size=60) | (OBJECTS | NEARLY_GOOD | VALUES).map(lambda value: json.dumps(value).encode())

many = settings(max_examples=80, deadline=None, database=None, derandomize=True)


@override_settings(RUNS_PER_MINUTE=100_000)
class FuzzTests(ApiCase):
    def stored(self) -> tuple[int, int]:
        return Thread.objects.count(), Run.objects.count()

    def sent(self, path: str, raw: bytes, **headers: str) -> HttpResponse:
        async def call() -> HttpResponse:
            with scripted(ScriptedProvider()):
                response: Any = await self.post(f"/agents/{self.agent.pk}/{path}", raw, **headers)
                if response.streaming:
                    assert [part async for part in response]
                return response

        return async_to_sync(call)()

    def answered(self, path: str, raw: bytes, **headers: str) -> None:
        before = self.stored()
        response = self.sent(path, raw, **headers)
        if response.status_code == 200:
            assert self.stored() == (before[0] + 1, before[1] + 1)
        else:
            assert response.status_code in (400, 404)
            assert self.error_of(response, response.status_code)
            assert self.stored() == before

    def test_any_body_on_both_paths(self) -> None:
        @many
        @given(st.sampled_from(["run", "run/stream"]), BODIES)
        @example("run", b'{"input": "\\ud83d\\ude00"}')
        def check(path: str, raw: bytes) -> None:
            self.answered(path, raw)

        check()

    def test_any_query_of_the_lists(self) -> None:
        @many
        @given(st.sampled_from(["limit", "cursor", "status", "q"]), st.text(max_size=30))
        @example("cursor", "OTk5OTk5OTk5OTk5OTk5OTk5OnRo")
        @example("q", "%\\_")
        def check(name: str, value: str) -> None:
            response = async_to_sync(self.get)(f"/agents/{self.agent.pk}/threads", {name: value})
            assert response.status_code in (200, 400)

        check()

    def test_any_id_in_the_address(self) -> None:
        @many
        @given(st.text(min_size=1, max_size=30))
        def check(name: str) -> None:
            from_path = async_to_sync(self.http.get)("/threads/" + name.replace("?", "").replace("#", "") + "/runs", headers=self.headers)
            assert from_path.status_code in (404, 405)

        check()
