"""Core memory as a file: what it holds, what becomes of one that is brought in, and what is said about it."""

import json
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.utils import timezone

from chat.models import Candidate, Fact, Membership
from tests.views.test_memory import MEMORY, PanelCase


class FileCase(PanelCase):
    def bring_in(self, content: object) -> HttpResponse:
        data = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
        return self.client.post("/memory/import/", {"file": SimpleUploadedFile("memory.json", data, "application/json")}, follow=True)

    def file_of(self, *candidates: dict[str, object]) -> dict[str, object]:
        return {"format": "core-memory", "version": 1, "candidates": list(candidates)}


class ExportTests(FileCase):
    def test_file_holds_the_memory_in_words(self) -> None:
        fact, row = self.fact(), self.candidate()
        response = self.client.get("/memory/export.json")
        text = response.content.decode()
        assert response["Content-Disposition"].startswith("attachment") and response["Content-Type"].startswith("application/json")
        assert fact.text in text and row.text in text and json.loads(text)["version"] == 1

    def test_file_holds_nothing_of_others(self) -> None:
        self.fact("青竹七号")
        assert "青竹七号" not in self.colleague().get("/memory/export.json").content.decode()

    def test_teacher_without_a_school_has_no_file(self) -> None:
        Membership.objects.filter(user=self.user).delete()
        assert self.client.get("/memory/export.json").status_code == 404


class ImportTests(FileCase):
    def test_what_was_saved_waits_again_with_its_age_wherever_it_is_brought_in(self) -> None:
        self.fact("我教高二数据结构", created_at=timezone.now() - timedelta(weeks=6))
        saved = self.client.get("/memory/export.json").content
        Fact.objects.all().delete()
        page = self.bring_in(saved).content.decode()
        assert "1 waits for your yes now." in page and "6 weeks ago" in page and "imported" in page
        assert not Fact.objects.exists()

    def test_private_item_is_named_with_its_rule_and_the_rest_is_taken(self) -> None:
        page = self.bring_in(self.file_of({"text": "我教高二"}, {"text": "身份证11010519491231002X"}, {"text": ""})).content.decode()
        assert "1 waits for your yes now." in page
        assert "Not taken: candidates 2 holds something private (rule: " in page and "candidates 3 has no wording" in page
        assert "11010519491231002X" not in page and Candidate.objects.count() == 1

    def test_bad_file_is_refused_with_its_place(self) -> None:
        for content, words in ((b"[1,\n2", "not JSON (line 2)"), ({"a": 1}, "not a memory file"), (b"\xff", "not UTF-8 text (line 1)")):
            response = self.bring_in(content)
            assert response.status_code == 422 and words in response.content.decode(), content

    def test_form_without_a_file_says_so(self) -> None:
        response = self.client.post("/memory/import/")
        assert response.status_code == 422 and "Choose a file first." in response.content.decode()

    def test_panel_offers_both(self) -> None:
        page = self.page(MEMORY)
        assert 'href="/memory/export.json"' in page and 'action="/memory/import/"' in page
