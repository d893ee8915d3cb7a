"""The search of people: exactly what an exhaustive scan finds, in one's own school, with the way to the message."""

import re
import string
import unicodedata
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace
from urllib.parse import parse_qs, quote, urlsplit

from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as HypothesisCase

from chat.finding import Quest, find, find_in_thread
from chat.models import Agent, Membership, Preference, Run, SearchText, Thread, Work
from chat.runs.delete import erase_thread
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from tests import builders
from tests.views.test_chat import ChatCase

PLACE = re.compile(r'href="(/chat/t/[^"#]+)(?:#(run_\w+))?"')
HTMX = {"HX-Request": "true"}
# What a teacher writes, and what goes wrong: wildcards, backslashes, widths, accents in two notations, ligatures.
ALPHABET = "卷积半夜的列aAbBßſＡａ％%_\\'\"*?[]+-ｶﾞée\u0301ﬁ①İiΣς\u3000 \n.😀"
TEXTS = st.text(ALPHABET, max_size=12)


def folded(text: str) -> str:
    """The definition, written down a second time."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def scan(user: User, query: str) -> set[tuple[str, str, str]]:
    """What an exhaustive scan finds: thread, run and part of each title and message that holds all words."""
    words = folded(query).split()
    texts = [(thread.pk, "", "title", thread.title) for thread in Thread.objects.filter(user=user)]
    for run in Run.objects.filter(user=user, is_latest=True):
        texts += [(run.thread_id, run.pk, "input", run.input), (run.thread_id, run.pk, "output", run.output)]
    return {tuple(key) for *key, text in texts if words and all(word in folded(text) for word in words)}


def found(user: User, tenant_id: str, query: str) -> set[tuple[str, str, str]]:
    """Everything that the search finds, over all its pages; each thread's places as its own pages give them."""
    places, after = set(), ""
    while True:
        page = find(user, tenant_id, Quest(query), after)
        for thread in page.threads:
            if any(piece.is_hit for piece in thread.title):
                places.add((thread.id, "", "title"))
            inner = ""
            while True:
                part = find_in_thread(user, tenant_id, Quest(query, thread=thread.id), inner)
                places |= {(thread.id, place.run_id, place.part) for one in part.threads for place in one.places}
                inner = part.more
                if not inner:
                    break
        after = page.more
        if not after:
            return places


class ScanTests(HypothesisCase):
    @given(titles=st.lists(TEXTS, min_size=1, max_size=4), messages=st.lists(st.tuples(TEXTS, TEXTS), max_size=5), query=TEXTS)
    @settings(max_examples=25, deadline=None)
    def test_finds_what_an_exhaustive_scan_finds(self, titles: list[str], messages: list[tuple[str, str]], query: str) -> None:
        user = builders.teacher()
        agent = builders.agent(builders.school_of(user))
        threads = [builders.thread(user, agent, title=title) for title in titles]
        for number, (said, answered) in enumerate(messages):
            builders.run(threads[number % len(threads)], said, answered)
        for wanted in (query, *(text[1:4] for text in titles), *(said[2:5] for said, _answered in messages)):
            titled = {one for one in scan(user, wanted) if one[2] == "title"}
            result = found(user, agent.tenant_id, wanted)
            self.assertEqual({one for one in result if one[2] != "title"}, scan(user, wanted) - titled, wanted)
            self.assertLessEqual(titled, result | {one for one in titled if folded(wanted).split() == []}, wanted)


class SearchCase(ChatCase):
    def search(self, q: str, **more: str) -> str:
        response = self.client.get("/search/", {"q": q, **more})
        assert response.status_code == 200
        return response.content.decode()

    def threads(self, q: str, **more: str) -> set[str]:
        """The threads that the page shows for a query."""
        return {urlsplit(link).path.split("/")[3] for link, _run in PLACE.findall(self.results(q, **more))}

    def results(self, q: str, **more: str) -> str:
        page = self.search(q, **more)
        return page[page.index('id="found"') :]


class SixtyThreadsTests(SearchCase):
    """The case of the words that were not found (PR-06, steps 1 and 3)."""

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()
        cls.by_word: dict[str, list[Thread]] = {}
        for word, number in (("卷积", 3), ("半夜", 1), ("Python 列表推导式", 1), ("C++ 指针", 1)):
            for index in range(number):
                thread = builders.thread(cls.user, cls.agent, title=f"旧话{word[0]}" if index else "旧话")
                builders.run(thread, f"我们上次把{word}的练习放在哪里", "在第三章的末尾")
                cls.by_word.setdefault(word, []).append(thread)
        for number in range(54):
            builders.run(builders.thread(cls.user, cls.agent, title=f"第{number}次"), f"班会发言稿{number}", "同学们好 100% _ok_")

    def test_each_query_finds_what_a_scan_finds(self) -> None:
        for query in ("卷积", "半夜", "列表", "推导", "python 列表", "C++", "c++", "卷", "卷积\u3000", "%_%", "ＰＹＴＨＯＮ", "\\", "没有"):
            with self.subTest(query=query):
                self.assertEqual(found(self.user, self.agent.tenant_id, query), scan(self.user, query))

    def test_page_shows_the_same_threads(self) -> None:
        assert self.threads("卷积\u3000") == {thread.pk for thread in self.by_word["卷积"]}
        assert self.threads("%_%") == set()

    def test_title_leads_to_the_first_place_that_is_shown(self) -> None:
        thread = self.by_word["半夜"][0]
        run = thread.runs.get()
        title = re.search(r'<h2 class="found-title"><a href="([^"]+)"', self.results("半夜"))
        assert title is not None
        assert title[1].endswith(f"/{thread.pk}/?run={run.pk}&amp;q={quote('半夜')}#{run.pk}")

    def test_hit_shows_the_words_around_it_and_leads_to_the_message(self) -> None:
        thread = self.by_word["半夜"][0]
        run = thread.runs.get()
        results = self.results("半夜")
        assert "我们上次把<mark>半夜</mark>的练习放在哪里" in results
        assert f'href="/chat/t/{thread.pk}/?run={run.pk}&amp;q={quote("半夜")}#{run.pk}"' in results

    def test_renaming_and_deleting_follow_at_once(self) -> None:
        first, second, third = self.by_word["卷积"]
        self.client.post(f"/chat/t/{first.pk}/rename/", {"title": "Ｃｏｎｖ 网络"})
        erase_thread(self.user, second.pk)
        assert self.threads("conv") == {first.pk}
        assert self.threads("卷积") == {first.pk, third.pk}
        assert not SearchText.objects.filter(thread_id=second.pk).exists()


class WhatCountsTests(SearchCase):
    def test_words_must_stand_in_the_same_message(self) -> None:
        thread = builders.thread(self.user, self.agent, title="栈")
        builders.run(thread, "讲讲栈", "队列先进先出")
        assert self.threads("队列 先出") == {thread.pk}
        assert self.threads("栈 队列") == set()

    def test_archived_threads_are_found_and_say_so(self) -> None:
        thread = builders.thread(self.user, self.agent, title="旧年的栈", status="archived")
        assert self.threads("旧年") == {thread.pk}
        assert "in the archive" in self.results("旧年")

    def test_incognito_threads_are_neither_found_nor_kept(self) -> None:
        thread = builders.thread(self.user, self.agent, title="悄悄话", is_incognito=True)
        builders.run(thread, "悄悄话")
        Thread.objects.filter(pk=thread.pk).update(title="悄悄话")
        assert self.threads("悄悄话") == set()
        assert not SearchText.objects.filter(thread=thread).exists()

    def test_try_that_was_replaced_is_not_found(self) -> None:
        thread = builders.thread(self.user, self.agent)
        first = builders.run(thread, "旧问法", "旧答案")
        builders.run(thread, "新问法", "新答案", replaces=first)
        assert self.threads("旧答案") == set()
        assert self.threads("新答案") == {thread.pk}

    def test_message_is_found_when_sent_and_its_answer_when_it_has_ended(self) -> None:
        started = start_run(Order(user_id=self.user.pk, agent_id=self.agent.pk, input="出一份卷积练习"))
        assert self.threads("卷积练习") == {started.thread_id}
        assert self.threads("先看定义") == set()
        finish_run(started.run_id, started.thread_id, Outcome("cancelled", "先看定义"))
        assert self.threads("先看定义") == {started.thread_id}

    def test_markup_in_messages_stays_text(self) -> None:
        builders.run(builders.thread(self.user, self.agent), "<script>alert(1)</script> & <b>栈</b>")
        results = self.results("<b>栈")
        assert "<mark>&lt;b&gt;栈</mark>" in results and "<script>alert" not in results

    def test_odd_queries_are_answered(self) -> None:
        for query in ("\x00", "\x00栈", "栈" * 5000, "'; DROP TABLE", "\ud7ff\u0301", "a\u0000b", string.punctuation):
            self.search(query)

    def test_empty_search_teaches_and_nothing_found_says_so(self) -> None:
        assert "also a single character" in self.results("  ")
        assert "Nothing was found for “量子”." in self.results("量子")


class OldRowsTests(SearchCase):
    def test_what_was_said_before_there_was_a_search_is_taken_in(self) -> None:
        builders.run(builders.thread(self.user, self.agent, title="Ｃ语言"), "讲讲ＡＢＣ", "好")
        builders.run(builders.thread(self.user, self.agent), "还在写", "写到一半", status="running")
        builders.run(builders.thread(self.user, self.agent, is_incognito=True), "悄悄话")
        kept = set(SearchText.objects.values_list())
        SearchText.objects.all().delete()
        import_module("chat.migrations.0003_search_of_old_rows").fill(apps, SimpleNamespace(connection=connection))
        assert set(SearchText.objects.values_list()) == kept and len(kept) == 5

    def test_conversations_that_can_be_recalled_wait_for_the_worker(self) -> None:
        told = builders.thread(self.user, self.agent)
        builders.run(told)
        waiting = builders.thread(self.user, self.agent)
        builders.run(waiting)
        Work.objects.mark(Work.Kind.THREAD, waiting.pk)
        builders.run(builders.thread(self.user, self.agent), status="running")
        builders.run(builders.thread(self.user, self.agent), has_memory=False)
        builders.run(builders.thread(self.user, self.agent, is_incognito=True))
        import_module("chat.migrations.0003_search_of_old_rows").wake(apps, SimpleNamespace(connection=connection))
        assert set(Work.objects.values_list("kind", "subject_id", "marks")) == {("thread", told.pk, 1), ("thread", waiting.pk, 2)}


class FilterTests(SearchCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = builders.agent(self.agent.tenant)
        self.old = builders.thread(self.user, self.agent, title="无题", updated_at=timezone.now() - timedelta(days=9))
        builders.run(self.old, "讲栈", created_at=timezone.now() - timedelta(days=9))
        self.new = builders.thread(self.user, self.other, title="无题")
        builders.run(self.new, "讲栈", created_at=timezone.now())

    def test_by_assistant_also_one_that_is_no_longer_offered(self) -> None:
        Agent.objects.filter(pk=self.agent.pk).update(is_active=False)
        assert self.threads("栈", agent=self.agent.pk) == {self.old.pk}
        assert f'value="{self.agent.pk}" selected' in self.search("栈", agent=self.agent.pk)

    def test_by_days_both_included(self) -> None:
        today = timezone.localdate()
        assert self.threads("栈", **{"from": today.isoformat()}) == {self.new.pk}
        assert self.threads("栈", to=(today - timedelta(days=9)).isoformat()) == {self.old.pk}
        assert self.threads("无题", **{"from": today.isoformat(), "to": today.isoformat()}) == {self.new.pk}

    def test_day_that_is_none_is_left_out(self) -> None:
        for day in ("2024-13-99", "x", "\x00", "9999-12-31", "0001-01-01"):
            assert self.threads("栈", to=day) in ({self.old.pk, self.new.pk}, set())
            self.search("栈", **{"from": day})

    def test_days_are_those_of_the_users_clock(self) -> None:
        Preference.objects.filter(user=self.user).update(time_zone="Asia/Shanghai")
        late = timezone.now().replace(year=2025, month=3, day=1, hour=17)  # the second of March in Shanghai
        Run.objects.filter(thread=self.old).update(created_at=late)
        assert self.threads("讲栈", **{"from": "2025-03-02", "to": "2025-03-02"}) == {self.old.pk}


class PagingTests(SearchCase):
    def test_pages_give_every_thread_once_newest_first(self) -> None:
        now = timezone.now()
        made = [builders.thread(self.user, self.agent, title="卷", updated_at=now - timedelta(minutes=number)) for number in range(45)]
        seen, after = [], ""
        while True:
            page = self.search("卷", after=after) if after else self.search("卷")
            seen += re.findall(r'found-title"><a href="/chat/t/(\w+)/', page)
            more = re.search(r'class="found-more"><a href="\?*([^"]+)"', page)
            if not more:
                break
            after = parse_qs(urlsplit(more[1].replace("&amp;", "&")).query)["after"][0]
        assert seen == [thread.pk for thread in made]
        assert "Found in 45 conversations." in self.search("卷")

    def test_further_page_is_a_fragment_for_htmx(self) -> None:
        now = timezone.now()
        for number in range(21):
            builders.thread(self.user, self.agent, title="卷", updated_at=now - timedelta(minutes=number))
        after = find(self.user, self.agent.tenant_id, Quest("卷")).more
        answer = self.client.get("/search/", {"q": "卷", "after": after}, headers=HTMX)
        assert answer.content.decode().count("found-title") == 1
        assert b"<html" not in answer.content and "HX-Request" in answer["Vary"]

    def test_thread_with_many_places_shows_three_and_leads_to_all(self) -> None:
        thread = builders.thread(self.user, self.agent)
        runs = [builders.run(thread, f"卷{number}", "好") for number in range(120)]
        assert "117 more messages in this conversation" in self.results("卷")
        results = self.results("卷", thread=thread.pk)
        assert results.count('class="found-place"') == 50
        assert results.index(runs[-1].pk) < results.index(runs[-2].pk)
        places = {one for one in found(self.user, self.agent.tenant_id, "卷") if one[2] != "title"}
        assert places == {(thread.pk, run.pk, "input") for run in runs}

    def test_page_takes_as_many_queries_for_many_hits_as_for_one(self) -> None:
        builders.run(builders.thread(self.user, self.agent), "卷一")
        self.search("卷")
        with self.assertNumQueries(3):
            find(self.user, self.agent.tenant_id, Quest("卷"))
        for _number in range(15):
            builders.run(builders.thread(self.user, self.agent), "卷二")
        with self.assertNumQueries(3):
            find(self.user, self.agent.tenant_id, Quest("卷"))


class JumpTests(SearchCase):
    def test_link_shows_the_round_also_on_an_earlier_page(self) -> None:
        thread = builders.thread(self.user, self.agent)
        runs = [builders.run(thread, f"第{number}问") for number in range(90)]
        for run in (runs[0], runs[40], runs[59], runs[60], runs[89]):
            assert f'id="{run.pk}"' in self.page(f"/chat/t/{thread.pk}/?run={run.pk}")

    def test_round_of_the_newest_page_leaves_the_page_live(self) -> None:
        thread = builders.thread(self.user, self.agent)
        runs = [builders.run(thread, f"第{number}问") for number in range(40)]
        assert "data-socket" in self.page(f"/chat/t/{thread.pk}/?run={runs[10].pk}")
        assert "data-socket" not in self.page(f"/chat/t/{thread.pk}/?run={runs[9].pk}")

    def test_round_that_does_not_exist_shows_the_newest(self) -> None:
        thread = builders.thread(self.user, self.agent)
        run = builders.run(thread)
        foreign = builders.run(builders.thread(self.user, self.agent))
        for odd in ("run_none", foreign.pk, "\x00", "x" * 999):
            assert f'id="{run.pk}"' in self.page(f"/chat/t/{thread.pk}/?run={odd}")


class WallTests(SearchCase):
    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent, title="秘密标题")
        builders.run(self.thread, "秘密问题", "秘密回答")

    def answer(self, client: Client, **query: str) -> str:
        """The page, without what was asked and the tokens of its forms."""
        text = client.get("/search/", {"q": "秘密", **query}).content.decode()
        for value in query.values():
            text = text.replace(value, "ID")
        return re.sub(r"[A-Za-z0-9]{64}", "TOKEN", text)

    def stranger(self) -> Client:
        client = Client()
        client.force_login(builders.teacher())
        return client

    def test_others_get_the_page_of_somebody_for_whom_nothing_exists(self) -> None:
        stranger = self.stranger()
        for client in (self.colleague(), stranger):
            with_it = self.answer(client)
            assert "秘密问题" not in with_it and self.thread.pk not in with_it
            assert self.answer(client, thread=self.thread.pk) == self.answer(client, thread="th_" + "a" * 20)
        assert self.answer(stranger, agent=self.agent.pk) == self.answer(stranger, agent="ag_" + "a" * 20)
        erase_thread(self.user, self.thread.pk)
        assert self.answer(client) == with_it

    def test_others_make_as_many_queries_as_if_nothing_existed(self) -> None:
        colleague = builders.teacher(self.agent.tenant)
        for quest in (Quest("秘密"), Quest("秘密", agent=self.agent.pk), Quest("秘密", thread=self.thread.pk)):
            with self.assertNumQueries(1):
                search_in = find_in_thread if quest.thread else find
                assert search_in(colleague, self.agent.tenant_id, quest).threads == []

    def test_only_the_current_school_is_searched(self) -> None:
        second = builders.tenant()
        Membership.objects.create(tenant=second, user=self.user)
        elsewhere = builders.thread(self.user, builders.agent(second), title="秘密在别校")
        assert self.threads("秘密") == {self.thread.pk}
        self.client.post("/tenants/switch/", {"tenant": second.pk})
        assert self.threads("秘密") == {elsewhere.pk}
        assert self.threads("秘密", thread=self.thread.pk) == set()
        assert self.threads("秘密", agent=self.agent.pk) == set()

    def test_nobody_is_asked_to_log_in(self) -> None:
        assert Client().get("/search/?q=x")["Location"].startswith("/accounts/login/")
