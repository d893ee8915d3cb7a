"""The question on the chat page, asked once; the answers in the settings."""

from django.test import TestCase
from django.urls import reverse

from chat.consents import next_ask
from chat.memory.switches import switch_memory
from chat.models import Agent, Consent, Preference, Provider, Tenant
from chat.runs.delete import erase_thread
from chat.viewer import find_viewer, fragments
from tests import builders

CLOUD = {"name": "远方云", "kind": "openai", "base_url": "https://embed.example:8443/v1", "is_local": False}


class ConsentCase(TestCase):
    def setUp(self) -> None:
        self.school = builders.tenant()
        self.user = builders.teacher(self.school)
        self.agent = builders.agent(self.school, name="命题助手")
        self.service = builders.provider(self.school, **CLOUD)
        Tenant.objects.filter(pk=self.school.pk).update(embedder=self.service, embedding_model="bge-m3")
        self.client.force_login(self.user)
        self.page = reverse("agent", args=[self.agent.pk])

    def say(self, word: str = "agree", *, purpose: str = "embed", back: str = "", htmx: bool = False, provider: str = ""):
        fields = {"provider": provider or self.service.pk, "purpose": purpose, "answer": word, "back": back or self.page}
        return self.client.post(reverse("consent-answer"), fields, headers={"HX-Request": "true"} if htmx else {})

    def card(self, path: str = "") -> str:
        """What stands in the card; "" for nothing."""
        html = self.client.get(path or self.page).content.decode()
        assert html.count('<div id="consent-card">') == 1
        return html.partition('<form class="consent"')[2].partition("</form>")[0]


class OfReviews(ConsentCase):
    """An assistant of one vendor whose notes are reviewed at another one's."""

    def setUp(self) -> None:
        super().setUp()
        Tenant.objects.filter(pk=self.school.pk).update(embedder=None)
        own = builders.provider(self.school, **CLOUD | {"name": "近处云", "base_url": "https://answers.example/v1"})
        Agent.objects.filter(pk=self.agent.pk).update(provider=own, review_provider=self.service, review_model="small")

    def test_it_is_asked_with_where_it_goes(self) -> None:
        card = self.card()
        assert not [word for word in ("远方云", "embed.example:8443", "整理笔记", "命题助手") if word not in card]

    def test_after_the_answer_the_page_says_where_it_goes(self) -> None:
        assert "为了整理笔记" not in self.client.get(self.page).content.decode()
        assert self.say(purpose="review").status_code == 302
        assert self.card() == ""
        assert "为了整理笔记，还会发送到 远方云" in self.client.get(self.page).content.decode()
        assert "笔记整理 · 远方云" in self.client.get(reverse("settings")).content.decode()

    def test_it_is_not_asked_while_memory_is_off(self) -> None:
        switch_memory(self.user.pk, is_on=False)
        assert self.card() == ""

    def test_a_service_that_reviews_nothing_cannot_be_answered_about(self) -> None:
        Agent.objects.update(review_provider=None)
        assert self.say(purpose="review").status_code == 404


class Card(ConsentCase):
    def test_it_says_what_goes_where_and_that_it_can_be_changed(self) -> None:
        card = self.card()
        assert not [word for word in ("远方云", "embed.example:8443", "同意", "不同意", "设置") if word not in card]

    def test_it_stands_in_a_conversation_too(self) -> None:
        thread = builders.thread(self.user, self.agent)
        assert "远方云" in self.card(reverse("thread", args=[thread.pk]))

    def test_after_either_answer_it_does_not_come_again(self) -> None:
        for word in ("agree", "decline"):
            Consent.objects.all().delete()
            assert self.say(word).status_code == 302
            assert self.card() == ""

    def test_without_script_the_answer_leads_back_to_the_page(self) -> None:
        assert self.say()["Location"] == self.page

    def test_it_leads_to_no_other_site(self) -> None:
        for back in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "evil"):
            assert self.say(back=back)["Location"] == "/"

    def test_with_script_the_answer_takes_the_place_of_the_card(self) -> None:
        html = self.say("decline", htmx=True).content.decode()
        assert 'id="consent-card"' in html
        assert "<form" not in html
        assert "autofocus" in html

    def test_the_answer_is_kept_with_its_time_and_host(self) -> None:
        self.say("agree")
        row = Consent.objects.get()
        assert (row.user_id, row.provider_id, row.is_agreed, row.host) == (self.user.pk, self.service.pk, True, "embed.example:8443")
        assert row.agreed_at
        assert not row.declined_at
        self.say("decline")
        row.refresh_from_db()
        assert row.agreed_at < row.declined_at

    def test_nothing_is_asked_for_a_service_of_the_schools_own(self) -> None:
        Provider.objects.filter(pk=self.service.pk).update(is_local=True)
        assert self.card() == ""

    def test_nothing_is_asked_without_an_embedder(self) -> None:
        Tenant.objects.filter(pk=self.school.pk).update(embedder=None)
        assert self.card() == ""

    def test_without_an_embedder_and_with_local_assistants_it_costs_no_query(self) -> None:
        Tenant.objects.filter(pk=self.school.pk).update(embedder=None)
        agent = Agent.objects.select_related("provider", "tenant").get(pk=self.agent.pk)
        with self.assertNumQueries(0):
            assert next_ask(self.user, agent) is None

    def test_nothing_is_asked_while_memory_is_off(self) -> None:
        switch_memory(self.user.pk, is_on=False)
        assert self.card() == ""

    def test_nothing_is_asked_in_an_incognito_conversation(self) -> None:
        thread = builders.thread(self.user, self.agent, is_incognito=True)
        assert self.card(reverse("thread", args=[thread.pk])) == ""

    def test_a_service_that_moved_is_asked_about_again(self) -> None:
        self.say()
        Provider.objects.filter(pk=self.service.pk).update(base_url="https://new.example/v1")
        assert "new.example" in self.card()

    def test_names_are_text_and_not_markup(self) -> None:
        Provider.objects.filter(pk=self.service.pk).update(name="<img src=x onerror=1>")
        assert "<img" not in self.card()

    def test_what_is_no_answer_is_not_found(self) -> None:
        for fields in ({"word": "perhaps"}, {"purpose": "other"}, {"provider": "pv_" + "a" * 20}):
            assert self.say(**fields).status_code == 404
        assert not Consent.objects.exists()

    def test_a_service_of_another_school_is_not_found(self) -> None:
        strange = builders.tenant()
        service = builders.provider(strange, **CLOUD)
        Tenant.objects.filter(pk=strange.pk).update(embedder=service, embedding_model="bge-m3")
        assert self.say(provider=service.pk).status_code == 404

    def test_a_service_that_nobody_asks_about_is_not_found(self) -> None:
        other = builders.provider(self.school, **CLOUD)
        assert self.say(provider=other.pk).status_code == 404


class LivePages(ConsentCase):
    def html(self, thread_id: str = "") -> str:
        viewer = find_viewer(self.user, thread_id, self.agent.pk, {})
        assert viewer is not None
        return next((one.html for one in fragments(self.user, viewer, has_status=False) if one.target == "consent-card"), "")

    def test_other_open_pages_ask_no_more_once_it_is_answered(self) -> None:
        assert "<form" in self.html()
        self.say()
        assert "<form" not in self.html()
        assert Preference.objects.get(user=self.user).news_at

    def test_a_conversation_that_was_deleted_asks_nothing(self) -> None:
        thread = builders.thread(self.user, self.agent)
        viewer = find_viewer(self.user, thread.pk, "", {})
        erase_thread(self.user, thread.pk)
        assert viewer is not None
        assert "consent-card" not in str([one.target for one in fragments(self.user, viewer, has_status=False)])


class Recalling(ConsentCase):
    def setUp(self) -> None:
        super().setUp()
        Tenant.objects.filter(pk=self.school.pk).update(embedder=None)
        builders.recalled(builders.run(builders.thread(self.user, self.agent), provider=self.agent.provider))
        self.far = builders.provider(self.school, name="远方云", kind="openai", base_url="https://chat.example/v1", is_local=False)
        self.other = builders.agent(self.school, name="云端助手", provider=self.far)
        self.page = reverse("agent", args=[self.other.pk])

    def test_it_is_asked_on_the_page_of_the_assistant_that_would_be_told(self) -> None:
        card = self.card()
        assert not [word for word in ("云端助手", "远方云", "chat.example") if word not in card]
        assert self.card(reverse("agent", args=[self.agent.pk])) == ""

    def test_the_answer_is_kept(self) -> None:
        self.say("decline", purpose="recall", provider=self.far.pk)
        assert self.card() == ""
        assert Consent.objects.get().purpose == "recall"


class Settings(ConsentCase):
    def listed(self) -> str:
        html = self.client.get(reverse("settings")).content.decode()
        return html.partition('id="consents"')[2].partition("</section>")[0]

    def test_what_was_said_stands_with_its_date_and_can_be_withdrawn(self) -> None:
        self.say()
        listed = self.listed()
        assert not [word for word in ("远方云", "embed.example:8443", "今天", "收回") if word not in listed]
        self.say("decline", back="settings")
        assert 'data-agreed="no"' in self.listed()

    def test_what_was_declined_can_be_agreed_to(self) -> None:
        self.say("decline")
        assert 'value="agree"' in self.listed()
        self.say("agree", back="settings")
        assert 'data-agreed="yes"' in self.listed()

    def test_what_is_not_answered_yet_can_be_answered_here(self) -> None:
        assert 'value="agree"' in self.listed()

    def test_the_list_alone_comes_for_a_script(self) -> None:
        html = self.say(back="settings", htmx=True).content.decode()
        assert html.strip().startswith("<section")
        assert 'data-agreed="yes"' in html

    def test_an_answer_for_another_host_counts_no_more_and_says_so(self) -> None:
        self.say()
        Provider.objects.filter(pk=self.service.pk).update(base_url="https://new.example/v1")
        assert 'data-agreed="no"' in self.listed()

    def test_without_anything_to_say_the_section_is_hidden(self) -> None:
        Tenant.objects.filter(pk=self.school.pk).update(embedder=None)
        assert " hidden>" in self.listed().split("<h2")[0]

    def test_answers_of_others_are_not_shown(self) -> None:
        colleague = builders.teacher(self.school)
        Consent.objects.create(
            tenant=self.school,
            user=colleague,
            provider=builders.provider(self.school, **CLOUD | {"name": "同事的云"}),
            purpose="recall",
            is_agreed=True,
        )
        assert "同事的云" not in self.listed()


class Privacy(ConsentCase):
    def said(self, thread_id: str = "") -> str:
        html = self.client.get(reverse("thread", args=[thread_id]) if thread_id else self.page).content.decode()
        said = html.partition('id="composer-privacy">')[2].partition("</p>")[0]
        return said.partition('<span class="privacy-incognito">')[0]  # shown while incognito is ticked

    def test_the_message_box_says_where_text_goes(self) -> None:
        assert "远方云" not in self.said()
        self.say()
        assert "远方云" in self.said()
        assert "不离开本校" not in self.said()

    def test_of_an_incognito_conversation_nothing_goes_there(self) -> None:
        self.say()
        assert "远方云" not in self.said(builders.thread(self.user, self.agent, is_incognito=True).pk)

    def test_a_round_says_where_its_question_went(self) -> None:
        thread = builders.thread(self.user, self.agent)
        builders.run(thread, provider=self.agent.provider, embedder=self.service)
        html = (
            self.client.get(reverse("thread", args=[thread.pk])).content.decode().partition('id="messages"')[2].partition('class="dock"')[0]
        )
        assert "远方云" in html
        assert "未离开本校" not in html
