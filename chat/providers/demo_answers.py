"""The demo provider's answers to teachers. Each says in its first line that no model has written it."""

import re

from chat.providers.demo_bank import SUBJECTS, Subject
from chat.providers.demo_knowledge import cited_in, looked_up, quotes
from chat.providers.demo_memory import LABELS, headline, shortened
from chat.providers.demo_notes import is_written_by_shortcut, known, question_of_guide
from chat.providers.demo_papers import KINDS, kinds_in, paper, replacements, subject_of
from chat.providers.demo_prompt import Prompt
from chat.text.boundary import FAILED_ROUND

QUOTE_CHARS = 30

_PAPER = re.compile(r"试卷|试题|测验|[出拟编]\D{0,8}[0-9一二两三四五六]?\s*[道份套]|出题|组卷")
_IS_PAPER = re.compile(r"^#+ .*(?:选择题|填空题|简答题|测验|试卷)", re.MULTILINE)
_MORE = re.compile(r"再|另|加|继续|接着")
_CHANGE = re.compile(r"换|重出|替换|另出")
_LESSON = re.compile(r"教案|备课|导入|课堂活动|小组活动|教学设计|板书|问题链|lesson|activity", re.IGNORECASE)
_COMMENT = re.compile(r"评语|批语|短信|家长|寄语|comment|parents", re.IGNORECASE)
_EXAM = re.compile(r"\b(exam|test|quiz|paper|questions?)\b", re.IGNORECASE)
_TOPIC = re.compile(r"[“「《\"]([^”」》\"]{1,30})[”」》\"]")
_ENGLISH_TOPIC = re.compile(r"\b(?:on|about|for|in) ([\w ,'-]{2,40})", re.IGNORECASE)
_WRITTEN_BY_SYSTEM = "以“记住：”开头的话由系统直接处理，结果显示在这一轮下面。"
_FRAME = re.compile(r"^\[轮次原文[^\n]*\n|\n\[轮次原文结束\][^\n]*$")


def answer(prompt: Prompt) -> str:
    """The whole answer to a question, as Markdown."""
    body = known(prompt) or (_english(prompt) if prompt.is_english else _chinese(prompt))
    asks = question_of_guide(prompt)
    return labelled(prompt, f"{body}\n\n{asks}" if asks else body)


def labelled(prompt: Prompt, body: str) -> str:
    """The body behind the line that says that no model has written it."""
    return f"**{LABELS[1] if prompt.is_english else LABELS[0]}**\n\n{body}"


def full_text(results: list[str]) -> str:
    """What `thread_read` gave, page after page, behind the label."""
    pages = "".join(_FRAME.sub("", result) for result in results)
    return f"**{LABELS[0]}**\n\n已用工具 thread_read 读取较早一轮的原文，全文如下。\n\n{pages.strip()}"


def found(result: str, question: str) -> str:
    """The answer after the knowledge base was searched."""
    return f"**{LABELS[0]}**\n\n{looked_up(result, question)}"


def _chinese(prompt: Prompt) -> str:
    quoted = quotes(cited_in(prompt.memory), prompt.question)
    question, parts = prompt.question, [_looking_back(prompt), quoted]
    if (kind := _kind_to_change(prompt)) is not None:
        parts.append(_changed(prompt, kind))
    elif _COMMENT.search(question):
        parts.append(_comment(question))
    elif _LESSON.search(question):
        parts.append(_lesson(question))
    elif _PAPER.search(question):
        parts.append(_paper(question, _subject(prompt) if _MORE.search(question) else subject_of(question)))
    elif not quoted:
        parts.append(_WRITTEN_BY_SYSTEM if is_written_by_shortcut(prompt) else _plain(question))
    return "\n\n".join(part for part in parts if part)


def _quote(text: str) -> str:
    return shortened(text, QUOTE_CHARS)


def _looking_back(prompt: Prompt) -> str:
    """A sentence that shows what memory brought; "" without memory."""
    if prompt.rounds:
        last = prompt.rounds[-1]
        result = _quote(headline(last.answer))
        got = "（该轮没有完成）" if FAILED_ROUND in last.answer or not result else f"（当时的结果是「{result}」）"
        return f"接着上一轮「{_quote(last.question)}」{got}。"
    if prompt.summary:
        return f"接着此前对话的摘要「{_quote(prompt.summary)}」。"
    return ""


def _kind_to_change(prompt: Prompt) -> str | None:
    """The kind of question that is to be replaced; None when the question asks for something else."""
    kinds = kinds_in(prompt.question)
    if _CHANGE.search(prompt.question) and (kinds or "题" in prompt.question):
        return kinds[0] if kinds else KINDS[2]
    return None


def _changed(prompt: Prompt, kind: str) -> str:
    seen = "\n".join(one.answer for one in prompt.rounds)
    papers = _papers(prompt)
    subjects = (subject_of(text) for text in (*papers, prompt.summary, prompt.question))
    subject = next((one for one in subjects if one), None)
    if subject is None:
        return f"这段会话里没有看到更早的试卷，所以不知道要换哪一份的{kind}。请先说出学科，或把原题贴进来。"
    lead = f"已按要求替换《{subject.name}》试卷里的{kind}。\n\n" if papers else ""
    return lead + replacements(prompt.question, subject, kind, seen)


def _papers(prompt: Prompt) -> list[str]:
    """The rounds that gave a paper, or a part of one, newest first; what they are about stands in front."""
    rounds = reversed(prompt.rounds)
    return [f"{headline(one.answer)}\n{one.question}\n{one.answer}" for one in rounds if _IS_PAPER.search(one.answer)]


def _subject(prompt: Prompt) -> Subject | None:
    """What a further paper is about: what the question names, else what the conversation was about."""
    subjects = (subject_of(text) for text in (prompt.question, *_papers(prompt), prompt.summary))
    return next((one for one in subjects if one), None)


def _paper(question: str, subject: Subject | None) -> str:
    if subject is not None:
        return paper(question, subject)
    names = "、".join(one.name for one in SUBJECTS)
    return (
        f"演示题库只有{names}，没有你要的内容。下面给出命题的框架，接上真实模型后会写出完整的题目。\n\n"
        "| 题型 | 题数 | 考查重点 | 难度 |\n|---|---|---|---|\n"
        "| 选择题 | 5 | 概念辨析 | 易 |\n| 填空题 | 5 | 基本事实与公式 | 易、中 |\n| 简答题 | 3 | 解释、应用与迁移 | 中、难 |"
    )


def _topic(question: str, fallback: str) -> str:
    match = _TOPIC.search(question)
    return match[1] if match else fallback


def _lesson(question: str) -> str:
    topic = _topic(question, "本课课题")
    return f"""\
# 「{topic}」一课时教案

**假设**：普通班级，一课时 45 分钟。

## 教学目标

1. 能用自己的话说出「{topic}」的核心内容，并举一个例子。
2. 能在新的情境里运用它解决一个小问题。

## 教学过程

| 环节 | 时间 | 教师活动 | 学生活动 |
|---|---|---|---|
| 导入 | 5 分钟 | 出示一个与「{topic}」有关的生活场景，问：“你会怎么解释？” | 独立写一句话，同桌交换 |
| 探究 | 15 分钟 | 给出材料与两个递进的问题，巡视并收集说法 | 四人一组讨论，推选一人汇报 |
| 归纳 | 10 分钟 | 对照各组说法，板书要点 | 修改自己的一句话 |
| 练习 | 12 分钟 | 布置一道基础题、一道变式题 | 独立完成，互批 |
| 小检测 | 3 分钟 | 一个问题看目标是否达成 | 在纸条上作答后交 |

## 作业

- 必做：整理本课要点，完成练习 1、2。
- 选做：找一个生活中的例子，用本课的道理解释它。"""


def _comment(question: str) -> str:
    if re.search(r"短信|家长", question):
        wish = match[1] if (match := re.search(r"请家长(.{2,30}?)(?:[。！]|$)", question)) else "在家里多留意孩子的作息"
        return (
            f"> 家长您好：孩子近来在校总体平稳。想请您{wish}，坚持两周后我们再一起看看变化。有任何情况请随时联系，谢谢！\n\n"
            "| 版本 | 适用 |\n|---|---|\n| 短信（上文） | 日常提醒 |\n| 面谈 | 两周后没有变化时 |"
        )
    material = re.split(r"[:：]", question, maxsplit=1)
    facts = [one.strip(" 。") for one in re.split(r"[，,；;。]", material[1])] if len(material) > 1 else []
    facts = [one for one in facts if one][:4]
    if not facts:
        return (
            "请补充两三条观察，例如：课堂上怎样参与，作业有什么变化，和同学怎样相处。\n\n"
            "先给一个可以填写的样子：\n\n> 这学期，老师看见你＿＿＿＿。最让人高兴的是＿＿＿＿。如果能在＿＿＿＿上再坚持一点，你会走得更稳。"
        )
    listed = "；".join(facts)
    return (
        f"> 这学期老师记住了你的几个样子：{listed}。这些都是真实的你，好的地方请保持，还不满意的地方，我们一次只改一处。"
        "下学期先定一个做得到的小目标，每周回头看一看，老师愿意陪你一起。\n\n"
        "| 依据的观察 | 写法 |\n|---|---|\n" + "\n".join(f"| {fact} | 写具体的事，不下结论 |" for fact in facts)
    )


def _plain(question: str) -> str:
    if re.search(r"记住|记一下", question):
        return "这句话已留在本会话里，后面的轮次可以看到。这个助手现在没有写入长期记忆的工具，所以没有记到别处。"
    return (
        f"收到的问题是「{_quote(question)}」。演示模型不理解题意，只按规则作答；可以这样试它：\n\n"
        "- 出一份数据结构试卷，再说“简答题换两道”，看它怎样接着上一轮；\n"
        "- 为八年级“浮力”写一份教案；\n"
        "- 写一则期末评语：上课爱提问，作业字迹潦草。\n\n"
        "在管理站点添加模型服务后，同样的问题会由真实模型回答。"
    )


def _english(prompt: Prompt) -> str:
    parts = []
    if prompt.rounds:
        parts.append(f'Following up on "{_quote(prompt.rounds[-1].question)}".')
    elif prompt.summary:
        parts.append(f'Following up on the summary "{_quote(prompt.summary)}".')
    quoted = quotes(cited_in(prompt.memory), prompt.question, is_english=True)
    parts += [quoted] if quoted else []
    match = _ENGLISH_TOPIC.search(prompt.question)
    topic = match[1].strip() if match else "the topic"
    if _COMMENT.search(prompt.question):
        parts.append(
            "> This term I saw you ask real questions and help others without being told to. Pick one small habit to work on, "
            "and look back at it every Friday.\n\nAdd two or three observations to make it the student's own."
        )
    elif _LESSON.search(prompt.question):
        parts.append(
            f"# A lesson on {topic}\n\n| Step | Minutes | Teacher | Students |\n|---|---|---|---|\n"
            "| Opening | 5 | Shows a scene from daily life and asks for an explanation | Write one sentence |\n"
            "| Inquiry | 20 | Gives material and two questions | Discuss in groups of four |\n"
            "| Practice | 15 | Sets a basic and a harder task | Work alone, check in pairs |\n"
            "| Exit ticket | 5 | Asks one question | Hand in an answer |"
        )
    elif _EXAM.search(prompt.question):
        parts.append(
            f"# A short test on {topic}\n\n## Short answers\n\n"
            f"1. Explain one central idea of {topic} in your own words and give an example. (6 points)\n"
            f"2. Name a common mistake about {topic} and show how to correct it. (6 points)\n"
            f"3. Apply {topic} to a situation that was not discussed in class. (8 points)\n\n"
            "## Marking\n\nHalf of the points for the idea, half for the example or the reasoning."
        )
    elif not quoted:
        parts.append(
            f'You asked: "{_quote(prompt.question)}". This stand-in follows fixed rules; ask it for a test, a lesson or a comment, '
            "or add a model service in the admin site to get real answers."
        )
    return "\n\n".join(parts)
