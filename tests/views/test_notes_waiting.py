"""Changes of notes that wait, in the memory panel and the drawer: the same buttons, keys, bulk and undo as the rest."""

import re
from typing import Any

from django.test import Client
from django.utils import timezone

from chat.memory.notes import store
from chat.memory.notes.base import Author, Write
from chat.models import Candidate, NoteOp, NoteReview, Preference
from tests import builders, noted
from tests.views.test_notes import HTMX, THREAT, NotesCase

MEMORY = "/memory/"


class WaitingCase(NotesCase):
    def note(self, new: str | None = "以后简答题多一些", **fields: Any) -> NoteOp:
        return noted.note_op(self.user, fields.pop("agent", None), new=new, **fields)

    def decide_on(self, op: NoteOp, verb: str, *, place: str = "panel", by: Client | None = None, **fields: str) -> str:
        """Presses a button of the card, as the page with script does, and returns what comes back."""
        response = (by or self.client).post(f"/memory/notes/op/{op.pk}/", {"verb": verb, "in": place} | fields, headers=HTMX)
        assert response.status_code in (200, 404), response.status_code
        return response.content.decode()

    def state(self, op: NoteOp) -> str:
        return NoteOp.objects.get(pk=op.pk).state


class CardTests(WaitingCase):
    def test_card_shows_what_a_person_needs_to_decide(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent), "以后简答题多一些")
        op = self.note("出卷时简答题多一些", old="出卷时选择题多一些", agent=self.agent, run=run, thread=run.thread, reason="长期习惯")
        page = self.page(MEMORY)
        card = page[page.index(f'data-note-op="{op.pk}"') : page.index("</article>")]
        for words in ("Change this note", f"Notes of {self.agent.name} (MEMORY.md)", "“以后简答题多一些”", "长期习惯", "just now"):
            assert words in card, words
        assert "<del>选择</del>" in card and "<ins>简答</ins>" in card and f'href="/chat/t/{run.thread_id}/#{run.pk}"' in card
        assert [f'data-key="{key}"' in card for key in ("Enter", "e", "x", "l")] == [True, True, True, False]

    def test_card_of_a_review_says_so_and_leads_to_its_conversation(self) -> None:
        thread = builders.thread(self.user, self.agent)
        review = NoteReview.objects.create(tenant=self.agent.tenant, user=self.user, agent=self.agent, thread=thread, total=10)
        self.note(origin="review", review=review, thread=thread)
        page = self.page(MEMORY)
        assert "background review" in page and f'href="/chat/t/{thread.pk}/"' in page

    def test_markup_in_notes_is_shown_as_text(self) -> None:
        self.note("<script>x</script>", old="<b>粗</b>", reason="<i>因为</i>")
        page = self.page(MEMORY)
        assert "<script>x" not in page and "<b>粗" not in page and "<i>因为" not in page and "&lt;" in page

    def test_batch_shows_every_change_and_cannot_be_reworded(self) -> None:
        op = self.note(action="batch", changes=[{"place": 0, "old": "旧的", "new": None}, {"place": 1, "old": None, "new": "新的"}])
        page = self.page(MEMORY)
        assert "Change 2 notes together" in page and "<del>旧的</del>" in page and "<ins>新的</ins>" in page
        assert 'data-key="e"' not in page[page.index(op.pk) : page.index("</article>")]

    def test_badge_and_head_count_notes_on_every_page(self) -> None:
        self.note()
        builders.candidate(self.user, "我教高二", agent=self.agent)
        for path in (MEMORY, "/memory/notes/", "/settings/"):
            assert 'id="memory-badge" data-count="2"' in self.page(path), path
        assert 'id="pending-head" data-count="2"' in self.page(MEMORY)

    def test_drawer_has_the_cards_and_how_full_the_notes_are(self) -> None:
        op = self.note()
        self.write("字" * 687)
        drawer = self.client.get("/memory/drawer/", headers=HTMX).content.decode()
        assert f'data-note-op="{op.pk}"' in drawer and "49%" in drawer and "MEMORY.md" in drawer
        self.write_bytes(b"\xff")
        assert "cannot be read" in self.client.get("/memory/drawer/", headers=HTMX).content.decode()

    def test_drawer_names_the_assistant_of_the_conversation_beside_it(self) -> None:
        other = builders.agent(self.agent.tenant, name="备课助手")
        thread = builders.thread(self.user, other)
        for path, name in (("/", self.agent.name), (f"/chat/t/{thread.pk}/", "备课助手"), (f"/chat/{other.pk}/?example=1", "备课助手")):
            Preference.objects.filter(user=self.user).update(agent=self.agent)
            headers = HTMX | {"HX-Current-URL": f"http://testserver{path}"}
            assert name in self.client.get("/memory/drawer/", headers=headers).content.decode(), path

    def test_card_alone_is_a_page_and_another_teachers_is_not(self) -> None:
        op = self.note()
        assert "以后简答题多一些" in self.page(f"/memory/notes/op/{op.pk}/")
        assert self.colleague().get(f"/memory/notes/op/{op.pk}/").status_code == 404
        self.decide_on(op, "approve", by=self.colleague())
        assert self.state(op) == "staged" and self.text() == ""


class DecisionTests(WaitingCase):
    def test_yes_writes_and_says_so(self) -> None:
        op = self.note()
        text = self.decide_on(op, "approve")
        assert "Written into the notes." in text and 'data-action="undo"' in text and f'data-note-op="{op.pk}"' not in text
        assert self.text() == "以后简答题多一些" and self.state(op) == "applied"
        assert 'id="memory-badge" data-count="0"' in text

    def test_yes_to_another_wording(self) -> None:
        op = self.note()
        assert "<textarea" in self.client.get(f"/memory/notes/op/{op.pk}/?part=edit", headers=HTMX).content.decode()
        self.decide_on(op, "approve", text="以后简答题占一半")
        assert self.text() == "以后简答题占一半"

    def test_no_writes_nothing(self) -> None:
        op = self.note()
        assert "Not written; the notes stay as they are." in self.decide_on(op, "reject")
        assert self.text() == "" and self.state(op) == "rejected"

    def test_second_click_is_told_that_it_was_decided(self) -> None:
        op = self.note()
        self.decide_on(op, "approve")
        for verb in ("approve", "reject"):
            assert "already decided" in self.decide_on(op, verb)
        assert self.text() == "以后简答题多一些"

    def test_refusals_stay_on_the_card_with_the_reason(self) -> None:
        self.write("字" * 1_370)
        full = self.note()
        text = self.decide_on(full, "approve")
        assert "1,370/1,375" in text and f'data-note-op="{full.pk}"' in text and 'aria-invalid="true"' in text
        gone = self.note(None, old="早就没有的一条")
        assert "does not stand there any more" in self.decide_on(gone, "approve")
        threat = self.note(THREAT)
        assert "the text reads like" in self.decide_on(threat, "approve")
        assert {self.state(op) for op in (full, gone, threat)} == {"staged"}

    def test_private_text_in_another_wording_is_asked_about_once(self) -> None:
        op = self.note()
        text = self.decide_on(op, "approve", text="校医电话 13800138000")
        accepted = re.search(r'name="accepted" value="([\w,]+)"', text)
        assert "Keep it all the same" in text and accepted is not None and self.text() == ""
        self.decide_on(op, "approve", text="校医电话 13800138000", accepted=accepted[1])
        assert self.text() == "校医电话 13800138000"

    def test_yes_is_refused_while_memory_is_off(self) -> None:
        op = self.note()
        Preference.objects.filter(user=self.user).update(has_memory=False)
        assert "memory is switched off" in self.decide_on(op, "approve") and self.state(op) == "staged"
        self.decide_on(op, "reject")
        assert self.state(op) == "rejected"

    def test_drawer_answers_with_the_whole_drawer(self) -> None:
        op, other = self.note(), self.note("答案放最后")
        text = self.decide_on(op, "approve", place="drawer")
        assert 'id="memory-drawer"' in text and other.pk in text and f'data-note-op="{op.pk}"' not in text

    def test_unknown_verb_is_refused(self) -> None:
        assert self.client.post(f"/memory/notes/op/{self.note().pk}/", {"verb": "later"}).status_code == 400


class UndoTests(WaitingCase):
    def undo(self, **fields: str) -> str:
        """Presses undo in the line above the panel."""
        notice = self.page(MEMORY)
        form = notice[notice.index('id="memory-notice"') :]
        address = re.search(r'action="(/memory/[\w/]+/)"', form)
        assert address is not None
        values = dict(re.findall(r'name="(verb|decision)" value="(\w+)"', form)[:1])
        return self.client.post(address[1], values | {"in": "panel"} | fields, headers=HTMX).content.decode()

    def test_yes_is_taken_back_and_waits_again(self) -> None:
        op = self.note(reason="长期习惯")
        self.decide_on(op, "approve")
        text = self.undo()
        assert "Undone." in text and self.text() == ""
        again = NoteOp.objects.get(state="staged")
        assert f'data-note-op="{again.pk}"' in text and again.reason == "长期习惯"
        self.decide_on(again, "approve")
        assert self.text() == "以后简答题多一些"

    def test_no_is_taken_back_and_waits_again(self) -> None:
        op = self.note()
        self.decide_on(op, "reject")
        assert "Undone." in self.undo() and self.state(op) == "staged"

    def test_decisions_are_taken_back_in_turn(self) -> None:
        row, op = builders.candidate(self.user, "我教高二", agent=self.agent), self.note()
        self.client.post(f"/memory/candidates/{row.pk}/", {"verb": "reject", "in": "panel"}, headers=HTMX)
        self.decide_on(op, "reject")
        self.undo()
        assert self.state(op) == "staged" and Candidate.objects.get().status == "rejected"
        self.undo()
        assert Candidate.objects.get().status == "pending"

    def test_what_was_changed_since_is_left(self) -> None:
        op = self.note()
        self.decide_on(op, "approve")
        self.write("以后简答题多一些，占一半")
        assert "have been changed since" in self.undo()
        assert self.text() == "以后简答题多一些，占一半" and not NoteOp.objects.filter(state="staged").exists()

    def test_undo_in_a_round_answers_with_its_lines(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent), "记住：答案放最后")
        author = Author(NoteOp.Origin.TOOL, run.thread_id, run.pk)
        done = store.write(self.place(), Write("add", content="答案放最后"), author)
        response = self.client.post(f"/memory/notes/op/{done.op_id}/?in=round", {"verb": "undo"}, headers=HTMX)
        assert f'id="notes-{run.pk}"' in response.content.decode() and self.text() == ""


class BulkTests(WaitingCase):
    def bulk(self, verb: str, *rows: NoteOp | Candidate) -> str:
        return self.client.post("/memory/bulk/", {"verb": verb, "id": [row.pk for row in rows]}, headers=HTMX).content.decode()

    def test_bulk_takes_both_kinds(self) -> None:
        first, second = self.note("第一条", created_at=noted.minutes_ago(2)), self.note("第二条", created_at=noted.minutes_ago(1))
        row = builders.candidate(self.user, "我教高二", agent=self.agent)
        text = self.bulk("confirm", first, second, row)
        assert "2 changes of notes were made." in text and "Remembered." in text
        assert self.text() == "第一条\n§\n第二条" and Candidate.objects.get().status == "confirmed"

    def test_bulk_says_what_was_left_and_why(self) -> None:
        self.write("字" * 1_370)
        text = self.bulk("confirm", self.note("放不下的一条"), self.note(THREAT))
        assert "2 changes of notes were left." in text and "1,370/1,375" in text and "reads like" in text

    def test_bulk_no_and_later(self) -> None:
        op = self.note()
        assert "stays where it is" in self.bulk("later", op) and self.state(op) == "staged"
        self.bulk("reject", op)
        assert self.state(op) == "rejected" and self.text() == ""


class PlainTests(WaitingCase):
    """Without script."""

    def plainly(self, op: NoteOp, verb: str, **fields: str) -> str:
        response = self.client.post(f"/memory/notes/op/{op.pk}/", {"verb": verb, "in": "panel"} | fields, follow=True)
        return response.content.decode()

    def test_yes_no_and_another_wording_come_back_to_the_panel(self) -> None:
        assert "Written into the notes." in self.plainly(self.note("第一条"), "approve")
        assert "Not written; the notes stay as they are." in self.plainly(self.note("第二条"), "reject")
        op = self.note("第三条")
        page = self.plainly(op, "edit")
        assert "第三条</textarea>" in page and "<html" in page
        self.plainly(op, "approve", text="第三条改过")
        assert self.text() == "第一条\n§\n第三条改过"

    def test_refusal_is_a_page_with_what_was_typed(self) -> None:
        op = self.note()
        response = self.client.post(f"/memory/notes/op/{op.pk}/", {"verb": "approve", "text": THREAT})
        assert response.status_code == 422 and f"{THREAT}</textarea>" in response.content.decode()

    def test_last_decision_is_taken_back(self) -> None:
        op = self.note(state="rejected", decided_at=timezone.now())
        assert "Undone." in self.plainly(op, "reconsider") and self.state(op) == "staged"
