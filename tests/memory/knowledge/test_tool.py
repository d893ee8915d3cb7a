"""The tool kb_search: what it gives, whom it is offered, and how its passages are cited."""

import pytest

from chat.memory.base import ToolContext, ToolError
from chat.memory.notes.tools import TOOLS
from chat.memory.switches import switch_memory
from chat.memory.tools import find_tool
from chat.models import Run
from chat.runs.start import Order, start_run
from chat.text.boundary import KNOWLEDGE, close_line
from tests import builders
from tests.memory.knowledge.test_layer import ASKED, RULES
from tests.memory.knowledge.world import owner_of, ready

NOTES = [tool.spec.name for tool in TOOLS]

pytestmark = pytest.mark.django_db


@pytest.fixture
def teacher():
    return builders.teacher()


@pytest.fixture
def agent(teacher):
    return builders.agent(builders.school_of(teacher))


def offered(teacher, agent, **order) -> list[str]:
    started = start_run(Order(user_id=teacher.pk, agent_id=agent.pk, input="你好", **order))
    return [tool.name for tool in started.prepared.request.tools]


def context_of(run: Run, *, window_tokens: int = 20_000) -> ToolContext:
    return ToolContext(owner_of(run.user, run.agent), run.pk, run.thread_id, window_tokens)


def search(run: Run, window_tokens: int = 20_000, **arguments) -> str:
    return find_tool(["kb_search"], "kb_search").call(context_of(run, window_tokens=window_tokens), arguments)


def test_it_is_offered_where_there_is_something_to_search(teacher, agent):
    assert offered(teacher, agent) == ["thread_read", *NOTES]
    ready(teacher, [agent], RULES)
    assert offered(teacher, agent) == ["thread_read", "kb_search", *NOTES]
    agent.has_tools = False
    agent.save()
    assert offered(teacher, agent) == []


def test_it_is_offered_neither_while_memory_is_off_nor_in_an_incognito_thread(teacher, agent):
    ready(teacher, [agent], RULES)
    assert offered(teacher, agent, is_incognito=True) == ["thread_read"]
    switch_memory(teacher.pk, is_on=False)
    assert offered(teacher, agent) == ["thread_read"]


def test_a_tool_that_was_not_offered_cannot_be_called():
    with pytest.raises(ToolError):
        find_tool(["thread_read"], "kb_search")


def test_its_passages_stand_in_the_boundary_and_are_cited_behind_those_of_the_prompt(teacher, agent):
    document = ready(teacher, [agent], RULES)
    by_heading = dict(document.passages.values_list("heading", "pk"))
    run = builders.run(builders.thread(teacher, agent), ASKED, citations=[by_heading["分值"]])
    text = search(run, query="卷头写明什么，密封线在哪一侧")
    assert text.startswith(f"[{KNOWLEDGE} — ")
    assert text.endswith(close_line(KNOWLEDGE))
    assert "[2] 《格式.md》 / 卷头\n" in text
    assert Run.objects.get(pk=run.pk).citations == [by_heading["分值"], by_heading["卷头"]]
    assert "[1] 《格式.md》 / 分值\n" in search(run, query="选择题和填空题每题几分")
    assert len(Run.objects.get(pk=run.pk).citations) == 2


def test_it_gives_at_most_k_passages(teacher, agent):
    text = "\n\n".join(f"# 规定{n}\n\n选择题每题三分，填空题每题四分。" + f"第{n}号细则，" * 60 for n in range(6))
    ready(teacher, [agent], text)
    run = builders.run(builders.thread(teacher, agent), ASKED)
    search(run, query="选择题每题几分", k=2)
    assert len(Run.objects.get(pk=run.pk).citations) == 2


def test_a_small_window_gets_fewer_passages(teacher, agent):
    text = "\n\n".join(f"# 规定{n}\n\n选择题每题三分，填空题每题四分。" + f"第{n}号细则，" * 60 for n in range(6))
    ready(teacher, [agent], text)
    run = builders.run(builders.thread(teacher, agent), ASKED)
    search(run, window_tokens=4_000, query="选择题每题几分", k=8)
    assert 0 < len(Run.objects.get(pk=run.pk).citations) < 5


def test_nothing_found_is_said_so(teacher, agent):
    ready(teacher, [agent], RULES)
    run = builders.run(builders.thread(teacher, agent), ASKED)
    assert search(run, query="蒙古国的首都") == "知识库里没有找到相关的段落。"
    assert Run.objects.get(pk=run.pk).citations == []


@pytest.mark.parametrize(
    "arguments", [{}, {"query": " "}, {"query": 3}, {"query": "a", "k": 0}, {"query": "a", "k": 9}, {"query": "a", "k": True}]
)
def test_arguments_that_make_no_sense_are_answered_in_chinese(arguments, teacher, agent):
    run = builders.run(builders.thread(teacher, agent), ASKED)
    with pytest.raises(ToolError, match="参数有误"):
        search(run, **arguments)


def test_a_query_with_half_a_character_is_searched_all_the_same(teacher, agent):
    ready(teacher, [agent], RULES)
    run = builders.run(builders.thread(teacher, agent), ASKED)
    assert "每题四分" in search(run, query="填空题每题几分\ud83d\x00")


def test_another_teachers_documents_are_not_searched(teacher, agent):
    ready(builders.teacher(builders.school_of(teacher)), [agent], RULES)
    run = builders.run(builders.thread(teacher, agent), ASKED)
    assert "没有找到" in search(run, query=ASKED)
