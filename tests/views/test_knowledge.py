"""The knowledge base: its lists, one document, and what people do with it."""

import re
from typing import Any, get_args

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from chat.documents.base import ErrorCode
from chat.library.cards import FAILURES
from chat.library.shelves import PAGE_DOCUMENTS, PAGE_PASSAGES
from chat.library.uploads import UPLOADS_PER_MINUTE
from chat.models import Document, DocumentFile, Membership, Passage, Work
from tests import builders
from tests.views.test_chat import ChatCase

HTMX = {"HX-Request": "true"}
ROW = re.compile(r'data-document="(\w+)"')


def text_file(name: str = "讲义.txt", text: str = "栈是后进先出的线性表。") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode(), content_type="text/plain")


class KnowledgeCase(ChatCase):
    def upload(self, *files: SimpleUploadedFile, **more: Any) -> HttpResponse:
        headers = more.pop("headers", None)
        return self.client.post("/knowledge/upload/", {"file": list(files), "agent": self.agent.pk} | more, headers=headers)

    def make_administrator(self) -> None:
        Membership.objects.filter(user=self.user).update(role="admin")

    def school_document(self, texts: tuple[str, ...] = ("第十周期中考试",), **fields: Any) -> Document:
        keeper = builders.teacher(self.agent.tenant, role="admin")
        return builders.document(None, texts, tenant=self.agent.tenant, uploaded_by=keeper, **fields)

    def rows(self, **query: str) -> list[str]:
        return ROW.findall(self.client.get("/knowledge/", query).content.decode())


class ListTests(KnowledgeCase):
    def test_empty_page_teaches(self) -> None:
        page = self.page("/knowledge/")
        assert "marks such as [1]" in page and 'id="upload"' in page and "at most 20 MB" in page

    def test_row_says_what_the_document_is(self) -> None:
        builders.document(self.user, ["甲", "乙"], name="栈.pdf", size=2_400_000, agents=[self.agent], version=3)
        page = self.page("/knowledge/")
        for words in ("栈.pdf", "PDF", "2.3\xa0MB", "2 passages", "version 3", self.agent.name, "Ready", "uploaded just now"):
            assert words in page, words

    def test_states_are_words_with_a_bar_and_a_way_out(self) -> None:
        builders.document(self.user, name="等.txt", state="waiting")
        builders.document(self.user, name="读.pdf", state="reading", parts_done=12, parts_total=200)
        builders.document(self.user, name="扫.pdf", state="failed", error_code="scanned")
        page = self.page("/knowledge/")
        assert "Waiting to be read" in page and "Being read: page 12 of 200" in page and 'max="200" value="12"' in page
        assert "pictures without text" in page and "Let a program recognise the text" in page and "data-going" in page

    def test_every_failure_has_a_sentence_of_its_own(self) -> None:
        assert set(get_args(ErrorCode)) == set(FAILURES)

    def test_reading_again_is_offered_where_it_may_help(self) -> None:
        builders.document(self.user, state="failed", error_code="encrypted")
        assert 'data-action="retry-document"' not in self.page("/knowledge/")
        builders.document(self.user, state="failed", error_code="too_slow")
        assert 'data-action="retry-document"' in self.page("/knowledge/")

    def test_documents_of_the_school_are_read_only_for_teachers(self) -> None:
        document = self.school_document(agents=[self.agent])
        page = self.page("/knowledge/")
        assert document.name in page and "The administrators of the school keep these." in page and "by teacher" in page
        assert f"/knowledge/{document.pk}/delete/" not in page and 'value="school"' not in page

    def test_administrators_keep_those_of_the_school(self) -> None:
        self.make_administrator()
        document = self.school_document()
        page = self.page("/knowledge/")
        assert f"/knowledge/{document.pk}/delete/" in page and 'value="school"' in page

    def test_newer_version_that_is_not_ready_is_told_beside_the_used_one(self) -> None:
        used = builders.document(self.user, ["甲"], name="栈.txt")
        builders.document(self.user, name="栈新.txt", state="failed", error_code="broken", replaces=used, version=2, is_current=False)
        page = self.page("/knowledge/")
        assert self.rows() == [used.pk] and "Version 2 is not ready; until then this one is used." in page and "damaged" in page

    def test_filters_narrow_both_lists(self) -> None:
        stack = builders.document(self.user, name="栈_1.txt", agents=[self.agent])
        failed = builders.document(self.user, name="队列.txt", state="failed", error_code="broken")
        school = self.school_document(name="栈校历.txt")
        assert set(self.rows(q="栈")) == {stack.pk, school.pk}
        assert self.rows(q="栈_") == [stack.pk]
        assert self.rows(agent=self.agent.pk) == [stack.pk]
        assert self.rows(state="failed") == [failed.pk]
        assert "Nothing matches." in self.page("/knowledge/?q=nothing")
        assert len(self.rows(state="odd", page="²", shelf="x", agent="")) == 3

    def test_long_lists_are_turned(self) -> None:
        made = [builders.document(self.user, name=f"{number}.txt") for number in range(PAGE_DOCUMENTS + 2)]
        first = self.rows()
        assert len(first) == PAGE_DOCUMENTS and first[0] == made[-1].pk
        assert self.rows(shelf="own", page="2") == [made[1].pk, made[0].pk]

    def test_lists_take_few_queries_however_long_they_are(self) -> None:
        for number in range(8):
            builders.document(self.user, name=f"{number}.txt", agents=[self.agent])
            self.school_document(name=f"校{number}.txt", agents=[self.agent])
        with self.assertNumQueries(15):
            self.page("/knowledge/")
        with self.assertNumQueries(8):
            self.page("/knowledge/news/")

    def test_others_documents_are_not_listed(self) -> None:
        builders.document(builders.teacher(self.agent.tenant), name="同事.txt")
        builders.document(builders.teacher(), name="外校.txt")
        assert self.rows() == []

    def test_somebody_without_a_school_is_told_so(self) -> None:
        Membership.objects.filter(user=self.user).delete()
        assert "You belong to no school yet" in self.page("/knowledge/")


class NewsTests(KnowledgeCase):
    def seen(self) -> str:
        found = re.search(r'data-seen="(\w+)"', self.page("/knowledge/"))
        assert found is not None
        return found[1]

    def test_nothing_new_is_no_content(self) -> None:
        builders.document(self.user, state="reading")
        assert self.client.get("/knowledge/news/", {"seen": self.seen()}).status_code == 204

    def test_progress_and_the_end_are_news(self) -> None:
        document = builders.document(self.user, state="reading", parts_total=9)
        seen = self.seen()
        Document.objects.filter(pk=document.pk).update(parts_done=5)
        news = self.client.get("/knowledge/news/", {"seen": seen}).content.decode()
        assert news.strip().startswith('<div class="documents" id="documents"') and "part 5 of 9" in news and "data-going" in news
        Document.objects.filter(pk=document.pk).update(state="ready")
        assert "data-going" not in self.client.get("/knowledge/news/", {"seen": seen}).content.decode()

    def test_one_document_says_whether_it_has_changed(self) -> None:
        document = builders.document(self.user, state="reading")
        page = self.page(f"/knowledge/{document.pk}/")
        query = {"document": document.pk, "seen": re.search(r'data-seen="(\w+)"', page)[1]}  # type: ignore[index]
        assert self.client.get("/knowledge/news/", query).status_code == 204
        Document.objects.filter(pk=document.pk).update(state="ready")
        assert self.client.get("/knowledge/news/", query).status_code == 200
        assert self.colleague().get("/knowledge/news/", query).status_code == 404


class UploadTests(KnowledgeCase):
    def test_files_are_kept_for_the_chosen_assistants_and_wait_for_the_worker(self) -> None:
        response = self.upload(text_file(), text_file("第二.md", "# 队列"))
        assert response.status_code == 303 and response.headers["Location"] == "/knowledge/"
        documents = list(Document.objects.filter(user=self.user))
        assert {one.name for one in documents} == {"讲义.txt", "第二.md"}
        assert all(list(one.agents.all()) == [self.agent] and one.state == "waiting" for one in documents)
        assert Work.objects.filter(kind="document").count() == 2
        assert "2 files were uploaded" in self.page("/knowledge/")

    def test_one_refused_file_does_not_hold_up_the_others(self) -> None:
        self.upload(text_file("表.xlsx"), text_file(), text_file("空.txt", ""))
        assert [one.name for one in Document.objects.all()] == ["讲义.txt"]
        page = self.page("/knowledge/")
        assert "表.xlsx: Files of this kind cannot be read." in page and "1 file was uploaded" in page

    def test_script_gets_what_became_of_each_file(self) -> None:
        page = self.upload(text_file("表.xlsx"), text_file(), headers=HTMX).content.decode()
        assert 'data-outcome="refused" data-code="unsupported"' in page and 'data-outcome="kept"' in page
        assert f'href="/knowledge/{Document.objects.get().pk}/"' in page

    @override_settings(DOCUMENT_MAX_MB=1)
    def test_file_over_the_limit_is_refused_with_its_name_and_the_limit(self) -> None:
        page = self.upload(text_file("大.txt", "x" * 1_100_000), headers=HTMX).content.decode()
        assert "大.txt" in page and "larger than 1 MB" in page and not Document.objects.exists()

    def test_same_file_is_said_to_be_here_already(self) -> None:
        self.upload(text_file())
        assert "here already, as “讲义.txt”" in self.upload(text_file("又一份.txt"), headers=HTMX).content.decode()

    def test_many_files_in_a_minute_are_too_many(self) -> None:
        for number in range(UPLOADS_PER_MINUTE):
            builders.document(self.user, name=f"{number}.txt", content=str(number).encode())
        page = self.upload(text_file(), headers=HTMX).content.decode()
        assert 'data-code="too_fast"' in page and Document.objects.count() == UPLOADS_PER_MINUTE

    def test_only_administrators_upload_for_the_school(self) -> None:
        assert 'data-code="not_administrator"' in self.upload(text_file(), shelf="school", headers=HTMX).content.decode()
        self.make_administrator()
        self.upload(text_file(), shelf="school")
        document = Document.objects.get()
        assert document.user is None and document.uploaded_by == self.user

    def test_assistant_of_another_school_is_refused(self) -> None:
        strange = builders.agent(builders.tenant())
        assert 'data-code="agent_unknown"' in self.upload(text_file(), agent=strange.pk, headers=HTMX).content.decode()

    def test_form_without_a_file_says_so(self) -> None:
        assert "Choose a file first." in self.upload(headers=HTMX).content.decode()
        self.client.post("/knowledge/upload/", {"agent": self.agent.pk})
        assert "Choose a file first." in self.page("/knowledge/")

    def test_other_kinds_of_bodies_are_refused(self) -> None:
        for kind in ("application/json", "application/x-www-form-urlencoded"):
            assert self.client.post("/knowledge/upload/", "{}", content_type=kind).status_code == 415

    def test_form_needs_its_token(self) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(self.user)
        assert client.post("/knowledge/upload/", {"file": text_file()}).status_code == 403
        assert not Document.objects.exists()


class DocumentTests(KnowledgeCase):
    def test_shows_what_it_is_and_its_passages(self) -> None:
        document = builders.document(self.user, ["栈是线性表 <b>"], agents=[self.agent])
        Passage.objects.update(page=7, heading="第三章 > 栈")
        page = self.page(f"/knowledge/{document.pk}/")
        for words in (document.name, "page 7", "第三章 &gt; 栈", "栈是线性表 &lt;b&gt;", "Yours alone", self.agent.name):
            assert words in page, words

    def test_passages_of_a_markdown_file_are_shown_as_their_author_meant_them(self) -> None:
        document = builders.document(self.user, ["## 栈\n\n**后进**先出"], name="讲义.md", format="md")
        page = self.page(f"/knowledge/{document.pk}/")
        assert "<strong>后进</strong>先出" in page
        assert "## 栈" not in page
        Document.objects.update(format="txt")
        assert "## 栈" in self.page(f"/knowledge/{document.pk}/")

    def test_passage_leads_to_its_place_in_the_document(self) -> None:
        document = builders.document(self.user, [f"段{number}" for number in range(1, PAGE_PASSAGES * 2 + 2)])
        passage = document.passages.get(position=PAGE_PASSAGES + 3)
        response = self.client.get(f"/knowledge/p/{passage.pk}/")
        assert response.headers["Location"] == f"/knowledge/{document.pk}/?passage={passage.pk}#{passage.pk}"
        page = self.page(response.headers["Location"].split("#")[0])
        assert f'class="passage passage-found" id="{passage.pk}"' in page and "Part 2 of 3" in page
        assert ">段20<" not in page and ">段21<" in page and page.count("passage-found") == 1

    def test_pages_beyond_the_end_show_the_last(self) -> None:
        document = builders.document(self.user, [f"段{number}" for number in range(1, PAGE_PASSAGES + 2)])
        assert ">段21<" in self.page(f"/knowledge/{document.pk}/?page=999")

    def test_foreign_and_missing_documents_answer_alike(self) -> None:
        document = builders.document(self.user, ["秘密"])
        passage, colleague = document.passages.get(), self.colleague()
        for path in ("{}/", "{}/file/", "{}/delete/"):
            answers = [colleague.get(f"/knowledge/{path.format(one)}") for one in (document.pk, "doc_missing")]
            assert [answer.status_code for answer in answers] == [404, 404]
        assert colleague.get(f"/knowledge/p/{passage.pk}/").status_code == 404
        for path in ("agents", "replace", "retry", "delete"):
            assert colleague.post(f"/knowledge/{document.pk}/{path}/", {"file": text_file()}).status_code == 404

    def test_foreign_and_missing_documents_take_the_same_queries(self) -> None:
        document = builders.document(self.user, ["秘密"])
        passage, colleague = document.passages.get(), self.colleague()
        for foreign, missing in ((f"{document.pk}/", "doc_missing/"), (f"p/{passage.pk}/", "p/psg_missing/")):
            counts = []
            for path in (foreign, missing):
                with CaptureQueriesContext(connection) as queries:
                    colleague.get(f"/knowledge/{path}")
                counts.append(len(queries))
            assert counts[0] == counts[1]

    def test_teacher_reads_a_document_of_the_school_and_changes_nothing(self) -> None:
        document = self.school_document()
        page = self.page(f"/knowledge/{document.pk}/")
        assert "第十周期中考试" in page and "Delete" not in page and 'id="new-version"' not in page
        for path in ("agents", "replace", "retry", "delete"):
            assert self.client.post(f"/knowledge/{document.pk}/{path}/", {"file": text_file()}).status_code == 404

    def test_file_can_only_be_saved(self) -> None:
        document = builders.document(self.user, name="讲义 “1”;栈.txt", content=b"<script>")
        response = self.client.get(f"/knowledge/{document.pk}/file/")
        assert response.content == b"<script>" and response.headers["Content-Type"] == "application/octet-stream"
        disposition = response.headers["Content-Disposition"]
        assert disposition.startswith("attachment; filename*=utf-8''%E8%AE%B2") and "\n" not in disposition
        assert response.headers["X-Content-Type-Options"] == "nosniff" and "sandbox" in response.headers["Content-Security-Policy"]

    def test_assistants_are_chosen(self) -> None:
        document = builders.document(self.user, agents=[self.agent])
        other = builders.agent(self.agent.tenant)
        self.client.post(f"/knowledge/{document.pk}/agents/", {"agent": [other.pk]})
        assert list(document.agents.all()) == [other]
        assert "1 assistant uses" in self.page(f"/knowledge/{document.pk}/")
        self.client.post(f"/knowledge/{document.pk}/agents/")
        assert not document.agents.exists()

    def test_new_version_waits_beside_the_used_one(self) -> None:
        document = builders.document(self.user, ["甲"], agents=[self.agent])
        response = self.client.post(f"/knowledge/{document.pk}/replace/", {"file": text_file("二.txt")})
        assert response.status_code == 303
        newer = Document.objects.get(replaces=document)
        assert newer.version == 2 and not newer.is_current and newer.state == "waiting"
        page = self.page(f"/knowledge/{document.pk}/")
        assert f"/knowledge/{document.pk}/file/" in page and f"/knowledge/{newer.pk}/file/" in page and "Until it is ready" in page

    def test_older_version_says_that_it_is_no_longer_used(self) -> None:
        old = builders.document(self.user, ["旧"], is_current=False)
        used = builders.document(self.user, ["新"], replaces=old, version=2)
        page = self.page(f"/knowledge/{old.pk}/")
        assert "This is version 1, which is no longer used." in page and f'href="/knowledge/{used.pk}/"' in page

    def test_failed_document_is_read_again(self) -> None:
        document = builders.document(self.user, state="failed", error_code="too_slow")
        response = self.client.post(f"/knowledge/{document.pk}/retry/", {"in": "list"})
        assert response.headers["Location"] == "/knowledge/"
        document.refresh_from_db()
        assert document.state == "waiting" and document.error_code == ""
        self.client.post(f"/knowledge/{document.pk}/retry/")
        assert "it is being read already" in self.page("/knowledge/")

    def test_deleting_says_what_goes_and_takes_all_versions(self) -> None:
        old = builders.document(self.user, is_current=False)
        document = builders.document(self.user, ["甲"], replaces=old, version=2)
        assert "1 other version goes with it." in self.page(f"/knowledge/{document.pk}/delete/")
        assert self.client.post(f"/knowledge/{document.pk}/delete/").status_code == 303
        assert not Document.objects.exists() and not DocumentFile.objects.exists() and not Passage.objects.exists()
        assert f"Deleted: “{document.name}”." in self.page("/knowledge/")
