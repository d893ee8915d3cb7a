"""What a body must be: everything else is refused with the field's name, and nothing is stored."""

import json

from django.test import override_settings

from chat.models import Run, Thread
from tests.api.cases import ApiCase

LIMIT = 1024 * 1024


class BodyTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = f"/agents/{self.agent.pk}/run"

    async def refused(self, body: object, code: str, field: str, *, path: str = "", **headers: str) -> None:
        response = await self.post(path or self.path, body, **headers)
        self.assertEqual(self.error_of(response, 400), code)
        self.assertIn(field, response.json()["error"]["message"])
        self.assertEqual([await Thread.objects.acount(), await Run.objects.acount()], [0, 0])

    async def test_what_is_no_json_object_is_refused(self) -> None:
        wrong = {
            "empty": b"",
            "text": b"input=1",
            "list": b'["input"]',
            "string": b'"input"',
            "null": b"null",
            "trailing": b'{"input": "a"} {"input": "b"}',
            "comma": b'{"input": "a",}',
            "nan": b'{"input": NaN}',
            "infinity": b'{"input": "a", "mode": -Infinity}',
            "twice": b'{"input": "a", "input": "b"}',
            "twice inside": b'{"input": "a", "context": {"run_id": null, "run_id": null}}',
            "deep": b'{"input": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
            "not utf-8": b'{"input": "\xff"}',
            "utf-16": '{"input": "a"}'.encode("utf-16"),
            "byte order mark": b'\xef\xbb\xbf{"input": "a"}',
            "long number": b'{"input": ' + b"1" * 10_000 + b"}",
            "control character": b'{"input": "a\nb"}',
        }
        for name, body in wrong.items():
            with self.subTest(name):
                await self.refused(body, "invalid_body", "body")

    async def test_wrong_types_are_named(self) -> None:
        for field, values in {
            "input": (None, 1, True, 1.5, [], {}),
            "thread_id": (1, False, [], {}, ""),
            "mode": (1, True, [], {}),
            "incognito": (None, 0, 1, "true", [], {}),
            "context": (1, "run_x", True, []),
        }.items():
            for value in values:
                with self.subTest(field=field, value=value):
                    await self.refused({"input": "出题"} | {field: value}, "invalid_field", field)

    async def test_wrong_type_inside_the_context_is_named(self) -> None:
        await self.refused({"input": "出题", "context": {"run_id": 7}}, "invalid_field", "context.run_id")

    async def test_missing_input_is_named(self) -> None:
        await self.refused({"mode": "exam"}, "invalid_field", "input")

    async def test_unknown_fields_are_named(self) -> None:
        await self.refused({"input": "出题", "user_id": 1}, "invalid_field", "user_id")
        await self.refused({"input": "出题", "context": {"tenant": "tn_x"}}, "invalid_field", "context.tenant")
        await self.refused({"input": "出题", "\ud800": 1}, "invalid_field", "\\ud800")

    async def test_characters_that_cannot_be_stored_are_refused(self) -> None:
        for value in ("a\x00b", "\ud83d", "\udc00\ud800"):
            for field in ("input", "thread_id", "mode"):
                with self.subTest(field=field, value=ascii(value)):
                    await self.refused({"input": "出题"} | {field: value}, "invalid_field", field)

    async def test_characters_outside_the_first_plane_are_accepted(self) -> None:
        response = await self.ask("表情 😀 和 𠮷")
        assert response.status_code == 200
        assert (await Run.objects.aget()).input == "表情 😀 和 𠮷"

    async def test_body_over_a_mebibyte_is_refused(self) -> None:
        await self.refused({"input": "a" * 2 * LIMIT}, "body_too_large", "body")

    async def test_body_of_exactly_the_limit_is_read(self) -> None:
        frame = len(json.dumps({"input": ""}))
        response = await self.post(self.path, {"input": "a" * (LIMIT - frame)})
        assert self.error_of(response, 400) == "input_too_long"
        await self.refused({"input": "a" * (LIMIT - frame + 1)}, "body_too_large", "body")

    async def test_other_content_types_are_refused(self) -> None:
        for content_type in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json; charset=gb18030",
            "",
        ):
            with self.subTest(content_type):
                response = await self.http.post(self.path, b'{"input": "a"}', content_type=content_type, headers=self.headers)
                assert self.error_of(response, 400) == "invalid_body"

    async def test_calls_without_fields_take_an_empty_body_only(self) -> None:
        for path in ("/threads/th_x/archive", "/threads/th_x/unarchive", "/runs/run_x/stop"):
            with self.subTest(path):
                await self.refused({"status": "active"}, "invalid_field", "status", path=path)
                await self.refused(b"nonsense", "invalid_body", "body", path=path)

    async def test_empty_text_is_refused(self) -> None:
        await self.refused({"input": " \n\t　"}, "input_empty", "input")

    @override_settings(INPUT_MAX_CHARS=10)
    async def test_long_text_is_refused(self) -> None:
        await self.refused({"input": "超" * 11}, "input_too_long", "input")


class NotYetTests(ApiCase):
    async def refusal(self, path: str, **fields: object) -> str:
        response = await self.post(f"/agents/{self.agent.pk}/{path}", {"input": "出题"} | fields)
        code = self.error_of(response, 400)
        self.assertEqual(await Run.objects.acount(), 0)
        return code

    async def test_continuing_is_refused_by_the_code_of_the_path(self) -> None:
        assert await self.refusal("run", context={"run_id": "run_x"}) == "continue_needs_stream"
        assert await self.refusal("run/stream", context={"run_id": "run_x"}) == "continue_not_ready"

    async def test_what_asks_for_nothing_special_is_accepted(self) -> None:
        response = await self.ask(incognito=False, context={}, thread_id=None, mode=None)
        assert response.json()["status"] == "completed"
