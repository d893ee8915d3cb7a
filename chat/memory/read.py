"""The read path: one pass over the layers gives the segments, the ledger and so the messages (DESIGN §4)."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from chat.memory.base import Layer, Segment, Tool, Turn
from chat.memory.knowledge.shelf import documents_of
from chat.memory.knowledge.telling import RULE as CITING_RULE
from chat.memory.ledger import Ledger
from chat.memory.notes import shortcut, snapshot
from chat.memory.registry import layers, working
from chat.memory.tools import schema_tokens, tools_of
from chat.models import Agent
from chat.text.boundary import QUESTION_OPEN, THREAD_CLOSE, THREAD_CLOSE_LAST
from chat.text.tokens import count_tokens

log = logging.getLogger(__name__)

# The window of the conversation inside a run (L0, DESIGN §2 and §4), its tool results included.
WINDOW_TOKENS = 80_000
WINDOW_CHARS = 200_000
QUESTION_SHARE = 8  # an eighth of the model's window is for the question, however full the notes are
ORDER = ("core", "thread", "recall", "external", "knowledge", "continue")


class QuestionTooLong(Exception):
    """The question alone does not fit the model's window; it is never cut."""

    def __init__(self, tokens: int, limit_tokens: int) -> None:
        super().__init__(f"{tokens} > {limit_tokens} tokens")
        self.tokens, self.limit_tokens = tokens, limit_tokens


def reply_room(agent: Agent) -> int:
    """Tokens kept for the reply: the agent's setting, at most a quarter of a small window."""
    return min(agent.reply_tokens, agent.context_tokens // 4)


def window_tokens(agent: Agent) -> int:
    """Tokens that the conversation of a run may come to, without the reply."""
    return min(WINDOW_TOKENS, agent.context_tokens - reply_room(agent))


def assemble(turn: Turn) -> Ledger:
    """Builds what the model is told. Raises QuestionTooLong.

    Layers are asked in the order of their priority with what is left of the shared budget, so that the lowest
    priority is cut first. A layer that fails gives nothing and a warning: reading memory fails open. While memory is
    off only the running conversation is asked.
    """
    agent = turn.agent
    if turn.has_memory:
        turn = replace(turn, documents=documents_of(turn.owner))
    offered = tools_of(agent, turn.documents, has_memory=turn.has_memory)
    names = [tool.spec.name for tool in offered]
    window = window_tokens(agent) - schema_tokens(names)
    system = _system(turn, offered, window)
    question_tokens = count_tokens(turn.question)
    free = window - system.tokens
    chars_left = WINDOW_CHARS - len(system.text) - len(turn.question)
    if question_tokens > free or chars_left < 0:
        raise QuestionTooLong(question_tokens, max(0, free))
    shared_budget = min(agent.shared_tokens, agent.context_tokens // 4, free - question_tokens)
    left = shared_budget
    found: dict[str, Segment] = {}
    for layer in sorted(working(layers(), has_memory=turn.has_memory, backend=turn.backend), key=lambda one: one.priority):
        segment = _read(layer, turn, left, chars_left)
        if segment is not None:
            found[segment.name] = segment
            left -= segment.tokens
            chars_left -= len(segment.text)
    memory = [found[name] for name in ORDER if name in found]
    question = _close(memory, Segment("question", "user", turn.question, question_tokens, question_tokens))
    return Ledger([system, *memory, question], shared_budget, names)


def _read(layer: Layer, turn: Turn, budget_tokens: int, chars_left: int) -> Segment | None:
    try:
        segment = layer.read(turn, budget_tokens)
        while (
            segment and budget_tokens > 0 and len(segment.text) > chars_left
        ):  # Latin text and runs of blanks have many characters a token
            budget_tokens //= 2
            segment = layer.read(turn, budget_tokens)
        return segment
    except Exception:
        log.exception("Layer %s could not be read for thread %s", layer.name, turn.thread.pk if turn.thread else "(new)")
        return None


def _system(turn: Turn, offered: Sequence[Tool], window: int) -> Segment:
    """Agent, mode, frozen notes, rules. Nothing in it depends on the question, so it is the same in every run of a thread.

    Notes take what they need, but always leave room for a question.
    """
    agent = turn.agent
    rules = [CITING_RULE] if turn.documents else []
    rules += [tool.rule for tool in offered if tool.rule]
    if turn.notes and shortcut.is_in_use(agent):
        rules.append(shortcut.RULE)
    prompts = [agent.system_prompt.strip(), turn.mode.prompt.strip() if turn.mode else ""]
    told, sources = "", [agent.pk]
    if turn.notes and turn.notes.text:
        left = window - count_tokens("\n\n".join([*prompts, *rules])) - agent.context_tokens // QUESTION_SHARE
        told = snapshot.within(turn.notes, min(left, snapshot.room_tokens(agent.context_tokens)))
        sources.append(snapshot.source_id(turn.notes))
    text = "\n\n".join(part for part in [*prompts, told, "\n".join(rules)] if part)
    tokens = count_tokens(text)
    return Segment("system", "system", text, tokens, tokens, source_ids=sources)


def _close(memory: list[Segment], question: Segment) -> Segment:
    """Puts the line that says "the question comes now" directly before it (DESIGN §4, closing line)."""
    shown = [segment for segment in memory if segment.text]
    for segment in shown:
        if segment.name == "thread":
            segment.text += "\n" + (THREAD_CLOSE_LAST if segment is shown[-1] else THREAD_CLOSE)
            segment.tokens = count_tokens(segment.text)
    if shown and shown[-1].name != "thread":
        question.text = f"{QUESTION_OPEN}\n{question.text}"
        question.tokens = count_tokens(question.text)
    return question
