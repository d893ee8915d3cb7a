"""The knowledge base: lists, upload, one document, and the sources of an answer."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, override_settings

from chat.models import Document, Membership, Passage, Run, RunLedger, Work
from tests import builders
from tests.views.test_chat import ChatCase

HTMX = {"HX-Request": "true"}


def text_file(name: str = "讲义.txt", text: str = "栈是后进先出的线性表。") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode(), content_type="text/plain")


class KnowledgeCase(ChatCase):
    def upload(self, *files: SimpleUploadedFile, client: Client | None = None, **more: Any) -> HttpResponse:
        headers = more.pop("headers", None)
        return (client or self.client).post("/knowledge/upload/", {"file": list(files), "agent": self.agent.pk} | more, headers=headers)

    def make_administrator(self) -> None:
        Membership.objects.filter(user=self.user).update(role="admin")

    def school_document(self, texts: tuple[str, ...] = ("校历",), **fields: Any) -> Document:
        keeper = builders.teacher(self.agent.tenant, role="admin")
        return builders.document(None, texts, tenant=self.agent.tenant, uploaded_by=keeper, **fields)


class ListTests(KnowledgeCase):
    def test_empty_page_teaches(self) -> None:
        page = self.page("/knowledge/")
        assert "marks such as [1]" in page and 'id="upload"' in page and "at most 20 MB" in page

    def test_row_says_what_the_document_is(self) -> None:
        builders.document(self.user, ["甲", "乙"], name="栈.pdf", size=2_400_000, agents=[self.agent], version=3)
        page = self.page("/knowledge/")
        for words in ("栈.pdf", "PDF", "2.3\xa0MB", "2 passages", "version 3", self.agent.name, "Ready", "uploaded"):
            assert words in page, words

    def test_states_are_words_with_a_bar_and_a_way_out(self) -> None:
        builders.document(self.user, name="等.txt", state="waiting")
        builders.document(self.user, name="读.pdf", state="reading", parts_done=12, parts_total=200)
        builders.document(self.user, name="扫.pdf", state="failed", error_code="scanned")
        page = self.page("/knowledge/")
        assert "Waiting to be read" in page and "Being read: page 12 of 200" in page and 'max="200" value="12"' in page
        assert "pictures without text" in page and "Let a program recognise the text" in page and "data-going" in page

    def test_every_failure_has_a_sentence_of_its_own(self) -> None:
        from chat.library.cards import FAILURES
        from typing import get_args
        from chat.documents.base import ErrorCode

        assert set(get_args(ErrorCode)) <= set(FAILURES)
