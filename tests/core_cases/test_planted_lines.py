"""Two hundred sensitive lines go through whole conversations; no table but the transcript has one of them, nor any log."""

import json
import logging
import re

import pytest
from django.db import connection

from chat.jobs.worker import Worker
from chat.memory.recall.log import export, load
from chat.models import Agent, Owner, RecallEntry, RedlineRecord, Run, Summary
from chat.providers.base import Request
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from chat.text.redlines import redact
from tests import builders
from tests.conftest import shared_folder
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, cloud_agent, settle, thread_of
from tests.memory.test_summary import failed_attempts
from tests.text.test_redline_people import ABOUT_PEOPLE
from tests.text.test_redlines import SENSITIVE

pytestmark = pytest.mark.django_db
TRANSCRIPT = ("chat_run", "chat_runledger", "chat_searchtext")
LINES, EACH = 200, 10
LONG_NUMBER = re.compile(r"\d{7,}")


def planted() -> list[str]:
    """Lines of the shared corpus, where it lies beside the repository, and of our own."""
    lines = [line for texts in SENSITIVE.values() for line in texts]
    folder = shared_folder()
    if folder is not None:
        rows = map(json.loads, (folder / "specs" / "redlines.jsonl").read_text().splitlines())
        lines += [row["text"] for row in rows if row["sensitive"]]
    lines += [line for texts in ABOUT_PEOPLE.values() for line in texts if redact(line) != line]
    return list(dict.fromkeys(lines))[:LINES]


class Conversation:
    """A teacher who talks about pupils, with a model that repeats it in its answers and in its summaries."""

    def __init__(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        service = builders.provider(self.school, kind="openai", base_url="http://127.0.0.1:9/v1")
        self.agent: Agent = builders.agent(
            self.school, provider=service, keep_rounds=1, compress_over_rounds=1, summary_tokens=2_000, reply_tokens=8_000
        )
        self.owner = Owner(self.school.pk, self.user.pk)
        self.thread_id = ""
        self.said: list[str] = []

    def say(self, lines: list[str]) -> None:
        """One round, and all that the worker makes of it."""
        text = "\n".join(lines)
        order = Order(user_id=self.user.pk, agent_id=self.agent.pk, input=f"请看：\n{text}", thread_id=self.thread_id)
        started = start_run(order)
        self.thread_id = started.thread_id
        finish_run(started.run_id, started.thread_id, Outcome(Run.Status.COMPLETED, f"# 情况\n{text}\n\n## {lines[-1]}"))
        self.said = lines
        with scripted(AnsweringProvider(self.answer)):
            Worker("w").drain()

    def answer(self, request: Request) -> str:
        if request.purpose != "summary":
            return "NONE"
        return "教师讨论学生情况。" + "".join(f"{number}、{line.rstrip('。.')}。\n" for number, line in enumerate(self.said))


def everything_else() -> str:
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            if table not in TRANSCRIPT:
                cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
                found.append(repr(cursor.fetchall()))
    return "\n".join(found)


def standing(lines: list[str], text: str) -> list[str]:
    """The lines that stand in the text, whole or by their number."""
    return [line for line in lines if line.rstrip("。.") in text or any(number in text for number in LONG_NUMBER.findall(line))]


@pytest.fixture
def lines(caplog) -> list[str]:
    caplog.set_level(logging.DEBUG)
    found = planted()
    assert len(found) >= (LINES if shared_folder() else LINES // 2)
    return found


def test_recall_and_summary_of_planted_lines_tell_none_of_them(lines, caplog):
    talk = Conversation()
    for start in range(0, len(lines), EACH):
        talk.say(lines[start : start + EACH])
    talk.say(["谢谢"])
    rounds = -(-len(lines) // EACH)
    assert RecallEntry.objects.count() == rounds + 1
    assert Summary.objects.filter(origin="model").count() == rounds
    assert set(RedlineRecord.objects.values_list("layer", flat=True)) >= {"recall", "thread", "title"}
    kept = everything_else()
    assert standing(lines, kept + "\n".join(export(talk.owner)) + caplog.text) == []
    assert Summary.objects.filter(text__contains="(涉及").count() >= rounds - 1


def test_a_summary_without_a_model_tells_none_of_them(lines, caplog):
    half = len(lines) // 2
    for some in (lines[:half], lines[half:]):
        thread = thread_of(cloud_agent(context_tokens=200_000, summary_tokens=20_000))
        for line in [*some, "谢谢", "再见"]:
            builders.run(thread, line, line)
        failed_attempts(thread, "抱歉，我无法完成这个请求。", 5)
        settle(thread)
        step = Summary.objects.get(thread=thread)
        assert (step.origin, step.upto_slot, len(step.text.splitlines())) == ("extract", len(some), len(some))
    assert standing(lines, everything_else() + caplog.text) == []


def test_what_is_brought_in_tells_none_of_them(lines, caplog):
    teacher = builders.teacher()
    owner = Owner(builders.school_of(teacher).pk, teacher.pk)

    def row(number: int, line: str) -> str:
        texts = {"title": line, "input": f"请看：{line}", "output": f"好的。{line}", "keywords": line}
        return json.dumps({"id": f"run_{number}", "at": "2024-05-06T10:00:00+08:00"} | texts, ensure_ascii=False)

    assert load(owner, [row(number, line) for number, line in enumerate(lines)]).added == len(lines)
    assert standing(lines, everything_else() + "\n".join(export(owner)) + caplog.text) == []
    assert RedlineRecord.objects.filter(layer="recall").count() >= len(lines)
