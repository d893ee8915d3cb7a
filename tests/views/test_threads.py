"""Conversations as things: lists, title, archive, summary, export."""

from datetime import timedelta

from django.utils import timezone

from chat.models import Thread
from tests import builders
from tests.views.test_chat import ChatCase

HTMX = {"HX-Request": "true"}


class SidebarTests(ChatCase):
    def test_threads_stand_under_their_day_newest_first(self) -> None:
        now = timezone.localtime().replace(hour=12)
        for days, title in ((9, "早先"), (1, "昨日"), (0, "今日")):
            builders.thread(self.user, self.agent, title=title, updated_at=now - timedelta(days=days))
        page = self.page(f"/chat/{self.agent.pk}/")
        places = [page.index(words) for words in ("Today", "今日", "Yesterday", "昨日", "Earlier", "早先")]
        assert places == sorted(places)

    def test_more_threads_follow_where_the_first_page_ends(self) -> None:
        now = timezone.now()
        made = [builders.thread(self.user, self.agent, updated_at=now - timedelta(days=number)) for number in range(35)]
        first = self.client.get(f"/chat/{self.agent.pk}/")
        more = first.context["threads"].more
        older = self.client.get(f"/chat/{self.agent.pk}/threads/", {"before": more}, headers=HTMX).content.decode()
        assert [one.pk in older for one in made] == [False] * 30 + [True] * 5
        assert "Earlier" not in older and "<html" not in older

    def test_more_threads_work_without_script(self) -> None:
        builders.thread(self.user, self.agent)
        assert "<html" in self.page(f"/chat/{self.agent.pk}/threads/")

    def test_bad_place_in_the_list_shows_its_start(self) -> None:
        thread = builders.thread(self.user, self.agent)
        for before in ("x", "2024-13-99T00:00:00Z~th_1", "2024-01-01T00:00:00~th", "\x00", "~"):
            response = self.client.get(f"/chat/{self.agent.pk}/threads/", {"before": before}, headers=HTMX)
            assert thread.pk in response.content.decode()

    def test_threads_of_others_do_not_appear(self) -> None:
        foreign = builders.thread(builders.teacher(builders.school_of(self.user)), self.agent, title="别人的")
        assert foreign.title not in self.page(f"/chat/{self.agent.pk}/")


class RenameTests(ChatCase):
    def test_title_is_kept_on_one_line(self) -> None:
        thread = builders.thread(self.user, self.agent)
        response = self.client.post(f"/chat/t/{thread.pk}/rename/", {"title": "  期末\n试卷 "})
        self.assertRedirects(response, f"/chat/t/{thread.pk}/")
        assert Thread.objects.get(pk=thread.pk).title == "期末 试卷"

    def test_page_gets_the_new_title_in_place(self) -> None:
        thread = builders.thread(self.user, self.agent)
        answer = self.client.post(f"/chat/t/{thread.pk}/rename/", {"title": "<期末>"}, headers=HTMX).content.decode()
        assert "&lt;期末&gt;" in answer and "<html" not in answer

    def test_empty_title_changes_nothing(self) -> None:
        thread = builders.thread(self.user, self.agent)
        self.client.post(f"/chat/t/{thread.pk}/rename/", {"title": " \x00 "})
        assert Thread.objects.get(pk=thread.pk).title == "数据结构试卷"


class ArchiveTests(ChatCase):
    def test_archived_thread_leaves_the_list_and_stays_readable(self) -> None:
        thread = builders.thread(self.user, self.agent, title="旧试卷")
        answer = self.client.post(f"/chat/t/{thread.pk}/archive/", follow=True).content.decode()
        assert "Nothing was deleted." in answer and "旧试卷" not in answer
        assert "旧试卷" in self.page(f"/chat/{self.agent.pk}/archived/")
        assert "is in the archive" in self.page(f"/chat/t/{thread.pk}/")

    def test_thread_can_be_brought_back(self) -> None:
        thread = builders.thread(self.user, self.agent, status="archived")
        self.assertRedirects(self.client.post(f"/chat/t/{thread.pk}/unarchive/"), f"/chat/t/{thread.pk}/")
        assert Thread.objects.get(pk=thread.pk).status == "active"

    def test_note_goes_away_in_place(self) -> None:
        thread = builders.thread(self.user, self.agent, status="archived")
        answer = self.client.post(f"/chat/t/{thread.pk}/unarchive/", headers=HTMX).content.decode()
        assert 'id="thread-note"' in answer and "archive" not in answer

    def test_line_of_the_archive_says_that_its_thread_is_back(self) -> None:
        thread = builders.thread(self.user, self.agent, title="旧试卷", status="archived")
        answer = self.client.post(f"/chat/t/{thread.pk}/unarchive/?in=list", headers=HTMX).content.decode()
        assert "旧试卷" in answer and "Back in the list" in answer
        assert "<form" not in answer

    def test_empty_archive_says_so(self) -> None:
        assert "The archive is empty." in self.page(f"/chat/{self.agent.pk}/archived/")


class SummaryTests(ChatCase):
    def test_summary_can_be_read_in_place_and_as_a_page(self) -> None:
        thread = builders.thread(
            self.user, self.agent, rolling_summary="出过一份试卷。", summary_upto_slot=1, summary_upto_at=timezone.now()
        )
        path = f"/chat/t/{thread.pk}/summary/"
        in_place = self.page(path, **HTMX)
        assert "出过一份试卷。" in in_place and "<html" not in in_place
        assert "出过一份试卷。" in self.page(path)

    def test_thread_without_a_summary_explains_when_there_will_be_one(self) -> None:
        thread = builders.thread(self.user, self.agent)
        assert "There is no summary yet." in self.page(f"/chat/t/{thread.pk}/summary/")


class ExportTests(ChatCase):
    def test_whole_active_path_is_written_as_markdown(self) -> None:
        thread = builders.thread(self.user, self.agent)
        failed = builders.run(thread, "第一问", "半截", status="failed", error_code="stream_broken")
        builders.run(thread, "第一问", "## 一、选择题", replaces=failed)
        response = self.client.get(f"/chat/t/{thread.pk}/export.md")
        text = response.content.decode()
        assert text.startswith("# 数据结构试卷\n") and "## 一、选择题" in text and "半截" not in text
        assert response["Content-Type"].startswith("text/markdown") and "attachment" in response["Content-Disposition"]


class OwnershipTests(ChatCase):
    def test_another_teacher_gets_not_found_as_for_a_missing_thread(self) -> None:
        thread = builders.thread(self.user, self.agent)
        colleague = self.colleague()
        for thread_id in (thread.pk, "th_missing"):
            for name in ("rename", "archive", "unarchive"):
                assert colleague.post(f"/chat/t/{thread_id}/{name}/", {"title": "x"}).status_code == 404
            for name in ("summary/", "export.md"):
                assert colleague.get(f"/chat/t/{thread_id}/{name}").status_code == 404
        thread.refresh_from_db()
        assert (thread.title, thread.status) == ("数据结构试卷", "active")

    def test_changes_need_post(self) -> None:
        thread = builders.thread(self.user, self.agent)
        for name in ("rename", "archive", "unarchive"):
            self.page(f"/chat/t/{thread.pk}/{name}/", 405)
