"""One list, one badge and one way back for all that waits: memories and changes of notes."""

from django.http import QueryDict
from django.test import TestCase
from django.utils import timezone

from chat.models import NoteOp
from chat.panel.badge import badge_of
from chat.panel.last_action import last_action, last_note_action
from chat.panel.lists import Filters, counts_of
from chat.panel.waiting import split_ids, waiting_page
from tests import builders, noted


class WaitingCase(TestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        self.agent = builders.agent(self.school)

    def note(self, new: str | None = "以后简答题多一些", **fields):
        return noted.note_op(self.user, fields.pop("agent", self.agent), new=new, **fields)

    def shown(self, query: str = "", **more) -> list[str]:
        return [row.pk for row in waiting_page(self.user, self.school.pk, Filters.of(QueryDict(query)), **more).rows]


class ListTests(WaitingCase):
    def test_notes_stand_first_and_in_the_order_they_came(self):
        candidate = builders.candidate(self.user, "我教高二", agent=self.agent)
        later, earlier = self.note(created_at=noted.minutes_ago(1)), self.note(created_at=noted.minutes_ago(9))
        assert self.shown() == [earlier.pk, later.pk, candidate.pk]
        assert self.shown("order=newest") == [later.pk, earlier.pk, candidate.pk]

    def test_every_row_comes_once_over_all_parts_of_a_long_list(self):
        rows = [self.note(f"第{number}条", created_at=noted.minutes_ago(60 - number)).pk for number in range(7)]
        rows += [
            builders.candidate(self.user, f"第{number}件事", agent=self.agent, confidence=0.9 - number / 100).pk for number in range(5)
        ]
        found, after = [], ""
        for _part in range(6):
            part = waiting_page(self.user, self.school.pk, Filters(), after, size=3)
            found += [row.pk for row in part.rows]
            after = part.more
            if not after:
                break
        assert found == rows

    def test_filters_hold_for_notes(self):
        mine, about_me = self.note("卷积的练习"), self.note("讲卷积要慢", agent=None)
        removal = self.note(None, old="卷积不考")
        self.note("别的")
        assert set(self.shown("q=卷积")) == {mine.pk, about_me.pk, removal.pk}
        assert self.shown("q=卷积&scope=shared") == [about_me.pk]
        assert self.shown(f"q=卷积&scope={self.agent.pk}") == [mine.pk, removal.pk]
        assert self.shown("kind=profile") == []

    def test_bad_place_in_the_list_shows_its_start(self):
        row = self.note()
        for after in ("note:", "note:x", 'note:["2026-01-01", "x"]', "note:[1]"):
            assert self.shown(after=after) == [row.pk]

    def test_what_is_decided_or_somebody_elses_is_not_shown(self):
        self.note(state="applied")
        self.note(state="rejected")
        noted.note_op(builders.teacher(self.school), self.agent)
        assert self.shown() == []
        assert counts_of(self.user, self.school.pk).pending == badge_of(self.user, self.school.pk).count == 0

    def test_ids_of_one_form_are_told_apart(self):
        assert split_ids(["cand_a", "nop_b", "cand_c"]) == (["cand_a", "cand_c"], ["nop_b"])


class BadgeTests(WaitingCase):
    def test_badge_counts_both_and_knows_the_oldest_in_one_query(self):
        builders.candidate(self.user, "我教高二", agent=self.agent, created_at=noted.minutes_ago(5))
        oldest = self.note(created_at=noted.minutes_ago(50))
        with self.assertNumQueries(1):
            badge = badge_of(self.user, self.school.pk)
        assert (badge.count, badge.oldest_at) == (2, oldest.created_at)
        assert counts_of(self.user, self.school.pk).pending == 2

    def test_badge_of_one_kind_alone(self):
        self.note()
        assert badge_of(self.user, self.school.pk).count == 1
        NoteOp.objects.all().delete()
        builders.candidate(self.user, "我教高二", agent=self.agent)
        assert badge_of(self.user, self.school.pk).count == 1

    def test_other_schools_and_people_count_for_themselves(self):
        self.note()
        other = builders.tenant()
        assert badge_of(self.user, other.pk).count == badge_of(builders.teacher(self.school), self.school.pk).count == 0


class LastActionTests(WaitingCase):
    def test_the_later_of_both_kinds_is_taken_back_first(self):
        decision = builders.decision(self.user, "reject")
        assert last_action(self.user, self.school.pk).id == decision.pk
        op = self.note(state="applied", decided_at=timezone.now())
        assert last_action(self.user, self.school.pk).id == op.pk
        assert last_action(self.user, self.school.pk).address == f"/memory/notes/op/{op.pk}/"

    def test_what_is_undone_or_was_never_decided_here_is_passed_over(self):
        self.note(state="undone", decided_at=timezone.now())
        self.note(state="applied", action="undo", decided_at=timezone.now())
        self.note(state="applied")  # by the model, in a conversation
        assert last_action(self.user, self.school.pk) is None
        assert last_note_action(self.user, self.school.pk) is None

    def test_change_by_hand_is_taken_back_on_the_page_of_the_notes(self):
        op = self.note(state="applied", origin="panel")
        assert last_note_action(self.user, self.school.pk).id == op.pk
        assert last_action(self.user, self.school.pk) is None

    def test_after_ten_minutes_nothing_is_offered(self):
        self.note(state="applied", origin="panel", created_at=noted.minutes_ago(11))
        assert last_note_action(self.user, self.school.pk) is None
