"""Carries out what a review calls (specs/notes_memory.md §3.2 Tools, Writes).

The list of tools is held here: whatever else a model calls, also a tool that exists elsewhere, is not allowed and the
review goes on.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Result, Verb, Write
from chat.memory.notes.guard import guarded
from chat.memory.notes.review_gate import Refusal, content_of, gate_of, text_of
from chat.memory.notes.review_tools import NAMES
from chat.models import NoteOp, NoteReview, NoteTarget, Owner
from chat.models.agent import ReviewWrite
from chat.providers.base import ToolCall
from chat.text.redlines import redact

REASON_CHARS: Final = 200
PROPOSALS_MOST: Final = 12  # of one review; a model in a loop proposes for ever
_NOT_ALLOWED: Final = Refusal(
    "not_allowed_here",
    "这里不能使用这个工具（not allowed here），只有 memory_show、memory_add、memory_replace、memory_remove、memory_batch。",
)
_NO_OBJECT: Final = Refusal("bad_arguments", "参数必须是一个 JSON 对象。")
_NO_TARGET: Final = Refusal("invalid_target", "target 只能是 memory 或 user。")
_NO_LIST: Final = Refusal("empty_batch", "operations 是要做的各项改动，不能为空。")
_TOO_MANY: Final = Refusal("too_many_proposals", f"一次整理最多提出 {PROPOSALS_MOST} 项改动，已经够了，请结束。")
_PARTNER: Final = Refusal("partner_refused", "同一批里有要加的内容没有通过，所以这一项不删，没有提出。")


@dataclass(slots=True)
class Calls:
    """The calls of one review. `topics` are what the teacher does not want remembered; `made` counts changes let through.

    `is_elsewhere`: the model is not the assistant's own, so that sensitive places of the notes stay here.
    """

    review: NoteReview
    write_mode: str
    topics: Sequence[str] = ()
    made: int = 0
    is_elsewhere: bool = False

    def result(self, call: ToolCall) -> str:
        """The result as the model sees it."""
        text = json.dumps(self._payload(call), ensure_ascii=False)
        return redact(text) if self.is_elsewhere else text

    def _payload(self, call: ToolCall) -> dict[str, Any]:
        if call.name not in NAMES:
            return _refused(_NOT_ALLOWED)
        arguments = _object(call.arguments)
        if arguments is None:
            return _refused(_NO_OBJECT)
        target = arguments.get("target")
        if target is not None and target not in NoteTarget.values:
            return _refused(_NO_TARGET)
        if call.name == "memory_show":
            return store.show([self._place(one) for one in ([target] if target else NoteTarget.values)])
        place = self._place(target or NoteTarget.MEMORY)
        if call.name == "memory_batch":
            return self._batch(place, arguments)
        return self._single(place, arguments | {"action": call.name.removeprefix("memory_")})

    def _place(self, target: str) -> Place:
        review = self.review
        return Place(Owner(review.tenant_id, review.user_id, review.agent_id), NoteTarget(target))

    def _single(self, place: Place, item: dict[str, Any]) -> dict[str, Any]:
        refusal = gate_of(place, self.topics).refusal(item) or (_TOO_MANY if self.made >= PROPOSALS_MOST else None)
        if refusal is not None:
            return _refused(refusal)
        asked = Write(cast(Verb, item["action"]), content_of(item), text_of(item.get("old_text")))
        return self._write(place, asked, _reason([item])).payload

    def _batch(self, place: Place, arguments: dict[str, Any]) -> dict[str, Any]:
        """What passes goes on as one batch. Where an addition was refused nothing is removed for it either."""
        operations = arguments.get("operations")
        if not isinstance(operations, list) or not operations:
            return _refused(_NO_LIST)
        items = [one if isinstance(one, dict) else {} for one in operations]
        gate = gate_of(place, self.topics)
        refusals = {number: refusal for number, item in enumerate(items, 1) if (refusal := gate.refusal(item)) is not None}
        if any(items[number - 1].get("action") == "add" for number in refusals):
            removals = (number for number, item in enumerate(items, 1) if item.get("action") == "remove")
            refusals = dict.fromkeys(removals, _PARTNER) | refusals
        passed = [item for number, item in enumerate(items, 1) if number not in refusals]
        if passed and self.made + len(passed) > PROPOSALS_MOST:
            return _refused(_TOO_MANY)
        told = [{"operation": number, "code": one.code, "message": one.message} for number, one in sorted(refusals.items())]
        if not passed:
            return _refused(Refusal("nothing_passed", "没有一项可以提出，什么都没有改。")) | {"refused": told}
        asked = Write("batch", operations=tuple(_bare(item) for item in passed))
        payload = self._write(place, asked, _reason(passed)).payload
        return payload | {"refused": told, "note_on_numbers": "其余各项从 1 起重新编号"} if told else payload

    def _write(self, place: Place, asked: Write, reason: str) -> Result:
        review = self.review
        author = Author(NoteOp.Origin.REVIEW, thread_id=review.thread_id, review_id=review.pk, reason=reason)
        arguments = {"target": place.target, "content": asked.content, "old_text": asked.old_text, "operations": list(asked.operations)}
        is_staged = self._waits(asked)
        result = guarded(
            review.pk, review.thread_id, f"memory_{asked.verb}", arguments, lambda: store.write(place, asked, author, is_staged=is_staged)
        )
        if result.is_done and result.op_id:
            self.made += len(asked.operations) or 1
            self._drop_when_deleted(result.op_id)
        return result

    def _drop_when_deleted(self, op_id: str) -> None:
        """What waits goes with its conversation, also when that was deleted in the very moment in which it was proposed."""
        if not NoteReview.objects.filter(pk=self.review.pk).exists():
            NoteOp.objects.filter(pk=op_id, state=NoteOp.State.STAGED).delete()

    def _waits(self, asked: Write) -> bool:
        """Whether the change waits for the teacher. Only where `all` was chosen is anything removed or rewritten unattended."""
        if self.write_mode == ReviewWrite.ALL:
            return False
        actions = [one["action"] for one in asked.operations] or [asked.verb]
        return self.write_mode != ReviewWrite.ADD or any(action != "add" for action in actions)


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refused(refusal: Refusal) -> dict[str, Any]:
    return {"success": False, "code": refusal.code, "message": refusal.message}


def _bare(item: Mapping[str, Any]) -> dict[str, Any]:
    """The operation without what it says of itself; what is wrong with the rest is for the store to say."""
    texts = {"content": content_of(item), "old_text": text_of(item.get("old_text"))}
    return {"action": item.get("action"), **{name: text for name, text in texts.items() if text}}


def _reason(items: Sequence[Mapping[str, Any]]) -> str:
    said = [" ".join(text_of(item.get("reason")).split()) for item in items]
    return redact("；".join(dict.fromkeys(one for one in said if one)))[:REASON_CHARS]
