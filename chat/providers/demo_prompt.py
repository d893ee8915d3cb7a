"""What the demo provider sees in a prompt: the question, and what memory brought with it."""

import re
from dataclasses import dataclass, field

from chat.providers.base import Message, Request
from chat.text.boundary import (
    ASSISTANT_MARK,
    QUESTION_OPEN,
    ROUNDS_LABEL,
    SUMMARY_LABEL,
    THREAD_CLOSE,
    THREAD_CLOSE_LAST,
    THREAD_OPEN,
    USER_MARK,
)

_GAP_RUN = re.compile(r"thread_read 读取 (run_\w+)")
_CJK = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class Round:
    """An earlier round of the same thread; `gap_run_id` names the run when its answer was shortened."""

    question: str
    answer: str

    @property
    def gap_run_id(self) -> str:
        match = _GAP_RUN.search(self.answer)
        return match[1] if match else ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`rounds` are oldest first; `results` are what tools answered in this run, `called` is the last of them; `memory` is all
    that stands before the question, `system` what the assistant was told, frozen notes with it."""

    question: str
    summary: str = ""
    rounds: list[Round] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    called: str = ""
    tool_names: frozenset[str] = frozenset()
    memory: str = ""
    system: str = ""

    @property
    def is_english(self) -> bool:
        return not _CJK.search(self.question) and bool(_LATIN.search(self.question))


def read_prompt(request: Request) -> Prompt:
    """Takes the last message of the user apart at the lines of the untrusted boundary."""
    users = [i for i, message in enumerate(request.messages) if message.get("role") == "user"]
    text = _text(request.messages[users[-1]]) if users else ""
    after = request.messages[users[-1] + 1 :] if users else []
    memory, question = _split(text)
    summary, rounds = _thread(memory)
    return Prompt(
        question=question.strip(),
        summary=summary,
        rounds=rounds,
        results=[_text(message) for message in after if message.get("role") == "tool"],
        called=next((call["function"]["name"] for message in reversed(after) for call in message.get("tool_calls") or ()), ""),
        tool_names=frozenset(tool.name for tool in request.tools),
        memory=memory,
        system="\n".join(_text(message) for message in request.messages if message.get("role") == "system"),
    )


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _split(text: str) -> tuple[str, str]:
    """Memory and question. What memory quotes is cleaned of such lines, so the first one is the true one."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line in (THREAD_CLOSE_LAST, QUESTION_OPEN):
            return "\n".join(lines[:i]), "\n".join(lines[i + 1 :])
    # The request for a summary: the task stands behind the closed memory.
    memory, close, rest = text.partition(f"\n{THREAD_CLOSE}\n")
    return (memory, rest) if close else ("", text)


def _thread(memory: str) -> tuple[str, list[Round]]:
    """The summary and the rounds of thread memory."""
    _, opened, inside = memory.partition(THREAD_OPEN + "\n")
    if not opened:
        return "", []
    inside = inside.split(f"\n{THREAD_CLOSE}", 1)[0]
    head, _, rounds = f"\n{inside}".partition(f"\n{ROUNDS_LABEL}")
    _, labelled, summary = head.partition(SUMMARY_LABEL)
    summary = re.sub(r"（另有 \d+ 轮[^）]*）", "", summary) if labelled else ""
    pieces = re.split(rf"^{USER_MARK} ?", rounds, flags=re.MULTILINE)[1:]
    parted = [re.split(rf"^{ASSISTANT_MARK} ?", piece, maxsplit=1, flags=re.MULTILINE) for piece in pieces]
    return summary.strip(), [Round(part[0].strip(), part[1].strip() if len(part) > 1 else "") for part in parted]
