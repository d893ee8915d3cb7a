"""Execute: the task of a run, from the first request to the stored end."""

import asyncio
import json
import logging
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import InterfaceError, OperationalError

from chat.memory.base import ToolContext, ToolError
from chat.memory.read import window_tokens
from chat.memory.tools import find_tool, schema_tokens
from chat.models import Run
from chat.providers.base import UNPAID, Answer, EmptyAnswer, ProviderError, ProviderTimeout, Request, ToolCall
from chat.providers.registry import provider
from chat.runs import live
from chat.runs.bridge import hop
from chat.runs.conversation import Conversation, WindowFull
from chat.runs.finish import Outcome, finish_run
from chat.runs.live import LiveRun
from chat.runs.start import Prepared
from chat.text.tokens import count_tokens

log = logging.getLogger(__name__)
TOOL_ROUNDS = 8
TOOL_CALLS_AT_ONCE = 16  # of one answer; a model in a loop asks for hundreds
# Text and thoughts of the whole run: ten times the longest paper. A model in a loop ends here and not at the disk's end.
ANSWER_MAX_CHARS = 400_000
ANSWER_MAX_SECONDS = 3_600.0  # a service may keep a connection alive for ever without a word
# Of a pool whose server was restarted each connection fails once; a lock of SQLite fails only after 20 s of waiting.
END_WAITS_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class AnswerTooLong(Exception):
    """The model does not come to an end."""


@dataclass(slots=True)
class _Tally:
    """Tokens of all requests of the run; `is_estimate` when the service did not report one of them. `chars` came in answers so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    is_estimate: bool = False
    chars: int = 0

    def add(self, conversation: Conversation, answer: Answer) -> None:
        usage = answer.usage
        if usage is None:
            self.is_estimate = True
            self.input_tokens += conversation.tokens
            self.output_tokens += count_tokens(answer.text) + count_tokens(answer.reasoning)
        else:
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens


async def execute(prepared: Prepared, going: LiveRun) -> None:
    """Runs to the end whatever happens; the end is stored before the viewers are told."""
    tally = _Tally()
    status, code = Run.Status.FAILED, ""
    try:
        async with asyncio.timeout(ANSWER_MAX_SECONDS):
            await _converse(prepared, going, tally)
        status = Run.Status.COMPLETED
    except asyncio.CancelledError:
        if going.stop_reason == "stop":
            status = Run.Status.CANCELLED
        else:
            code = "interrupted"
    except ProviderError as error:
        code = error.code
        log.warning("Run %s failed: %s", prepared.run.pk, error)
    except WindowFull:
        code = "context_too_long"
    except AnswerTooLong:
        code = "answer_too_long"
    except TimeoutError:
        code = ProviderTimeout.code
    except Exception:
        code = "internal_error"
        log.exception("Run %s failed", prepared.run.pk)
    going.is_ending = True
    row = prepared.run
    try:
        row = await _store_end(prepared, _outcome(prepared, going, tally, status, code))
    except Run.DoesNotExist:
        log.info("Run %s was deleted while it went", prepared.run.pk)
        row.status = Run.Status.CANCELLED
    except Exception:
        # The heartbeat stops with this task, so the sweep ends the run as interrupted.
        log.exception("The end of run %s could not be stored", prepared.run.pk)
        row.status, row.error_code, row.output = Run.Status.FAILED, "interrupted", going.text
    finally:
        live.close_run(going, row)


def _outcome(prepared: Prepared, going: LiveRun, tally: _Tally, status: str, code: str) -> Outcome:
    going.flush()
    return Outcome(
        status=status,
        output=going.text,
        error_code=code,
        reasoning=going.reasoning,
        tool_calls=going.tool_calls,
        input_tokens=tally.input_tokens,
        output_tokens=tally.output_tokens,
        is_estimate=tally.is_estimate,
        cost=prepared.agent.provider.cost(tally.input_tokens, tally.output_tokens),
        first_token_at=datetime.fromtimestamp(going.first_token_at, UTC) if going.first_token_at else None,
    )


async def _store_end(prepared: Prepared, outcome: Outcome) -> Run:
    """Stores the end, again and again while the database is away: a whole answer must not be lost to a moment's trouble."""
    for wait_seconds in END_WAITS_SECONDS:
        try:
            return await hop(finish_run, prepared.run.pk, prepared.run.thread_id, outcome, prepared)
        except (OperationalError, InterfaceError) as error:
            log.warning("The end of run %s waits for the database (%s)", prepared.run.pk, type(error).__name__)
            await asyncio.sleep(wait_seconds)
    return await hop(finish_run, prepared.run.pk, prepared.run.thread_id, outcome, prepared)


async def _converse(prepared: Prepared, going: LiveRun, tally: _Tally) -> None:
    """Asks until the model answers without calling a tool; after TOOL_ROUNDS it is not offered any."""
    window = window_tokens(prepared.agent) - schema_tokens(prepared.ledger.tools)
    conversation = Conversation(prepared.request.messages, window_tokens=window)
    for tool_round in range(TOOL_ROUNDS + 1):
        conversation.fit()
        answer = await _ask(prepared, going, conversation, tally, is_last=tool_round == TOOL_ROUNDS)
        if not answer.tool_calls:
            return
        if tool_round == TOOL_ROUNDS:
            if not answer.text.strip():
                raise EmptyAnswer
            return
        conversation.add_call(answer)
        for call in answer.tool_calls:
            conversation.add_result(call, await _use(prepared, going, call))
        if answer.text.strip():
            going.add("\n\n")


async def _ask(prepared: Prepared, going: LiveRun, conversation: Conversation, tally: _Tally, *, is_last: bool) -> Answer:
    first = prepared.request
    request = Request(
        messages=conversation.messages,
        purpose=first.purpose,
        tools=() if is_last else first.tools,
        max_tokens=first.max_tokens,
        temperature=first.temperature,
        run_id=first.run_id,
        thread_id=first.thread_id,
    )
    answer = Answer()
    texts: list[str] = []
    thoughts: list[str] = []
    is_paid = True
    try:
        async with aclosing(provider(prepared.endpoint.kind).stream(prepared.endpoint, request)) as stream:
            async for delta in stream:
                if delta.text or delta.reasoning:
                    room = ANSWER_MAX_CHARS - tally.chars
                    going.add(delta.text[:room], delta.reasoning[:room])
                    texts.append(delta.text)
                    thoughts.append(delta.reasoning)
                    tally.chars += len(delta.text) + len(delta.reasoning)
                    if tally.chars > ANSWER_MAX_CHARS:
                        raise AnswerTooLong
                if delta.tool_calls:
                    answer.tool_calls = [*answer.tool_calls, *delta.tool_calls][:TOOL_CALLS_AT_ONCE]
                if delta.usage is not None:
                    answer.usage = delta.usage
    except UNPAID:
        is_paid = bool(texts)
        raise
    finally:
        answer.text, answer.reasoning = "".join(texts), "".join(thoughts)
        if is_paid:
            tally.add(conversation, answer)
    return answer


async def _use(prepared: Prepared, going: LiveRun, call: ToolCall) -> str:
    """The result of a tool call, as the model is told; a tool that fails is a result too."""
    is_ok = False
    try:
        tool = find_tool(prepared.ledger.tools, call.name)
        context = ToolContext(prepared.owner, prepared.run.pk, prepared.run.thread_id, window_tokens(prepared.agent))
        result = await hop(tool.call, context, _arguments(call))
        is_ok = True
    except ToolError as error:
        result = str(error)
    except Exception:
        log.exception("Tool %s failed in run %s", call.name[:40], prepared.run.pk)
        result = "工具出错，没有结果。请在没有它的情况下继续回答。"
    going.note_tool(call.name, call.arguments, is_ok=is_ok)
    return result


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        raise ToolError("参数不是有效的 JSON。") from None
    if not isinstance(arguments, dict):
        raise ToolError("参数必须是一个 JSON 对象。")
    return arguments
