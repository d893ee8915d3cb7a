"""What the page of a conversation shows of notes: lines under rounds, notices between them, marks at its head, the hint at the box."""

import re
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.memory.base import Segment
from chat.memory.ledger import Ledger, to_row
from chat.memory.notes import snapshot, store
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.snapshot import ABOUT
from chat.memory.switches import switch_memory
from chat.models import Agent, NoteOp, NoteReview, NoteSnapshot, NoteTarget, Notice, Owner, Preference, Run, Thread
from tests import builders
from tests.views.test_chat import ChatCase

HX = {"HX-Request": "true"}


def note_op(of: Run, new: str | None = "试卷附评分标准", old: str | None = None, **fields: Any) -> NoteOp:
    """One operation on MEMORY.md that a round has made."""
    action = "replace" if old and new else "remove" if old else "add"
    made = {"tenant_id": of.tenant_id, "user_id": of.user_id, "agent_id": of.agent_id, "thread_id": of.thread_id, "run": of}
    made |= {"target": "memory", "origin": "tool", "action": action, "changes": [{"place": 0, "old": old, "new": new}]}
    return NoteOp.objects.create(**made | fields)


def part_of(page: str, run: Run) -> str:
    """The notes of one round, up to what stands behind them."""
    return part_between(page, f'data-part="notes" id="notes-{run.pk}"', 'data-part="ledger"')


def part_between(page: str, start: str, end: str) -> str:
    at = page.index(start)
    return page[at : page.index(end, at)].partition('<footer class="answer-foot"')[0]


def write(user: User, agent: Agent, content: str, target: NoteTarget = NoteTarget.MEMORY) -> None:
    """As the teacher would by hand."""
    place = Place(Owner(agent.tenant_id, user.pk, agent.pk), target)
    assert store.write(place, Write("add", content=content), Author(NoteOp.Origin.PANEL)).is_done


@override_settings(NOTES_STORAGE="database")  # goes with the test, as files would not
class NotesCase(ChatCase):
    thread: Thread
    run_: Run

    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent)
        self.run_ = builders.run(self.thread, "记住：试卷附评分标准", "好的。")

    def thread_page(self) -> str:
        return self.page(f"/chat/t/{self.thread.pk}/")

    def line(self, **fields: Any) -> str:
        note_op(self.run_, **fields)
        return part_of(self.thread_page(), self.run_)


class LineTests(NotesCase):
    def test_round_without_an_operation_has_no_line(self) -> None:
        part = part_of(self.thread_page(), self.run_)
        assert "hidden" in part and "data-note-op" not in part

    def test_addition_is_named_and_can_be_undone(self) -> None:
        part = self.line()
        assert "Noted in MEMORY.md: 试卷附评分标准" in part and 'data-action="undo"' in part

    def test_change_is_told_short_and_in_full(self) -> None:
        part = self.line(old="codex CLI 是 v0.147", new="codex CLI 是 v0.148")
        assert "Changed in MEMORY.md: codex CLI 是 v0.147 → codex CLI 是 v0.148" in part
        assert "<del>codex CLI 是 v0.147</del>" in part and "<ins>codex CLI 是 v0.148</ins>" in part

    def test_long_entry_is_cut_in_the_line_and_whole_behind_it(self) -> None:
        long = "，".join(f"第{number}条约定" for number in range(40))
        part = self.line(new=long)
        assert f"{long[:79]}…" in part and f"<ins>{long}</ins>" in part

    def test_removal_names_what_is_gone(self) -> None:
        assert "Removed from MEMORY.md: 临时备注" in self.line(old="临时备注", new=None)

    def test_several_changes_are_one_line_with_all_of_them(self) -> None:
        changes = [{"place": 0, "old": "旧", "new": None}, {"place": 1, "old": None, "new": "新"}]
        part = self.line(action="batch", changes=changes)
        assert "2 changes in MEMORY.md" in part and "<del>旧</del>" in part and "<ins>新</ins>" in part

    def test_what_waits_leads_to_the_memory_page_and_has_no_undo(self) -> None:
        part = self.line(state="staged")
        assert "Waits for your yes: note in MEMORY.md: 试卷附评分标准" in part
        assert 'href="/memory/#pending"' in part and 'data-action="undo"' not in part

    def test_what_waits_is_told_by_what_was_asked_for_when_nothing_else_is_known(self) -> None:
        assert "note in MEMORY.md: 先例题后练习" in self.line(state="staged", changes=[], request={"content": "先例题后练习"})

    def test_what_was_turned_down_or_taken_back_says_so_and_offers_nothing(self) -> None:
        for state, words in (("rejected", "Not noted, as you decided"), ("undone", "Taken back, no longer in MEMORY.md")):
            NoteOp.objects.all().delete()
            part = self.line(state=state)
            assert words in part and "button" not in part and "/memory/" not in part

    def test_undoing_is_no_line_of_its_own(self) -> None:
        op = note_op(self.run_, state="undone")
        note_op(self.run_, old="试卷附评分标准", new=None, action="undo", undoes=op)
        assert part_of(self.thread_page(), self.run_).count("data-note-op") == 1

    def test_profile_is_named_by_its_file(self) -> None:
        assert "Noted in USER.md" in self.line(target="user", agent_id=None)

    def test_entries_are_text_and_never_markup(self) -> None:
        part = self.line(old="<img src=x>", new="<script>alert(1)</script>")
        assert "<script" not in part and "<img" not in part

    def test_lines_come_from_the_log_and_not_from_the_answer(self) -> None:
        Run.objects.filter(pk=self.run_.pk).update(output="我去掉了旧笔记，并写进了 MEMORY.md：全部清空。")
        part = self.line()
        assert part.count("data-note-op") == 1 and "清空" not in part

    def test_claim_without_an_operation_is_marked(self) -> None:
        Run.objects.filter(pk=self.run_.pk).update(output="好的，已记住。")
        assert "Nothing was written into the notes in this round." in part_of(self.thread_page(), self.run_)
        assert 'data-part="not-saved"' not in self.line(state="staged")

    def test_notes_of_a_replaced_try_stand_with_it(self) -> None:
        op = note_op(self.run_)
        again = builders.run(self.thread, "记住：试卷附评分标准", "好的。", replaces=self.run_)
        assert op.pk not in self.thread_page()
        assert op.pk in self.page(f"/runs/{again.pk}/tries/", **HX)

    def test_notes_of_a_colleague_are_not_shown(self) -> None:
        colleague = builders.teacher(builders.school_of(self.user))
        op = note_op(self.run_, user_id=colleague.pk)
        assert op.pk not in self.thread_page()

    def test_page_without_notes_does_not_look_for_any(self) -> None:
        with CaptureQueriesContext(connection) as queries:
            self.thread_page()
        assert not [one for one in queries if one["sql"].startswith('SELECT "chat_noteop"')]
        note_op(self.run_)
        with CaptureQueriesContext(connection) as queries:
            self.thread_page()
        assert len([one for one in queries if one["sql"].startswith('SELECT "chat_noteop"')]) == 1


class UndoTests(NotesCase):
    def setUp(self) -> None:
        super().setUp()
        owner = Owner(self.agent.tenant_id, self.user.pk, self.agent.pk)
        self.place = Place(owner, NoteTarget.MEMORY)
        author = Author(NoteOp.Origin.TOOL, thread_id=self.thread.pk, run_id=self.run_.pk)
        self.op_id = store.write(self.place, Write("add", content="试卷附评分标准"), author).op_id

    def undo(self, client: Client | None = None, **headers: str) -> Any:
        address = f"/memory/notes/op/{self.op_id}/?in=round"
        return (client or self.client).post(address, {"verb": "undo"}, headers=headers or None)

    def test_line_says_that_it_was_taken_back_and_offers_nothing_more(self) -> None:
        told = self.undo(**HX).content.decode()
        assert "Taken back, no longer in MEMORY.md: 试卷附评分标准" in told and "button" not in told
        assert 'role="status"' in told and "autofocus" in told
        assert store.look(self.place).entries == ()

    def test_it_works_without_script(self) -> None:
        response = self.undo()
        self.assertRedirects(response, f"/chat/t/{self.thread.pk}/#{self.run_.pk}")
        assert "Taken back" in part_of(self.thread_page(), self.run_)

    def test_second_undo_says_that_it_was_decided(self) -> None:
        self.undo()
        told = self.undo(**HX).content.decode()
        assert "Taken back" in told and "already decided" in told

    def test_entry_that_was_changed_since_is_left_and_the_line_says_why(self) -> None:
        store.write(self.place, Write("replace", content="试卷不附评分标准", old_text="试卷附评分标准"), Author(NoteOp.Origin.PANEL))
        told = self.undo(**HX).content.decode()
        assert "the entries have been changed since" in told and 'data-state="applied"' in told
        assert store.look(self.place).entries == ("试卷不附评分标准",)

    def test_colleague_cannot_undo(self) -> None:
        assert self.undo(self.colleague()).status_code == 404
        assert store.look(self.place).entries == ("试卷附评分标准",)


class NoticeTests(NotesCase):
    def notice(self, **fields: Any) -> Notice:
        owner = {"tenant_id": self.thread.tenant_id, "user": self.user, "thread": self.thread}
        return Notice.objects.create(**owner | {"after_slot": self.run_.slot, "code": "review"} | fields)

    def reviewed(self, **fields: Any) -> Notice:
        review = NoteReview.objects.create(
            tenant_id=self.thread.tenant_id, user=self.user, agent=self.agent, thread=self.thread, total=10, state="done"
        )
        for state, text in (("applied", "先例题后练习"), ("staged", "试卷附评分标准"), ("staged", "用表格")):
            note_op(self.run_, text, state=state, review=review, run=None, origin="review")
        return self.notice(review=review, **fields)

    def test_notice_stands_behind_its_round_and_counts(self) -> None:
        notice, later = self.reviewed(), builders.run(self.thread)
        page = self.thread_page()
        at = page.index(f'data-notice="{notice.pk}"')
        assert page.index(f'data-run="{self.run_.pk}"') < at < page.index(f'data-run="{later.pk}"')
        assert "The notes were updated (1 change, 2 wait for your yes)" in page and "先例题后练习" not in page

    def test_it_counts_what_waits_now(self) -> None:
        self.reviewed()
        NoteOp.objects.filter(state="staged").update(state="rejected")
        page = self.thread_page()
        assert "The notes were updated (1 change)" in page and "#pending" not in part_between(page, 'data-part="notice"', 'id="announcer"')

    def test_verbose_one_has_a_line_for_each_change_folded(self) -> None:
        self.reviewed(is_verbose=True)
        notice = part_between(self.thread_page(), 'data-part="notice"', 'id="announcer"')
        assert "<details>" in notice and "<li>+ 用表格</li>" in notice

    def test_failure_says_what_happened_and_the_way_out(self) -> None:
        self.notice(code="notes_failed")
        page = self.thread_page()
        assert "The notes could not be written in this round" in page and f'href="/memory/notes/?agent={self.agent.pk}"' in page

    def test_refused_shortcut_says_why_and_leads_to_the_notes(self) -> None:
        for code, words in (("shortcut_redline", "the text holds something private"), ("shortcut_drift", "cannot be written just now")):
            self.notice(code=code)
            notice = self.thread_page().rpartition('data-part="notice"')[2]
            assert words in notice and f'href="/memory/notes/?agent={self.agent.pk}"' in notice

    def test_it_is_no_message(self) -> None:
        self.reviewed()
        text = self.page(f"/chat/t/{self.thread.pk}/export.md")
        assert self.run_.input in text and "notes were" not in text

    def test_each_part_of_a_long_conversation_has_its_own(self) -> None:
        notice = self.reviewed()
        runs = [builders.run(self.thread) for _number in range(32)]
        assert notice.pk not in self.thread_page()
        assert notice.pk in self.page(f"/chat/t/{self.thread.pk}/?before={runs[3].slot}", **HX)


class FrozenCase(NotesCase):
    def freeze(self, **fields: Any) -> NoteSnapshot:
        made = snapshot.freeze(Owner(self.agent.tenant_id, self.user.pk, self.agent.pk), self.agent, asks=True)
        assert snapshot.keep(made, self.thread.pk)
        NoteSnapshot.objects.filter(thread=self.thread).update(**fields or {"has_guide": made.has_guide})
        return made

    def post(self, name: str, client: Client | None = None, **headers: str) -> Any:
        return (client or self.client).post(f"/chat/t/{self.thread.pk}/{name}/", headers=headers or None)


class MarkTests(FrozenCase):
    def test_unchanged_notes_have_no_mark(self) -> None:
        self.freeze()
        assert 'id="notes-changed"' not in self.thread_page()

    def test_changed_notes_are_marked_with_a_way_to_read_them_again(self) -> None:
        self.freeze()
        write(self.user, self.agent, "试卷附评分标准")
        page = self.thread_page()
        assert 'id="notes-changed"' in page and 'data-action="refresh-notes"' in page
        assert "Read again, they count as they are now from your next message on." in page

    def test_reading_again_takes_the_mark_away_and_says_so_until_the_next_message(self) -> None:
        self.freeze()
        write(self.user, self.agent, "试卷附评分标准")
        told = self.post("notes/refresh", **HX).content.decode()
        assert 'id="notes-refreshed"' in told and 'role="status"' in told and 'id="notes-changed"' not in told
        assert "试卷附评分标准" in NoteSnapshot.objects.get(thread=self.thread).text
        assert 'id="notes-refreshed"' in self.thread_page()
        builders.run(self.thread, created_at=timezone.now())
        assert 'id="notes-refreshed"' not in self.thread_page()

    def test_it_works_without_script(self) -> None:
        self.freeze()
        write(self.user, self.agent, "试卷附评分标准")
        self.assertRedirects(self.post("notes/refresh"), f"/chat/t/{self.thread.pk}/")

    def test_other_pages_look_again(self) -> None:
        self.freeze()
        self.post("notes/refresh")
        assert Preference.objects.get(user=self.user).news_at is not None

    def test_no_mark_and_no_reading_while_memory_is_off(self) -> None:
        frozen = self.freeze()
        write(self.user, self.agent, "试卷附评分标准")
        switch_memory(self.user.pk, is_on=False)
        page = self.thread_page()
        self.post("notes/refresh", **HX)
        assert 'id="notes-changed"' not in page and NoteSnapshot.objects.get(thread=self.thread).text == frozen.text

    def test_colleague_finds_nothing_to_refresh_or_skip(self) -> None:
        self.freeze(has_guide=True)
        for name in ("notes/refresh", "guide/skip"):
            assert self.post(name, self.colleague()).status_code == 404
        assert NoteSnapshot.objects.filter(refreshed_at=None, is_guide_skipped=False).exists()


class GuideTests(FrozenCase):
    def new_page(self, query: str = "") -> str:
        return self.page(f"/chat/{self.agent.pk}/{query}")

    def test_new_conversation_asks_who_the_teacher_is(self) -> None:
        page = self.new_page()
        assert 'id="guide"' in page and f'href="/memory/notes/?agent={self.agent.pk}"' in page

    def test_it_is_gone_as_soon_as_something_is_known(self) -> None:
        self.freeze()
        assert 'id="guide"' in self.thread_page()
        write(self.user, self.agent, "教高二信息技术", NoteTarget.USER)
        assert 'id="guide"' not in self.thread_page() + self.new_page()

    def test_thread_that_began_without_it_stays_without_it(self) -> None:
        self.freeze(has_guide=False)
        assert 'id="guide"' not in self.thread_page()

    def test_skipping_hides_it_in_this_conversation_alone(self) -> None:
        self.freeze()
        told = self.post("guide/skip", **HX).content.decode()
        assert 'id="guide"' not in told + self.thread_page()
        assert 'id="guide"' in self.new_page()

    def test_skipping_before_the_first_message_holds_for_the_conversation_that_begins(self) -> None:
        page = self.new_page("?guide=skip")
        assert 'id="guide"' not in page and '<input type="hidden" name="guide" value="skip">' in page

    def test_no_guide_while_memory_is_off(self) -> None:
        switch_memory(self.user.pk, is_on=False)
        assert 'id="guide"' not in self.new_page()


class HintTests(NotesCase):
    def test_assistant_without_tools_says_how_to_note_something(self) -> None:
        assert 'id="composer-hint"' not in self.thread_page()
        Agent.objects.update(has_tools=False)
        assert 'id="composer-hint"' in self.thread_page()
        switch_memory(self.user.pk, is_on=False)
        assert 'id="composer-hint"' not in self.thread_page()


class LedgerTests(NotesCase):
    def test_frozen_notes_have_a_heading_of_their_own_and_the_text_is_exact(self) -> None:
        text = f"你是命题助手。\n\n{ABOUT}\n\n<b>每题标出考点</b>\n\n规则一\n规则二"
        segment = Segment("system", "system", text, 10, 10, source_ids=[self.agent.pk])
        to_row(self.run_.pk, Ledger([segment], 6_000, [])).save(force_insert=True)
        page = self.page(f"/runs/{self.run_.pk}/ledger/", **HX)
        assert "Instructions of the assistant, with the notes" in page
        notes = part_between(page, 'data-part="frozen-notes"', "</span>")
        assert notes.endswith(f"{ABOUT}\n\n&lt;b&gt;每题标出考点&lt;/b&gt;") and "规则一" not in notes
        shown = re.sub(r"<[^>]+>", "", page[page.index('<pre class="exact"') : page.index("</pre>")])
        assert unescape(shown) == text
