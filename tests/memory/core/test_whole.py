"""Core memory as a whole: no way confirms without a person, the lists stay true, and the red lines hold everywhere."""

import random
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from chat.memory.core import decide
from chat.memory.core.portable import as_text, export, import_file
from chat.memory.core.room import FACTS_MOST
from chat.models import Candidate, CoreEvent, Decision, Fact, RedlineRecord
from chat.text.redlines import find
from tests import builders
from tests.memory.core.talking import answer, confirmed, pending, propose_texts, said, thread
from tests.text.test_redline_people import ABOUT_PEOPLE

pytestmark = pytest.mark.django_db


# --- Nobody confirms but a person. ---


@pytest.fixture
def teacher() -> User:
    return builders.teacher()


def test_the_database_refuses_a_fact_that_nobody_confirmed(teacher):
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.create(tenant=builders.school_of(teacher), user=teacher, text="我教高二", normal="我教高二")
    archived = builders.fact(teacher, "旧的", status="archived")
    Fact.objects.update(decision=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.filter(pk=archived.pk).update(status="confirmed")


def test_the_database_refuses_a_candidate_that_nobody_decided(teacher):
    candidate = builders.candidate(teacher, "我教高二")
    for status in ("confirmed", "rejected"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Candidate.objects.filter(pk=candidate.pk).update(status=status)


class Sequence:
    """Random actions of a person and of memory itself, and what must be true after each of them."""

    WORDS = ("我教高二", "我教高三", "喜欢表格", "喜欢表格。", "不喜欢表格", "先讲例题", "用黑体", "每课40分钟", "每课45分钟", "用教材甲")

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chat.memory.core.room.FACTS_MOST", 3)
        self.chance = random.Random(seed)
        self.talk = thread()
        self.user = self.talk.user
        self.agents = ["", self.talk.agent_id]

    def some(self, rows: type[Fact] | type[Candidate]) -> list[str]:
        keys = sorted(rows.objects.values_list("pk", flat=True)) + ["fact_gone"]
        return self.chance.sample(keys, k=min(len(keys), self.chance.choice([1, 1, 2])))

    def word(self) -> str:
        return self.chance.choice(self.WORDS)

    def act(self) -> None:
        if self.chance.random() < 0.3:
            self.learn()
        else:
            self.decide()

    def learn(self) -> None:
        """What memory does; it never brings back what a person has decided."""
        facts, candidates = Fact.objects.values_list("normal", flat=True), Candidate.objects.values_list("normal", flat=True)
        known = {*facts, *candidates.exclude(status="pending")}
        waited = set(candidates.filter(status="pending"))
        user, text = self.user, self.word()
        self.chance.choice(
            [
                lambda: propose_texts(user, [text, self.word()]),
                lambda: said(self.talk, text, answer(text, kind=self.chance.choice(["profile", "preference"]))),
                lambda: import_file(user, self.talk.tenant_id, as_text(export(user, self.talk.tenant_id)).encode()),
            ]
        )()
        assert not (set(candidates.filter(status="pending")) - waited) & known
        assert set(facts) <= known

    def decide(self) -> None:
        user, one = self.user, self.chance.choice
        actions = [
            lambda: decide.confirm(user, self.some(Candidate), is_shared=one([None, True, False])),
            lambda: decide.confirm(user, self.some(Candidate)[:1], text=self.word(), replaces=one(["", self.some(Fact)[0]])),
            lambda: decide.add(user, self.talk.tenant_id, self.word(), agent_id=one(self.agents)),
            lambda: decide.edit(user, self.some(Fact)[0], self.word(), is_shared=one([None, True, False])),
            lambda: decide.pin(user, self.some(Fact), is_pinned=one([True, False])),
            *(lambda verb=verb: verb(user, self.some(Fact)) for verb in (decide.delete, decide.restore, decide.allow)),
            *(lambda verb=verb: verb(user, self.some(Candidate)) for verb in (decide.reject, decide.later, decide.allow)),
            lambda: decide.undo(user),
            lambda: decide.undo(user, one(["", *sorted(Decision.objects.values_list("pk", flat=True))])),
        ]
        one(actions)()

    def check(self) -> None:
        facts = Fact.objects.filter(status="confirmed")
        for agent_id in (None, self.talk.agent_id):
            assert facts.filter(agent_id=agent_id).count() <= 3
        assert all(fact.decision.user_id == self.user.pk and fact.text for fact in facts.select_related("decision"))
        assert not Fact.objects.filter(status="deleted").exclude(text="", quote="", is_pinned=False).exists()
        assert not Candidate.objects.exclude(status="pending").filter(decision=None).exists()


@pytest.mark.parametrize("seed", range(8))
def test_whatever_people_and_memory_do_the_lists_stay_true(seed, monkeypatch):
    world = Sequence(seed, monkeypatch)
    for _ in range(60):
        world.act()
        world.check()


@pytest.mark.parametrize("seed", range(8))
def test_undoing_everything_ends_where_it_began(seed, monkeypatch):
    world = Sequence(seed, monkeypatch)
    propose_texts(world.user, Sequence.WORDS)
    before = sorted(Candidate.objects.values_list("normal", "status"))
    for _ in range(25):
        kind = world.chance.choice([decide.reject, decide.later, decide.confirm])
        kind(world.user, world.some(Candidate))
        if facts := sorted(Fact.objects.values_list("pk", flat=True)):
            world.chance.choice([decide.delete, decide.restore])(world.user, [world.chance.choice(facts)])
    while decide.undo(world.user).outcome == "done":
        continue
    assert (sorted(Candidate.objects.values_list("normal", "status")), Fact.objects.count()) == (before, 0)


def test_memory_itself_never_confirms():
    talk = thread()
    said(talk, "我教高二，喜欢表格", answer("我教高二", "喜欢表格", status="confirmed", confidence=1.0))
    import_file(talk.user, talk.tenant_id, as_text(export(talk.user, talk.tenant_id)).replace("pending", "confirmed").encode())
    propose_texts(talk.user, ["用教材甲"])
    assert (confirmed(talk.user), Decision.objects.count(), len(pending(talk.user))) == ([], 0, 3)
    assert FACTS_MOST == 30


# --- The same thing learnt again is learnt once. ---


def test_the_same_thing_learnt_again_is_learnt_once():
    talk = thread()
    user = talk.user
    for text in ("老师喜欢用表格", "老师喜欢用表格。", "  老师喜欢用表格 ", "老师喜欢用表格．", "用户偏好表格形式"):
        said(talk, "我喜欢用表格", answer(text))
    first, paraphrase = Candidate.objects.order_by("created_at")
    assert (first.seen, paraphrase.text) == (4, "用户偏好表格形式")
    fact_id = decide.confirm(user, [first.pk])[0].fact_id
    said(talk, "我喜欢用表格", answer("老师喜欢用表格"))
    assert (confirmed(user), pending(user)) == (["老师喜欢用表格"], ["用户偏好表格形式"])
    decide.reject(user, [paraphrase.pk])
    decide.delete(user, [fact_id])
    for text in ("用户偏好表格形式", "老师喜欢用表格") * 2:
        said(talk, "我喜欢用表格", answer(text))
    assert (confirmed(user), pending(user)) == ([], [])
    decide.allow(user, [paraphrase.pk, fact_id])
    said(talk, "我喜欢用表格", answer("老师喜欢用表格"))
    assert sorted(pending(user)) == ["用户偏好表格形式", "老师喜欢用表格"]


# --- Red lines. ---


def planted() -> list[str]:
    """Two hundred sensitive lines, each with a word of its own that nothing else has."""
    lines = [text for texts in ABOUT_PEOPLE.values() for text in texts if find(text)]
    zh = [line for line in lines if any("\u4e00" <= char <= "\u9fff" for char in line)]
    return [f"{zh[i % len(zh)].rstrip('。！')}，暗号{i:03}鲸。" for i in range(200)]


def test_two_hundred_sensitive_lines_are_in_no_table_but_the_transcript(caplog):
    lines = planted()
    talk = thread()
    user = talk.user
    for start in range(0, 100, 20):
        some = lines[start : start + 20]
        said(talk, "\n".join(some), answer(*some))
    for line in lines[100:150]:
        assert decide.add(user, talk.tenant_id, line).outcome in ("ask", "stopped")
    fact = builders.fact(user, "我教高二")
    for line in lines[150:160]:
        assert decide.edit(user, fact.pk, line).outcome in ("ask", "stopped")
    import_file(
        user, talk.tenant_id, as_text({"format": "core-memory", "version": 1, "facts": [{"text": one} for one in lines[160:]]}).encode()
    )
    assert pending(user) == []
    assert RedlineRecord.objects.count() >= 200
    kept = everything_but_the_transcript() + as_text(export(user, talk.tenant_id)) + caplog.text
    parts = [line.split("，暗号")[0] for line in lines]
    assert not [line for line, part in zip(lines, parts, strict=True) if line in kept or part in kept]


def everything_but_the_transcript() -> str:
    out = StringIO()
    for model in (Candidate, Fact, CoreEvent, Decision, RedlineRecord):
        out.write(serializers.serialize("json", model.objects.all(), ensure_ascii=False))
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            if table not in ("chat_run", "chat_runledger", "chat_searchtext"):
                cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
                out.write(repr(cursor.fetchall()))
    return out.getvalue()


def test_ages_can_be_set_up_by_import(teacher):
    at = timezone.now().replace(microsecond=0) - timezone.timedelta(days=42)
    file = {"format": "core-memory", "version": 1, "candidates": [{"text": "我教高二", "created_at": at.isoformat()}]}
    import_file(teacher, builders.school_of(teacher).pk, as_text(file).encode())
    assert Candidate.objects.get().created_at == at
