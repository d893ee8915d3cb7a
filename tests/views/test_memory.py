"""The memory panel: its lists, each action with what it really did, races, walls and queries."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Candidate, Fact, Membership, Preference, Tenant
from tests import builders
from tests.views.test_chat import ChatCase

HTMX = {"HX-Request": "true"}
MEMORY = "/memory/"


class PanelCase(ChatCase):
    def candidate(self, text: str = "出卷时简答题多一些", **fields: Any) -> Candidate:
        return builders.candidate(self.user, text, **{"agent": self.agent, "confidence": 0.8} | fields)

    def fact(self, text: str = "我教高二数据结构", **fields: Any) -> Fact:
        return builders.fact(self.user, text, **fields)

    def learnt(self, text: str = "出卷时简答题多一些", **fields: Any) -> Candidate:
        """A candidate with its source."""
        run = builders.run(builders.thread(self.user, self.agent), f"以后{text}")
        return self.candidate(text, source_run=run, thread=run.thread, quote=f"以后{text}", reason="长期习惯", **fields)

    def decide_on(self, row: Candidate | Fact, verb: str, *, by: Any = None, **fields: str) -> str:
        """Presses a button of the row's card, as the page with script does, and returns what comes back."""
        response = (by or self.client).post(address(row), {"verb": verb, "in": "panel"} | fields, headers=HTMX)
        assert response.status_code in (200, 404), response.status_code
        return response.content.decode()

    def plainly(self, path: str, **fields: Any) -> str:
        """Sends a form as a browser without script does, and returns the page that follows."""
        response = self.client.post(path, fields, follow=True)
        assert response.redirect_chain and response.status_code == 200
        return response.content.decode()


def address(row: Candidate | Fact) -> str:
    return f"/memory/{'candidates' if isinstance(row, Candidate) else 'facts'}/{row.pk}/"


class ListTests(PanelCase):
    def test_candidate_shows_what_a_person_needs_to_decide(self) -> None:
        row = self.learnt(seen=4, created_at=timezone.now() - timedelta(weeks=3))
        page = self.page(MEMORY)
        assert f'data-candidate="{row.pk}"' in page
        for words in ("“以后出卷时简答题多一些”", "长期习惯", "confidence 80%", "3 weeks ago", "seen 4 times"):
            assert words in page, words
        assert f'href="/chat/t/{row.thread_id}/#{row.source_run_id}"' in page

    def test_pending_and_confirmed_stand_apart(self) -> None:
        row, fact = self.candidate(), self.fact()
        page = self.page(MEMORY)
        pending, confirmed = page.index('id="pending"'), page.index('id="confirmed"')
        assert pending < page.index(f'data-candidate="{row.pk}"') < confirmed < page.index(f'data-fact="{fact.pk}"')

    def test_confirmed_are_counted_for_each_scope(self) -> None:
        self.fact()
        self.fact("出卷时选择题多一些", agent=self.agent)
        self.fact("答案写在最后", agent=self.agent)
        page = self.page(MEMORY)
        assert "1/30" in page and "2/30" in page and self.agent.name in page

    def test_surest_stand_first_and_put_off_ones_last(self) -> None:
        rows = [self.candidate(f"第{share}条", confidence=share) for share in (0.5, 0.9, 0.7)]
        Candidate.objects.filter(pk=rows[1].pk).update(later_until=timezone.now() + timedelta(hours=9))
        page = self.page(MEMORY)
        places = [page.index(f'data-candidate="{rows[number].pk}"') for number in (2, 0, 1)]
        assert places == sorted(places)

    def test_list_goes_on_where_its_first_page_ends(self) -> None:
        rows = [self.candidate(f"第{number}条", confidence=0.5) for number in range(40)]
        first = self.client.get(MEMORY)
        rest = self.client.get(MEMORY, {"after": first.context["more"]}, headers=HTMX).content.decode()
        shown = [[f'data-candidate="{row.pk}"' in text for row in rows] for text in (first.content.decode(), rest)]
        assert sum(shown[0]) == 30 and shown[0] == [not one for one in shown[1]] and "<html" not in rest

    def test_bad_place_in_a_list_shows_its_start(self) -> None:
        row = self.candidate()
        for after in ("x", "[]", '["a", 2, "", 1]', "\x00", '[0, 0.5, "2026-01-01", "x"]'):
            assert row.pk in self.client.get(MEMORY, {"after": after}).content.decode()

    def test_search_and_filters_hold_for_both_lists(self) -> None:
        row, fact = self.candidate("卷积的练习%_%"), self.fact("卷积讲得慢", kind="teaching")
        others = [self.candidate("别的一条"), self.fact("别的事实")]
        for query, found in ((("卷积"), [row, fact]), ("%_%", [row]), ("没有的词", [])):
            page = self.client.get(MEMORY, {"q": query}).content.decode()
            assert [one.pk in page for one in (row, fact, *others)] == [one in found for one in (row, fact)] + [False, False]
        page = self.client.get(MEMORY, {"kind": "teaching", "scope": "shared"}).content.decode()
        assert fact.pk in page and others[1].pk not in page and row.pk not in page

    def test_look_alikes_stand_side_by_side(self) -> None:
        self.fact("老师喜欢用表格")
        self.candidate("用户偏好表格形式")
        page = self.page(MEMORY)
        assert "Looks like" in page and page.index("用户偏好表格形式") < page.index("老师喜欢用表格")

    def test_contradiction_shows_what_would_change(self) -> None:
        old = self.fact("出卷时选择题多一些")
        self.candidate("出卷时简答题多一些", contradicts=old)
        page = self.page(MEMORY)
        assert "<del>选择</del>" in page and "<ins>简答</ins>" in page
        assert 'value="replace"' in page and "Keep both" in page

    def test_empty_panel_teaches(self) -> None:
        assert "Nothing of it is used in an answer until you say yes." in self.page(MEMORY)

    def test_panel_says_who_switched_memory_off_and_stays(self) -> None:
        fact = self.fact()
        Preference.objects.filter(user=self.user).update(has_memory=False)
        page = self.page(MEMORY)
        assert "You have switched memory off" in page and fact.text in page
        Tenant.objects.update(has_memory=False)
        assert "Your school has switched memory off" in self.page(MEMORY)

    def test_teacher_without_a_school_sees_an_empty_panel(self) -> None:
        Membership.objects.filter(user=self.user).delete()
        assert self.client.get(MEMORY).status_code == 200

    def test_full_panel_opens_in_few_queries_more_than_an_empty_one(self) -> None:
        with CaptureQueriesContext(
            connection,
        ) as empty:
            self.page(MEMORY)
        decision = builders.decision(self.user)
        many = [("第{}条要确认的", 500, {"status": "pending"}), ("第{}条不要的", 5000, {"status": "rejected", "decision": decision})]
        values = {"tenant": self.agent.tenant, "user": self.user, "agent": self.agent}
        for words, number, more in many:
            texts = [words.format(one) for one in range(number)]
            Candidate.objects.bulk_create([Candidate(text=text, normal=text, **values, **more) for text in texts])
        for number in range(30):
            self.fact(f"第{number}条确认的", decision=decision)
        with CaptureQueriesContext(connection) as full:
            page = self.page(MEMORY)
        assert "30/30" in page and len(full) - len(empty) < 5

    def test_rejected_are_listed_in_parts(self) -> None:
        decision = builders.decision(self.user)
        rows = [self.candidate(f"不要第{number}条", status="rejected", decision=decision) for number in range(55)]
        first = self.client.get(MEMORY, {"list": "rejected"})
        rest = self.client.get(MEMORY, {"list": "rejected", "after": first.context["more"]}, headers=HTMX).content.decode()
        assert sum(row.pk in rest for row in rows) == 5
