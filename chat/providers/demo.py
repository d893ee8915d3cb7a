"""The offline stand-in: answers by rule from what it was given, always the same, and says so (DESIGN §1).

It shows memory at work: it quotes the earlier round, reads shortened rounds with `thread_read`, writes, changes and removes notes
with their tools, quotes passages of the knowledge base with their marks and searches it with `kb_search`, sums up,
proposes candidates and reviews notes. It reports no usage; callers count.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator

from chat.providers.base import Delta, Endpoint, Request, ToolCall
from chat.providers.demo_answers import answer, found, full_text, labelled
from chat.providers.demo_memory import candidates, summary, title
from chat.providers.demo_notes import note_call, noted
from chat.providers.demo_prompt import Prompt, read_prompt
from chat.providers.demo_review import DONE, review_call
from chat.providers.reading import arguments_text

MODEL = "demo"
PIECE_CHARS = 6
MAX_PAGES = 4

_WHOLE = re.compile(r"全文|完整|原文|full text|in full", re.IGNORECASE)
_LOOK_UP = re.compile(r"(?:查|搜|找).{0,6}(?:知识库|资料库|文档)|search the (?:knowledge base|documents)", re.IGNORECASE)
_NEXT_PAGE = re.compile(r"offset=(\d+)）\s*$")


class Demo:
    """`stream` as base.Provider says; `delay_seconds` is the pause between two pieces."""

    delay_seconds = float(os.environ.get("DEMO_DELAY_SECONDS") or 0.015)

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncIterator[Delta]:
        prompt = read_prompt(request)
        if call := _next_call(request, prompt):
            yield Delta(tool_calls=(call,), finish="tool_calls")
            return
        text = _text(request, prompt)
        # At most one token a character is what this writes, so the limit holds.
        kept = text if request.max_tokens is None else text[: request.max_tokens]
        for piece in _pieces(kept):
            yield Delta(text=piece)
            await asyncio.sleep(self.delay_seconds)
        yield Delta(finish="stop" if kept == text else "length")

    async def list_models(self, endpoint: Endpoint) -> list[str]:
        return [MODEL]


PROVIDER = Demo


def _text(request: Request, prompt: Prompt) -> str:
    if request.purpose == "title":
        return title(prompt)
    if request.purpose == "summary":
        return summary(prompt)
    if request.purpose == "extraction":
        return candidates(prompt)
    if request.purpose == "review":
        return DONE
    if prompt.results:
        if prompt.called == "kb_search":
            return found(prompt.results[-1], prompt.question)
        return full_text(prompt.results) if prompt.called == "thread_read" else labelled(prompt, noted(prompt))
    return answer(prompt)


def _next_call(request: Request, prompt: Prompt) -> ToolCall | None:
    if request.purpose == "review":
        return review_call(prompt)
    return _tool_call(prompt) if request.purpose == "answer" else None


def _reads(prompt: Prompt) -> str:
    """The id of the shortened round that the question wants whole; "" when it wants none."""
    if "thread_read" not in prompt.tool_names or not _WHOLE.search(prompt.question):
        return ""
    return next((one.gap_run_id for one in reversed(prompt.rounds) if one.gap_run_id), "")


def _tool_call(prompt: Prompt) -> ToolCall | None:
    """The call that the question asks for, as long as it has not been answered."""
    number = len(prompt.results) + 1
    if run_id := _reads(prompt):
        more = _NEXT_PAGE.search(prompt.results[-1]) if prompt.results else None
        if prompt.results and (more is None or number > MAX_PAGES):
            return None
        arguments = {"run_id": run_id, "offset": int(more[1])} if more else {"run_id": run_id}
        return ToolCall(f"call_demo_{number}", "thread_read", arguments_text(arguments))
    if _LOOK_UP.search(prompt.question) and "kb_search" in prompt.tool_names and not prompt.results:
        return ToolCall(f"call_demo_{number}", "kb_search", arguments_text({"query": prompt.question}))
    return note_call(prompt)


def _pieces(text: str) -> Iterator[str]:
    return (text[i : i + PIECE_CHARS] for i in range(0, len(text), PIECE_CHARS))
