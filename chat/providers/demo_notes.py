"""What the demo provider makes of notes: it calls their tools by rule, tells what they answered, and reads the frozen ones.

It claims nothing of its own: whether something was written is what the tool's result says.
"""

import json
import re
from typing import Any

from chat.providers.base import ToolCall
from chat.providers.demo_memory import shortened
from chat.providers.demo_prompt import Prompt
from chat.providers.reading import arguments_text
from chat.text.note_frame import GUIDE_MARK, MEMORY_TITLE, SHORTCUT_MARK, USER_TITLE, blocks_in

ENTRY_CHARS, ENTRIES_MOST = 80, 20
# What the guide makes it ask, in the first answer of a thread.
QUESTION = "想先认识一下：怎样称呼你？教什么学科和年级？喜欢怎样的回答？（一句话就行，也可以说“跳过”。）"
QUESTION_ENGLISH = (
    "To get to know you: what shall I call you, what do you teach, and how do you like answers? (A sentence will do, or say “skip”.)"
)
_HEADS = ("本会话开始时的笔记里有：", "本会话开始时的笔记是空的。")
_HEADS_ENGLISH = ("At the beginning of this conversation the notes said:", "At the beginning of this conversation the notes were empty.")

_THING = r"[『「“\"']?(?P<old>[^『』「」“”\"'\n]{1,60}?)[』」”\"']?"
_REMEMBER = re.compile(
    r"(?<!不要)(?<!别)(?<!不用)记住[，,：:]?\s*(?P<zh>.+)|(?<!n't )(?<!not )\bremember(?: that)?[,:]? +(?P<en>.+)", re.IGNORECASE
)
_UPDATE = re.compile(
    rf"[把将]{_THING}(?:[那这]一?条)(?:笔记|记忆)?(?:更新|改|换)(?:成|为|到)[：:]?\s*(?P<new>.+)"
    rf"|\b(?:update|change) the (?:note|entry) (?:about |on )?{_THING.replace('old', 'old_en')} to (?P<new_en>.+)",
    re.IGNORECASE,
)
_REMOVE = re.compile(
    rf"(?:删掉|删除|去掉|忘掉){_THING}(?:[那这]一?条|的笔记)"
    rf"|\b(?:delete|remove|forget) the (?:note|entry) (?:about |on )?{_THING.replace('old', 'old_en')}[.。]?$",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"刷新.{0,8}(?:记忆|笔记)|\b(?:refresh|reload)\b.{0,16}\b(?:memory|notes)\b", re.IGNORECASE)
_WHAT_IS_KNOWN = re.compile(
    r"你还?(?:记得|知道)(?:关于)?我(?!们).{0,40}(?:吗|么|什么|哪些|[?？])|有(?:什么|哪些|没有)?关于我的(?:笔记|记忆)|你的?笔记里?(?:有|记)了?(?:什么|哪些)"
    r"|what do you (?:know|remember) about me|do you (?:know|remember) (?:my|what i|that i)",
    re.IGNORECASE,
)
_OF_THE_TEACHER = re.compile(r"(?:以后)?(?:请)?(?:叫我|称呼我)|(?:我|本人)|i\b|i'm\b|my\b|call me\b", re.IGNORECASE)
_INTRODUCES = re.compile(r"我(?:姓|叫|是|教|带|喜欢)|叫我|\b(?:i teach|i am|i'm|call me|my name)\b", re.IGNORECASE)


def note_call(prompt: Prompt) -> ToolCall | None:
    """The call of a notes tool that the question asks for, as long as it has not been answered."""
    number = len(prompt.results) + 1
    found = _asked(prompt)
    if found is None or found[0] not in prompt.tool_names or not (number == 1 or _is_elsewhere(prompt, number)):
        return None
    name, arguments = found
    if number > 1:
        arguments["target"] = "memory" if arguments["target"] == "user" else "user"
    return ToolCall(f"call_demo_{number}", name, arguments_text(arguments))


def _asked(prompt: Prompt) -> tuple[str, dict[str, Any]] | None:
    question = prompt.question
    if _REFRESH.search(question):
        return "memory_refresh", {}
    if match := _UPDATE.search(question):
        old, new = (match["old"] or match["old_en"]).strip(), _plain(match["new"] or match["new_en"])
        content = new if old.casefold() in new.casefold() else f"{old} {new}"  # the whole entry is replaced
        return "memory_replace", {"old_text": old, "new_content": content, "target": _store_of(prompt, old)}
    if match := _REMOVE.search(question):
        old = (match["old"] or match["old_en"]).strip()
        return "memory_remove", {"old_text": old, "target": _store_of(prompt, old)}
    if match := _REMEMBER.search(question):
        content = _plain(match["zh"] or match["en"])
        return ("memory_add", {"content": content, "target": _target_of(content)}) if content else None
    if prompt.rounds and _has_asked(prompt.rounds[-1].answer) and _INTRODUCES.search(question):
        return "memory_add", {"content": _plain(question), "target": "user"}
    return None


def _plain(text: str) -> str:
    return text.strip(" 。.\n")


def _target_of(content: str) -> str:
    return "user" if _OF_THE_TEACHER.match(content) else "memory"


def _store_of(prompt: Prompt, old: str) -> str:
    """Where the frozen notes have that text; what was written since is looked for in both."""
    profile = blocks_in(prompt.system).get(USER_TITLE, [])
    return "user" if any(old in entry for entry in profile) else "memory"


def _is_elsewhere(prompt: Prompt, number: int) -> bool:
    """Whether the first call looked into the wrong one of the two stores."""
    return number == 2 and prompt.called in ("memory_replace", "memory_remove") and _read(prompt.results[-1]).get("code") == "not_found"


def _has_asked(answer: str) -> bool:
    return QUESTION[:8] in answer or QUESTION_ENGLISH[:20] in answer


def noted(prompt: Prompt) -> str:
    """What the tool said, word for word."""
    result = _read(prompt.results[-1])
    if prompt.is_english:
        return f"Used the tool {prompt.called}. {_english(result)}"
    said = str(result.get("message", "")) or " ".join(prompt.results[-1].split())[:200]
    return f"已调用工具 {prompt.called}，结果：\n\n> {said}"


def _english(result: dict[str, Any]) -> str:
    if result.get("staged"):
        return "Nothing is written yet: it waits for you in the memory page."
    if not result.get("success"):
        return f"It was not carried out ({result.get('code') or 'no reason given'})."
    return "It was carried out." if result.get("changed") else "Nothing had to be changed."


def _read(result: str) -> dict[str, Any]:
    try:
        payload = json.loads(result)
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


def known(prompt: Prompt) -> str:
    """What the frozen notes say, where the question asks for it; "" for any other question."""
    if not _WHAT_IS_KNOWN.search(prompt.question):
        return ""
    blocks = blocks_in(prompt.system)
    entries = [*blocks.get(USER_TITLE, []), *blocks.get(MEMORY_TITLE, [])][:ENTRIES_MOST]
    heads = _HEADS_ENGLISH if prompt.is_english else _HEADS
    head = heads[0] if entries else heads[1]
    return "\n".join([head, "", *(f"- {shortened(entry, ENTRY_CHARS)}" for entry in entries)]).strip()


def question_of_guide(prompt: Prompt) -> str:
    """What the first answer of a thread with the guide asks; "" for any other answer."""
    if GUIDE_MARK not in prompt.system or prompt.rounds or prompt.summary:
        return ""
    return QUESTION_ENGLISH if prompt.is_english else QUESTION


def is_written_by_shortcut(prompt: Prompt) -> bool:
    """Whether the system writes what this question says (chat.memory.notes.shortcut)."""
    return SHORTCUT_MARK in prompt.system and bool(re.match(r"\s*(?:请)?(?:记住|remember)\s*[：:]", prompt.question, re.IGNORECASE))
