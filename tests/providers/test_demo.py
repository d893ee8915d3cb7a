"""The offline stand-in, given prompts such as the read path makes."""

import json
import re

import pytest

from chat.providers.base import Endpoint, Request, ToolSpec, complete
from chat.providers.demo import Demo
from chat.providers.demo_bank import SUBJECTS
from chat.text.boundary import (
    ASSISTANT_MARK,
    FAILED_ROUND,
    QUESTION_OPEN,
    ROUNDS_LABEL,
    SUMMARY_LABEL,
    THREAD_CLOSE,
    THREAD_CLOSE_LAST,
    THREAD_OPEN,
    USER_MARK,
)
from chat.text.note_frame import GUIDE_MARK, MEMORY_TITLE, RULE, USER_TITLE

LABEL = "演示回答（未连接模型）"
ASK_PAPER = "出一份数据结构试卷"
GAP = "…（中略 900 字，可用 thread_read 读取 run_abc）…"
THREAD_READ = ToolSpec("thread_read", "Reads.", {"type": "object"})
NOTE_TOOLS = tuple(
    ToolSpec(f"memory_{name}", "Notes.", {"type": "object"}) for name in ("add", "replace", "remove", "batch", "show", "refresh")
)


class QuickDemo(Demo):
    delay_seconds = 0.0


def memory(rounds, summary=""):
    lines = [THREAD_OPEN, *([SUMMARY_LABEL + summary] if summary else [])]
    if rounds:
        lines += [ROUNDS_LABEL, *(f"{USER_MARK} {question}\n{ASSISTANT_MARK} {answer}" for question, answer in rounds)]
    return "\n".join(lines)


async def ask(question, rounds=(), summary="", after=(), system="你是命题助手。", **more):
    text = f"{memory(rounds, summary)}\n{THREAD_CLOSE_LAST}\n{question}" if rounds or summary else question
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}, *after]
    return await complete(QuickDemo(), Endpoint("demo"), Request(messages, **more))


async def test_it_says_in_its_first_line_that_no_model_answers():
    for question in (ASK_PAPER, "你好", "写一则期末评语：爱提问", "为“浮力”写一份教案"):
        assert LABEL in (await ask(question)).text.split("\n")[0]


async def test_an_english_question_gets_an_english_answer():
    text = (await ask("Write a quiz about photosynthesis")).text
    assert text.startswith("**Demo answer (no model connected)**")
    assert "photosynthesis" in text


async def test_it_streams_in_pieces_and_reports_no_usage():
    deltas = [delta async for delta in QuickDemo().stream(Endpoint("demo"), Request([{"role": "user", "content": ASK_PAPER}]))]
    assert len(deltas) > 50
    assert max(len(delta.text) for delta in deltas) <= 8
    assert deltas[-1].finish == "stop"
    assert all(delta.usage is None for delta in deltas)


async def test_the_same_prompt_gets_the_same_answer_and_another_subject_another_one():
    first, again, other = [(await ask(question)).text for question in (ASK_PAPER, ASK_PAPER, "出一份物理试卷")]
    assert first == again
    assert first != other


@pytest.mark.parametrize("subject", [subject.name for subject in SUBJECTS])
async def test_a_paper_has_three_sections_and_answers_for_all_its_questions(subject):
    paper, answers = (await ask(f"出一份{subject}试卷，60 分钟，满分 100 分")).text.split("## 参考答案")
    assert [kind for kind in ("选择题", "填空题", "简答题") if f"、{kind}" in paper] == ["选择题", "填空题", "简答题"]
    assert "满分：100 分" in paper
    assert re.findall(r"^(\d+)\. ", paper, re.M) == re.findall(r"^(\d+)\. ", answers, re.M) == [str(i) for i in range(1, 12)]


async def test_a_choice_is_right_where_the_answers_say():
    text = (await ask("出 5 道物理选择题")).text
    number, letter = re.search(r"^(\d)\. ([A-D])（\$a=F/m\$）$", text, re.M).groups()
    options = text.split(f"\n{number}. 质量 2 kg", 1)[1].split("\n\n", 2)[1]
    assert f"- {letter}. 3 m/s²" in options


async def test_two_short_answers_are_changed_with_the_earlier_paper_in_view():
    paper = (await ask(ASK_PAPER)).text
    changed = (await ask("简答题换两道", [(ASK_PAPER, paper)])).text
    assert f"接着上一轮「{ASK_PAPER}」" in changed
    assert "《数据结构》" in changed
    stems = re.findall(r"^\d+\. (.+?)（6 分）$", changed, re.M)
    assert len(stems) == 2
    assert not any(stem in paper for stem in stems)
    assert re.findall(r"^(\d+)\. .+（6 分）$", changed, re.M)[0] == re.findall(r"^(\d+)\. .+（6 分）$", paper, re.M)[0]


async def test_a_small_talk_in_between_does_not_hide_the_paper():
    rounds = [("出一份物理试卷", (await ask("出一份物理试卷")).text), ("谢谢", (await ask("谢谢")).text)]
    assert "《物理》" in (await ask("简答题换两道", rounds)).text


async def test_a_paper_that_only_the_summary_knows_is_enough():
    text = (await ask("简答题换两道", summary="教师提出「出一份数学试卷」，得到「《数学》课堂测验」。")).text
    assert "接着此前对话的摘要" in text
    assert len(re.findall(r"（6 分）$", text, re.M)) == 2


async def test_without_an_earlier_paper_it_asks_back():
    assert "没有看到更早的试卷" in (await ask("简答题换两道")).text


async def test_a_failed_round_is_not_quoted_as_a_result():
    assert "（该轮没有完成）" in (await ask("再试一次", [(ASK_PAPER, FAILED_ROUND)])).text


async def test_a_question_behind_other_sections_is_found():
    text = (
        f"{memory([(ASK_PAPER, '# 《数据结构》课堂测验')])}\n{THREAD_CLOSE}\n[相关历史]\nx\n[相关历史结束]\n{QUESTION_OPEN}\n出一份物理试卷"
    )
    answer = await complete(QuickDemo(), Endpoint("demo"), Request([{"role": "user", "content": text}]))
    assert "《物理》课堂测验" in answer.text
    assert f"接着上一轮「{ASK_PAPER}」" in answer.text


async def test_the_full_text_of_a_shortened_round_is_read_page_by_page():
    rounds = [(ASK_PAPER, f"# 试卷\n{GAP}\n结尾")]
    first = await ask("把上一份试卷的全文给我", rounds, tools=(THREAD_READ,))
    assert (first.finish, first.text) == ("tool_calls", "")
    assert (first.tool_calls[0].name, json.loads(first.tool_calls[0].arguments)) == ("thread_read", {"run_id": "run_abc"})
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "thread_read", "arguments": "{}"}}]}
    page = {"role": "tool", "content": "[轮次原文 — 历史记录]\n第一页\n[轮次原文结束]（后面还有 9 字，offset=6000）"}
    second = await ask("把上一份试卷的全文给我", rounds, after=[call, page], tools=(THREAD_READ,))
    assert json.loads(second.tool_calls[0].arguments) == {"run_id": "run_abc", "offset": 6000}
    last = {"role": "tool", "content": "[轮次原文 — 历史记录]\n第二页\n[轮次原文结束]（完）"}
    text = (await ask("把上一份试卷的全文给我", rounds, after=[call, page, call, last])).text
    assert LABEL in text
    assert text.endswith("第一页第二页")


async def test_no_tool_is_called_that_is_not_offered_or_not_needed():
    assert not (await ask("把全文给我", [(ASK_PAPER, GAP)])).tool_calls
    assert not (await ask("把全文给我", [(ASK_PAPER, "短")], tools=(THREAD_READ,))).tool_calls
    assert not (await ask("记住我教高一", tools=(THREAD_READ,))).tool_calls


def payload(**fields):
    return {"role": "tool", "content": json.dumps(fields, ensure_ascii=False)}


async def asked(question, tools=NOTE_TOOLS, **more):
    """The name and the arguments of the call that the question leads to."""
    call = (await ask(question, tools=tools, **more)).tool_calls[0]
    return call.name, json.loads(call.arguments)


async def test_a_note_is_written_when_the_tool_is_offered():
    assert await asked("请记住：我教高一物理。") == ("memory_add", {"content": "我教高一物理", "target": "user"})
    assert await asked("记住：这个项目的文档任务用反向工作流") == (
        "memory_add",
        {"content": "这个项目的文档任务用反向工作流", "target": "memory"},
    )
    assert (await asked("Remember that I teach physics"))[1]["target"] == "user"
    assert not (await ask("不要记住这句话", tools=NOTE_TOOLS)).tool_calls


async def test_notes_are_changed_removed_and_read_again_as_the_question_says():
    assert await asked("把『codex CLI』那条更新为 v0.148") == (
        "memory_replace",
        {"old_text": "codex CLI", "new_content": "codex CLI v0.148", "target": "memory"},
    )
    assert await asked("删掉『临时备注』那条") == ("memory_remove", {"old_text": "临时备注", "target": "memory"})
    assert await asked("我改过 MEMORY.md 了，刷新一下记忆") == ("memory_refresh", {})
    assert not (await ask("把简答题换成选择题", tools=NOTE_TOOLS)).tool_calls


async def test_what_is_not_in_one_store_is_looked_for_in_the_other():
    call = {"id": "c1", "type": "function", "function": {"name": "memory_remove", "arguments": "{}"}}
    after = [{"role": "assistant", "tool_calls": [call]}, payload(success=False, code="not_found", message="没有")]
    assert (await asked("删掉『临时备注』那条", after=after))[1]["target"] == "user"
    assert not (await ask("删掉『临时备注』那条", tools=NOTE_TOOLS, after=[*after, *after])).tool_calls


async def test_it_says_what_the_tool_said_and_nothing_of_its_own():
    for told in ("MEMORY.md：已加入 1 条。", "MEMORY.md：还没有写入，等用户在“记忆”页确认。"):
        answer = await ask("请记住：用表格", after=[payload(success=True, message=told)], tools=NOTE_TOOLS)
        assert told in answer.text
        assert "已记住" not in answer.text


NOTES = f"""你是命题助手。

以下笔记是资料。

{RULE}
{MEMORY_TITLE} [1% — 9/2,200 chars]
{RULE}
文档任务用反向工作流
§
两行的

笔记

{RULE}
{USER_TITLE} [1% — 9/1,375 chars]
{RULE}
我教高二
{RULE}"""


async def test_it_answers_what_it_knows_from_the_frozen_notes():
    for question in ("你记得我有什么工作习惯吗？", "你有什么关于我的笔记"):
        told = (await ask(question, system=NOTES)).text
        assert "- 我教高二\n- 文档任务用反向工作流\n- 两行的 笔记" in told
    assert "是空的" in (await ask("你记得我教什么吗？")).text


async def test_the_guide_makes_it_ask_in_its_first_answer_only():
    system = f"{NOTES}\n\n{GUIDE_MARK}还不了解这位老师。"
    first = (await ask("你好", system=system)).text
    assert "想先认识一下" in first
    assert "想先认识一下" not in (await ask("你好", rounds=[("你好", first)], system=system)).text
    assert "想先认识一下" not in (await ask("你好", system=NOTES)).text
    assert (await asked("我姓王，教高二", rounds=[("你好", first)]))[1]["target"] == "user"


async def summarise(rounds, summary="", limit=600):
    text = f"{memory(rounds, summary)}\n{THREAD_CLOSE}\n\n请把以上内容压缩成一份新的摘要，不超过 {limit} 字，只输出摘要正文。"
    answer = await complete(QuickDemo(), Endpoint("demo"), Request([{"role": "user", "content": text}], purpose="summary"))
    return answer.text


async def test_a_summary_keeps_the_earlier_one_and_adds_the_rounds():
    first = await summarise([(ASK_PAPER, (await ask(ASK_PAPER)).text)])
    second = await summarise([("今天怎么样？很好。", FAILED_ROUND)], first)
    assert "数据结构" in first
    assert "选择题" in first
    assert second.startswith(first)
    assert "今天怎么样" in second
    assert not any(mark in second for mark in (USER_MARK, ASSISTANT_MARK, ROUNDS_LABEL, "[本会话前情", LABEL))


async def test_summaries_stay_bounded_and_lose_the_oldest_first():
    text = ""
    for number in range(60):
        text = await summarise([(f"第 {number} 个问题是什么？", "# 回答")], text, limit=300)
    assert len(text) <= 300
    assert "第 59 个问题" in text
    assert "第 0 个问题" not in text


async def test_a_summary_of_an_english_thread_is_english():
    text = await summarise([("Write a quiz", "# A short test")], "The teacher asked for help. ")
    assert text == 'The teacher asked for help. The teacher asked "Write a quiz" and got "A short test".'


async def test_a_title_is_the_beginning_of_the_question():
    assert (await ask("出一份数据结构试卷，60 分钟，满分 100 分，分三大题", purpose="title")).text == "出一份数据结构试卷，60 分钟，满分 1"


async def test_candidates_are_lasting_sentences_or_none():
    assert (await ask(ASK_PAPER, purpose="extraction")).text == "NONE"
    found = json.loads((await ask("我教高一物理，以后请多出简答题。今天先出一份试卷", purpose="extraction")).text)
    assert [one["fact"] for one in found] == ["我教高一物理，以后请多出简答题"]


async def test_a_limit_on_the_reply_is_kept_and_told():
    answer = await ask(ASK_PAPER, max_tokens=50)
    assert (len(answer.text), answer.finish) == (50, "length")
