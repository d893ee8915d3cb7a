"""Every action of the memory panel, with what it really did, by forms and in place; races; walls."""

from dataclasses import asdict

from django.utils.translation import override

from chat.memory.base import Segment
from chat.memory.core import decide
from chat.models import Candidate, Decision, Fact, RedlineRecord, RunLedger
from chat.panel.history import history_of
from tests import builders
from tests.views.test_memory import HTMX, MEMORY, PanelCase, address


class CandidateTests(PanelCase):
    def test_confirmed_candidate_moves_to_the_confirmed(self) -> None:
        row = self.learnt()
        answer = self.decide_on(row, "confirm")
        fact = Fact.objects.get()
        assert (fact.text, fact.agent, fact.decision.user) == (row.text, self.agent, self.user)
        assert "Remembered." in answer and f'data-fact="{fact.pk}"' in answer and f'data-candidate="{row.pk}"' not in answer
        assert 'data-count="0"' in answer

    def test_wording_can_be_changed_before_confirming(self) -> None:
        row = self.candidate()
        form = self.client.get(address(row), {"part": "edit"}, headers=HTMX).content.decode()
        assert f">{row.text}</textarea>" in form
        self.decide_on(row, "confirm", text="出卷时简答题占一半", scope="shared")
        assert Fact.objects.values_list("text", "agent").get() == ("出卷时简答题占一半", None)

    def test_private_wording_is_refused_with_its_rule_and_the_sentence_stays_in_the_box(self) -> None:
        row = self.candidate()
        answer = self.decide_on(row, "confirm", text="我的身份证是11010519491231002X")
        assert "an identity number (rule: " in answer and "11010519491231002X</textarea>" in answer
        assert not Fact.objects.exists() and RedlineRecord.objects.count() == 1

    def test_other_private_wording_is_asked_about_once(self) -> None:
        row = self.candidate()
        asked = self.decide_on(row, "confirm", text="家长电话13812345678")
        assert "Keep it all the same" in asked and not Fact.objects.exists()
        self.decide_on(row, "confirm", text="家长电话13812345678", accepted="phone")
        assert Fact.objects.get().text == "家长电话13812345678"

    def test_replacing_archives_the_old_wording(self) -> None:
        old = self.fact("出卷时选择题多一些")
        row = self.candidate("出卷时简答题多一些", contradicts=old)
        assert "Replaced" in self.decide_on(row, "replace", replaces=old.pk)
        old.refresh_from_db()
        assert old.status == "archived" and Fact.objects.get(status="confirmed").text == row.text

    def test_replacing_what_has_gone_meanwhile_does_not_claim_to_have_replaced(self) -> None:
        old = self.fact("出卷时选择题多一些")
        row = self.candidate("出卷时简答题多一些", contradicts=old)
        decide.delete(self.user, [old.pk])
        answer = self.decide_on(row, "replace", replaces=old.pk)
        assert "Remembered." in answer and "Replaced" not in answer

    def test_rejected_candidate_is_listed_and_can_be_allowed_again(self) -> None:
        row = self.candidate()
        assert "not proposed again" in self.decide_on(row, "reject")
        assert row.text in self.page(f"{MEMORY}?list=rejected") and row.pk not in self.page(MEMORY)
        assert "Allowed again" in self.decide_on(row, "allow", **{"in": "shelf"})
        assert row.pk in self.page(MEMORY)

    def test_put_off_candidate_stays_in_the_list(self) -> None:
        row = self.candidate()
        answer = self.decide_on(row, "later")
        assert "data-later" in answer and "Put off until tomorrow" in answer
        assert Candidate.objects.get().status == "pending"

    def test_several_are_decided_at_once_and_counted(self) -> None:
        rows = [self.candidate(f"第{number}条") for number in range(4)]
        decide.reject(self.user, [rows[0].pk])
        ids = [row.pk for row in rows] + ["cand_gone"]
        answer = self.client.post("/memory/bulk/", {"verb": "confirm", "id": ids}, headers=HTMX).content.decode()
        assert "3 are remembered. 1 had been decided already. 1 does not exist any more." in answer
        assert Decision.objects.filter(verb="confirm").count() == 1

    def test_contradictions_are_left_when_several_are_confirmed(self) -> None:
        old = self.fact("出卷时选择题多一些")
        rows = [self.candidate("出卷时简答题多一些", contradicts=old), self.candidate("答案写在最后")]
        answer = self.client.post("/memory/bulk/", {"verb": "confirm", "id": [row.pk for row in rows]}, headers=HTMX).content.decode()
        assert "Remembered." in answer and "1 contradicts what is remembered: decide on it by itself." in answer
        assert rows[0].pk in answer and Fact.objects.filter(status="confirmed").count() == 2

    def test_unknown_action_is_refused(self) -> None:
        for path in (address(self.candidate()), address(self.fact()), "/memory/bulk/"):
            assert self.client.post(path, {"verb": "x"}).status_code == 400


class FactTests(PanelCase):
    def test_fact_is_changed_pinned_and_deleted(self) -> None:
        fact = self.fact()
        assert "Changed." in self.client.post(address(fact), {"verb": "edit", "text": "我教高三"}, headers=HTMX).content.decode()
        assert "Pinned" in self.decide_on(fact, "pin")
        fact.refresh_from_db()
        assert (fact.text, fact.is_pinned) == ("我教高三", True)
        answer = self.decide_on(fact, "delete")
        assert "Deleted" in answer and "我教高三" not in answer
        assert fact.pk in self.page(f"{MEMORY}?list=deleted")

    def test_archived_fact_is_brought_back(self) -> None:
        fact = self.fact(status="archived")
        assert fact.text in self.page(f"{MEMORY}?list=archived")
        assert "Brought back" in self.decide_on(fact, "restore", **{"in": "shelf"})
        assert f'data-fact="{fact.pk}"' in self.page(MEMORY)

    def test_fact_is_added_by_hand(self) -> None:
        page = self.plainly("/memory/add/", text="我教高二", kind="teaching", scope=self.agent.pk)
        fact = Fact.objects.get()
        assert (fact.text, fact.kind, fact.agent) == ("我教高二", "teaching", self.agent)
        assert "Remembered." in page and f'data-fact="{fact.pk}"' in page

    def test_refused_addition_keeps_the_sentence(self) -> None:
        response = self.client.post("/memory/add/", {"text": "卡号6222021234567890128", "scope": "shared"})
        page = response.content.decode()
        assert response.status_code == 422 and "6222021234567890128</textarea>" in page and "a bank card number" in page

    def test_the_thirty_first_evicts_and_names_what_made_room(self) -> None:
        decision = builders.decision(self.user)
        facts = [self.fact(f"第{number}条", agent=self.agent, decision=decision) for number in range(30)]
        answer = self.decide_on(self.candidate("新的一条"), "confirm")
        assert f"“{facts[0].text}”, used least lately, is in the archive." in answer and "30/30" in answer
        undone = self.client.post("/memory/undo/", headers=HTMX).content.decode()
        assert "Undone." in undone and facts[0].pk in undone

    def test_history_tells_every_step_with_its_wording(self) -> None:
        row = self.candidate("出卷时简答题多一些")
        decide.confirm(self.user, [row.pk])
        fact = Fact.objects.get()
        decide.edit(self.user, fact.pk, "出卷时填空题多一些")
        for page in (self.page(address(fact)), self.page(f"{address(fact)}?part=history", **HTMX)):
            assert page.index("confirmed") < page.index("edited") < page.index("<del>简答</del>")
            assert self.user.username in page

    def test_history_tells_a_confirmation_once(self) -> None:
        row = self.candidate("出卷时简答题多一些")
        decide.confirm(self.user, [row.pk])
        with override("en"):
            for one in (Fact.objects.get(), row):
                assert [line.words for line in history_of(self.user, one)].count("confirmed") == 1


class UndoTests(PanelCase):
    def test_last_action_is_offered_and_taken_back(self) -> None:
        row = self.candidate()
        self.decide_on(row, "reject")
        page = self.page(MEMORY)
        assert "Last action: rejected" in page
        answer = self.plainly("/memory/undo/", decision=Decision.objects.get().pk)
        assert "Undone." in answer and f'data-candidate="{row.pk}"' in answer

    def test_nothing_to_undo_is_said(self) -> None:
        assert "there is nothing to undo" in self.plainly("/memory/undo/", decision="")

    def test_undoing_twice_is_said(self) -> None:
        self.decide_on(self.candidate(), "reject")
        decision = Decision.objects.get().pk
        self.plainly("/memory/undo/", decision=decision)
        assert "Nothing was changed" in self.plainly("/memory/undo/", decision=decision)


class RaceTests(PanelCase):
    def test_second_click_says_what_the_first_did(self) -> None:
        row = self.candidate()
        self.decide_on(row, "confirm")
        assert "it was already confirmed" in self.decide_on(row, "confirm")
        assert Fact.objects.count() == 1

    def test_rejected_elsewhere_is_not_confirmed_here(self) -> None:
        row = self.candidate()
        decide.reject(self.user, [row.pk])
        assert "it was already turned down" in self.decide_on(row, "confirm")
        assert not Fact.objects.exists()

    def test_fact_deleted_elsewhere_is_not_changed_here(self) -> None:
        fact = self.fact()
        decide.delete(self.user, [fact.pk])
        assert "it was already deleted" in self.decide_on(fact, "edit", text="新的")

    def test_source_deleted_meanwhile_is_said_in_place_and_on_the_page(self) -> None:
        row = self.candidate()
        row.delete()
        response = self.client.post(f"/memory/candidates/{row.pk or 'cand_gone'}/", {"verb": "confirm"})
        assert response.status_code == 404 and "does not exist any more" in response.content.decode()
        assert "does not exist any more" in self.client.post("/memory/facts/fact_gone/", {"verb": "pin"}, headers=HTMX).content.decode()

    def test_fact_gone_meanwhile_leaves_the_list_of_the_others(self) -> None:
        fact = self.fact()
        response = self.client.post("/memory/facts/fact_gone/", {"verb": "pin", "in": "panel"}, headers=HTMX)
        assert response["HX-Retarget"] == "#confirmed" and fact.pk in response.content.decode()

    def test_full_of_pinned_ones_is_said(self) -> None:
        decision = builders.decision(self.user)
        for number in range(30):
            self.fact(f"第{number}条", agent=self.agent, decision=decision, is_pinned=True)
        assert "all 30 places are pinned" in self.decide_on(self.candidate("新的一条"), "confirm")
        assert Candidate.objects.get().status == "pending"


class PlainFormTests(PanelCase):
    def test_actions_come_back_to_the_same_search_with_a_message(self) -> None:
        row = self.candidate("卷积练习")
        page = self.client.post(address(row), {"verb": "reject", "back": "q=%E5%8D%B7%E7%A7%AF"})
        assert (page.status_code, page["Location"]) == (303, "/memory/?q=%E5%8D%B7%E7%A7%AF")
        assert "Not kept" in self.client.get(page["Location"]).content.decode()

    def test_way_back_leads_nowhere_else(self) -> None:
        response = self.client.post(address(self.candidate()), {"verb": "reject", "back": "//evil.example/\r\nX: 1"})
        assert response["Location"].startswith("/memory/?")

    def test_edit_button_opens_a_page_with_the_box(self) -> None:
        for row in (self.candidate(), self.fact()):
            assert f">{row.text}</textarea>" in self.client.post(address(row), {"verb": "edit"}).content.decode()


class DrawerTests(PanelCase):
    def test_drawer_shows_the_first_that_wait_and_how_many_are_confirmed(self) -> None:
        rows = [self.candidate(f"第{number}条", confidence=1 - number / 10) for number in range(7)]
        self.fact()
        page = self.page("/memory/drawer/")
        assert [row.pk in page for row in rows] == [True] * 5 + [False] * 2
        assert "1 confirmed" in page and "<html" not in page

    def test_action_in_the_drawer_shows_the_next(self) -> None:
        rows = [self.candidate(f"第{number}条", confidence=1 - number / 10) for number in range(6)]
        answer = self.decide_on(rows[0], "reject", **{"in": "drawer"})
        assert [row.pk in answer for row in rows] == [False] + [True] * 5 and 'id="memory-drawer"' in answer
        undone = self.client.post("/memory/undo/", {"in": "drawer"}, headers=HTMX).content.decode()
        assert rows[0].pk in undone and "Undone." in undone


class BadgeTests(PanelCase):
    def test_badge_stands_on_every_page_with_count_and_age(self) -> None:
        thread = builders.thread(self.user, self.agent)
        self.candidate()
        for path in (MEMORY, "/settings/", f"/chat/{self.agent.pk}/", f"/chat/t/{thread.pk}/", f"/chat/{self.agent.pk}/archived/"):
            page = self.page(path)
            assert page.count('id="memory-badge"') == 1 and 'data-count="1"' in page and "just now" in page, path

    def test_badge_counts_only_what_waits_for_this_teacher_in_this_school(self) -> None:
        self.candidate(status="rejected")
        builders.candidate(builders.teacher(self.agent.tenant), "别人的")
        assert 'id="memory-badge" data-count="0"' in self.page("/settings/")


class UsedTests(PanelCase):
    def test_answer_says_how_many_memories_it_used_and_opens_them(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent))
        facts = [self.fact("甲"), self.fact("乙"), self.fact("丙")]
        core = Segment("core", "user", "[核心记忆]\n甲\n乙\n丙\n[核心记忆结束]", 9, 600, priority=1, source_ids=[fact.pk for fact in facts])
        segments = [asdict(Segment("system", "system", "你是命题助手。", 5, 5)), asdict(core)]
        RunLedger.objects.create(run=run, segments=segments)
        decide.delete(self.user, [facts[2].pk])
        assert "used 3 memories" in self.page(f"/chat/t/{run.thread_id}/")
        opened = self.page(f"/runs/{run.pk}/memories/", **HTMX)
        assert "甲" in opened and "乙" in opened and "deleted since" in opened and f'href="/memory/facts/{facts[0].pk}/"' in opened

    def test_answer_without_memories_says_nothing(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent))
        RunLedger.objects.create(
            run=run, segments=[asdict(Segment("system", "system", "你是命题助手。", 5, 5)), asdict(Segment("thread", "user", "前情", 2, 9))]
        )
        assert "/memories/" not in self.page(f"/chat/t/{run.thread_id}/")


class WallTests(PanelCase):
    def test_another_teacher_gets_not_found_as_for_what_does_not_exist(self) -> None:
        row, fact = self.candidate(), self.fact()
        colleague = self.colleague()
        for path in (address(row), address(fact), "/memory/candidates/cand_missing/", "/memory/facts/fact_missing/"):
            assert colleague.get(path).status_code == 404
            for verb in ("confirm", "reject", "later", "edit", "pin", "delete", "allow", "restore"):
                response = colleague.post(path, {"verb": verb, "text": "改掉"})
                assert response.status_code == 404 and row.text not in response.content.decode()
        row.refresh_from_db(), fact.refresh_from_db()
        assert (row.status, fact.status, fact.text) == ("pending", "confirmed", "我教高二数据结构")

    def test_others_ids_in_bulk_are_gone(self) -> None:
        row = self.candidate()
        answer = self.colleague().post("/memory/bulk/", {"verb": "confirm", "id": [row.pk]}, follow=True).content.decode()
        assert row.text not in answer and Candidate.objects.get().status == "pending"

    def test_others_decisions_cannot_be_undone(self) -> None:
        self.decide_on(self.candidate(), "reject")
        self.colleague().post("/memory/undo/", {"decision": Decision.objects.get().pk})
        assert Candidate.objects.get().status == "rejected"

    def test_search_finds_nothing_of_others(self) -> None:
        self.candidate("蓝鲸九号"), self.fact("青竹七号")
        colleague = self.colleague()
        for word in ("蓝鲸", "青竹"):
            for query in ({"q": word}, {"list": "rejected", "q": word}):
                assert f"{word}九号" not in (page := colleague.get(MEMORY, query).content.decode()) and f"{word}七号" not in page
