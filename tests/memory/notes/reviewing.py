"""Reviews that a scripted model makes, for the tests of them."""

import json
from collections.abc import Sequence
from typing import Any

from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.review import run_review
from chat.memory.notes.review_due import note_end
from chat.models import NoteOp, NoteReview, NoteTarget, Owner, Thread
from chat.providers.base import Delta, ToolCall
from tests import builders
from tests.fakes import ScriptedProvider, Step, scripted
from tests.memory.answering import FreeLease, cloud_agent, thread_of

LABELS = {"scope": "user", "durability": "durable", "authority": "descriptive", "reason": "以后也成立"}
END = ["整理完毕。"]


def talk(rounds: int = 10, **agent_fields: Any) -> Thread:
    """A conversation in which a review is due."""
    thread = thread_of(cloud_agent(**agent_fields))
    for number in range(1, rounds + 1):
        builders.run(thread, f"第{number}问", f"第{number}答")
    return Thread.objects.select_related("agent__provider").get(pk=thread.pk)


def due(thread: Thread) -> NoteReview:
    review = note_end(thread, FreeLease())
    assert review is not None
    return review


def calls(*made: tuple[str, Any], text: str = "") -> list[Step]:
    """An answer that calls tools by name and arguments, which may be a broken text."""
    told = [
        ToolCall(f"call_{number}", name, said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))
        for number, (name, said) in enumerate(made, 1)
    ]
    return [Delta(text=text, tool_calls=tuple(told), finish="tool_calls")]


def add(content: str, target: str = "memory", **labels: Any) -> tuple[str, dict[str, Any]]:
    return "memory_add", {"content": content, "target": target, **LABELS, **labels}


def review(thread: Thread, *scripts: Sequence[Step]) -> tuple[NoteReview, ScriptedProvider]:
    """Makes the review that is due with a model that answers so, and gives its row and the model."""
    row = due(thread)
    model = ScriptedProvider(*(scripts or [END]))
    with scripted(model):
        assert run_review(row.pk, FreeLease()) is None
    row.refresh_from_db()
    return row, model


def results(model: ScriptedProvider) -> list[dict[str, Any]]:
    """What the model was told of all its calls."""
    return [json.loads(message["content"]) for message in model.requests[-1].messages if message["role"] == "tool"]


def place(thread: Thread, target: str = "memory") -> Place:
    return Place(Owner(thread.tenant_id, thread.user_id, thread.agent_id), NoteTarget(target))


def entries(thread: Thread, target: str = "memory") -> tuple[str, ...]:
    return store.look(place(thread, target)).entries


def note(thread: Thread, content: str, target: str = "memory") -> None:
    """Something that stood there before."""
    assert store.write(place(thread, target), Write("add", content), Author(NoteOp.Origin.PANEL)).is_done


def ops(row: NoteReview) -> list[tuple[str, str]]:
    return list(NoteOp.objects.filter(review=row).order_by("created_at", "pk").values_list("action", "state"))
