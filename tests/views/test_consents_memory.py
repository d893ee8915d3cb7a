"""The memory backend on the pages: asked before anything is sent, said where text goes, and what an answer went without."""

from dataclasses import replace

from django.test import TestCase, override_settings
from django.urls import reverse

from chat.consents import next_ask
from chat.memory.base import Segment
from chat.memory.ledger import Ledger, to_row
from chat.memory.switches import switch_memory
from chat.models import Agent, Consent, Run
from chat.presentation import fact_words, run_card
from tests import builders
from tests.scripted_backend import NAME, PLACE, SENDS, scripted_backend


class MemoryCase(TestCase):
    def setUp(self) -> None:
        self.backend = self.enterContext(scripted_backend())
        self.school = builders.tenant()
        self.user = builders.teacher(self.school)
        self.agent = builders.agent(self.school)
        self.client.force_login(self.user)
        self.page = reverse("agent", args=[self.agent.pk])

    def say(self, word: str = "agree", *, back: str = "", htmx: bool = False, school: str = ""):
        fields = {"provider": school or self.school.pk, "purpose": "memory", "answer": word, "back": back or self.page}
        return self.client.post(reverse("consent-answer"), fields, headers={"HX-Request": "true"} if htmx else {})

    def html(self, path: str = "") -> str:
        return self.client.get(path or self.page).content.decode()

    def card(self, path: str = "") -> str:
        return self.html(path).partition('<form class="consent"')[2].partition("</form>")[0]

    def privacy(self, thread_id: str = "") -> str:
        path = reverse("thread", args=[thread_id]) if thread_id else ""
        said = self.html(path).partition('id="composer-privacy">')[2].partition("</p>")[0]
        return said.partition('<span class="privacy-incognito">')[0]  # shown while incognito is ticked


class Card(MemoryCase):
    def test_it_says_where_text_goes_who_keeps_it_and_that_nothing_is_confirmed(self) -> None:
        card = self.card()
        wanted = ("OpenViking", PLACE, "不再逐条请你确认", "不同意就什么都不发送", "记忆页", 'value="decline"')
        assert not [word for word in wanted if word not in card]

    def test_it_stands_in_a_conversation_too_but_not_in_an_incognito_one(self) -> None:
        shown = builders.thread(self.user, self.agent)
        hidden = builders.thread(self.user, self.agent, is_incognito=True)
        assert "OpenViking" in self.card(reverse("thread", args=[shown.pk]))
        assert self.card(reverse("thread", args=[hidden.pk])) == ""

    def test_after_either_answer_it_does_not_come_again(self) -> None:
        for word in ("agree", "decline"):
            Consent.objects.all().delete()
            assert self.say(word)["Location"] == self.page
            assert self.card() == ""

    def test_the_answer_is_kept_for_this_school_alone(self) -> None:
        self.say()
        row = Consent.objects.get()
        assert (row.tenant_id, row.user_id, row.provider, row.purpose, row.host) == (self.school.pk, self.user.pk, None, "memory", PLACE)

    def test_with_script_the_answer_takes_the_place_of_the_card(self) -> None:
        html = self.say("decline", htmx=True).content.decode()
        assert "不会为此向 OpenViking 发送任何内容" in html
        assert "<form" not in html

    def test_a_school_of_others_cannot_be_answered_for(self) -> None:
        assert self.say(school=builders.tenant().pk).status_code == 404
        assert not Consent.objects.exists()

    def test_a_backend_that_is_not_in_force_cannot_be_answered_about(self) -> None:
        with override_settings(MEMORY_MANAGER="builtin"):
            assert self.say().status_code == 404
            assert self.card() == ""

    def test_it_is_not_asked_while_memory_is_off(self) -> None:
        switch_memory(self.user.pk, is_on=False)
        assert self.card() == ""

    @override_settings(MEMORY_MANAGER_PER_AGENT=True)
    def test_an_assistant_that_does_not_use_it_does_not_ask(self) -> None:
        Agent.objects.update(memory_manager="builtin")
        assert self.card() == ""

    def test_recall_which_stands_back_is_not_asked_about(self) -> None:
        builders.recalled(builders.run(builders.thread(self.user, self.agent), provider=self.agent.provider))
        far = builders.provider(self.school, name="远方云", kind="openai", base_url="https://chat.example/v1", is_local=False)
        other = reverse("agent", args=[builders.agent(self.school, provider=far).pk])
        self.say()
        assert self.card(other) == ""
        with override_settings(MEMORY_MANAGER="builtin"):
            assert "远方云" in self.card(other)

    def test_a_backend_that_moved_is_asked_about_again(self) -> None:
        self.say()
        self.backend.capabilities = replace(SENDS, place="elsewhere.example")
        assert "elsewhere.example" in self.card()

    def test_the_built_in_memory_costs_the_page_no_query(self) -> None:
        agent = Agent.objects.select_related("provider", "tenant").get(pk=self.agent.pk)
        with override_settings(MEMORY_MANAGER="builtin"), self.assertNumQueries(0):
            assert next_ask(self.user, agent) is None


class Settings(MemoryCase):
    def listed(self) -> str:
        return self.html(reverse("settings")).partition('id="consents"')[2].partition("</section>")[0]

    def test_what_is_not_answered_yet_can_be_answered_here(self) -> None:
        listed = self.listed()
        assert "记忆 · OpenViking" in listed
        assert 'value="agree"' in listed

    def test_what_was_agreed_to_can_be_withdrawn(self) -> None:
        self.say()
        assert 'data-agreed="yes"' in self.listed()
        assert "收回" in self.listed()
        self.say("decline", back="settings")
        assert 'data-agreed="no"' in self.listed()
        assert not Consent.objects.get().is_agreed

    def test_each_school_is_answered_for_by_itself(self) -> None:
        other = builders.tenant("另一所学校")
        other.memberships.create(user=self.user, role="teacher")
        self.say()
        listed = self.listed()
        assert listed.count('data-agreed="yes"') == 1
        assert listed.count('data-agreed="no"') == 1
        self.say(school=other.pk)
        assert self.listed().count('data-agreed="yes"') == 2

    def test_without_the_backend_its_answers_are_not_shown(self) -> None:
        self.say()
        with override_settings(MEMORY_MANAGER="builtin"):
            assert "<li" not in self.listed()

    def test_an_answer_for_another_place_counts_no_more_and_says_so(self) -> None:
        self.say()
        self.backend.capabilities = replace(SENDS, place="elsewhere.example")
        assert 'data-agreed="no"' in self.listed()
        assert "elsewhere.example" in self.listed()


class Said(MemoryCase):
    """What the page says of where text goes, and of an answer that memory was not used for."""

    def test_the_message_box_says_where_what_is_said_is_kept(self) -> None:
        assert "本校" in self.privacy()
        self.say()
        assert f"OpenViking（{PLACE}）" in self.privacy()
        assert "不离开本校" not in self.privacy()
        thread = builders.thread(self.user, self.agent, is_incognito=True)
        assert "OpenViking" not in self.privacy(thread.pk)

    def test_after_a_refusal_it_does_not(self) -> None:
        self.say("decline")
        assert "OpenViking" not in self.privacy()

    def shown(self, **fields: object) -> str:
        thread = builders.thread(self.user, self.agent)
        builders.run(thread, **fields)
        html = self.html(reverse("thread", args=[thread.pk]))
        return html.partition('id="messages"')[2].partition('class="dock"')[0]

    def test_a_round_says_where_it_is_kept(self) -> None:
        html = self.shown(backend=NAME)
        assert f"所说的内容也会交给 OpenViking（{PLACE}）" in html
        assert "未离开本校" not in html

    def test_a_round_without_an_answer_is_not_kept_but_was_asked_about(self) -> None:
        html = self.shown(backend=NAME, status="failed", error_code="provider_timeout")
        assert f"为了记忆，问题还发送到了 OpenViking（{PLACE}）" in html
        assert "也会交给" not in html

    def test_a_round_that_was_not_agreed_to_stayed_here_and_nothing_was_missed(self) -> None:
        html = self.shown(backend=NAME, backend_code="memory_not_agreed")
        assert "未离开本校" in html
        assert "OpenViking" not in html
        assert "memory-missed" not in html

    def test_a_round_that_memory_was_missed_for_says_so(self) -> None:
        html = self.shown(backend=NAME, backend_code="memory_timeout")
        assert "这次没有用上记忆" in html
        assert "没有及时回应" in html
        assert "这次没有用上记忆" in self.shown(backend=NAME, backend_code="memory_of_tomorrow")

    def test_a_round_without_trouble_says_nothing(self) -> None:
        assert "memory-missed" not in self.shown(backend=NAME)
        assert "memory-missed" not in self.shown()

    def test_an_answer_that_is_going_says_nothing_yet(self) -> None:
        thread = builders.thread(self.user, self.agent)
        run = builders.run(thread, status="running", output="", backend=NAME, backend_code="memory_timeout")
        assert run_card(run, "助手").missed == ""

    def test_a_round_of_a_backend_of_old_names_it(self) -> None:
        with override_settings(MEMORY_MANAGER="builtin"):
            assert "所说的内容也会交给 openviking" in str(fact_words(Run(backend=NAME, status="completed", model="m")))


class LedgerPage(MemoryCase):
    def page_of(self, segment: Segment, language: str) -> str:
        run = builders.run(builders.thread(self.user, self.agent), backend=NAME)
        to_row(run.pk, Ledger([Segment("system", "system", "你是", 1, 1), segment], 6_000)).save(force_insert=True)
        return self.client.get(reverse("run-ledger", args=[run.pk]), headers={"Accept-Language": language}).content.decode()

    def segment(self) -> Segment:
        source, category = "viking://user/df_0/memories/preferences/a.md", "preferences"
        notes = [{"id": source, "score": 0.7, "matched": [], "category": category}]
        dropped = [{"id": "viking://b", "tokens": 9, "reason": reason} for reason in ("duplicate", "budget", "threat:prompt_leak")]
        return Segment("external", "user", "- [preferences] 喜欢简答题", 9, 2_000, 4, [source], [], dropped, notes)

    def test_it_names_the_segment_its_source_and_why_others_were_left_out(self) -> None:
        html = self.page_of(self.segment(), "zh-CN")
        wanted = ("相关历史（来自记忆服务）", "memories/preferences/a.md", "的相关度为 0.70", "与另一条", "空间", "安全检查")
        assert not [word for word in wanted if word not in html]
        html = self.page_of(self.segment(), "en")
        wanted = ("Related history from the memory backend", "is related with 0.70 of 1", "it says the same as another one")
        assert not [word for word in wanted if word not in html]
