"""What the model is told of a write that succeeded, and what `memory_show` shows (specs/notes_memory.md §1.4).

A success never shows the entries of the store: models then repeated the write, or "improved" it.
"""

from collections.abc import Iterable
from typing import Any, Final

from chat.memory.notes import entries as form
from chat.memory.notes.base import Live, Place
from chat.memory.notes.batch import Outcome
from chat.memory.notes.shown import shown_entry
from chat.memory.notes.storage import NAMES

NOTE_FINAL: Final = "写入已完成，不要重复执行。"
NOTE_WAITS: Final = "已交给用户确认，不要重复提交，也不要说已经记住。"
EMPTY: Final = "（暂无条目）"
_DONE: Final = {
    "add": "已加入 1 条",
    "replace": "已改写 1 条",
    "remove": "已删除 1 条",
    "batch": "整批都已执行",
    "edit": "已保存",
    "undo": "已撤销",
}
_UNCHANGED: Final = {
    "add": "已有同样的条目，没有再写",
    "replace": "内容与原条目相同，没有改动",
    "remove": "没有改动",
    "batch": "内容都已存在，没有改动",
    "edit": "没有改动",
    "undo": "没有改动",
}
_UNREADABLE: Final = "读不出来，请用户到“记忆”页查看。"


def written(verb: str, place: Place, limit_chars: int, outcome: Outcome) -> dict[str, Any]:
    """The payload of a write that was done, or had nothing to do."""
    chars = form.size(outcome.entries)
    told = (_DONE if outcome.is_changed else _UNCHANGED)[verb]
    folded = "（old_text 与原文的空白或字形略有不同，按相近的写法找到）" if outcome.is_folded else ""
    payload: dict[str, Any] = {
        "success": True,
        "done": True,
        "changed": outcome.is_changed,
        "target": place.target.value,
        "usage": form.usage(chars, limit_chars),
        "entry_count": len(outcome.entries),
        "message": f"{NAMES[place.target]}：{told}{folded}。",
        "note": NOTE_FINAL,
    }
    if form.percent(chars, limit_chars) >= form.NEAR_LIMIT_PERCENT:
        payload["near_limit"] = True
    if chars > limit_chars:
        payload["over_budget"] = True
    if outcome.is_much_dropped:
        payload["warning"] = "whole_entry_replaced"
    return payload | _previous(verb, place, outcome)


def _previous(verb: str, place: Place, outcome: Outcome) -> dict[str, Any]:
    """The entries that were replaced or removed, whole; for a batch by the number of the operation."""
    texts = [(number, action, shown_entry(text, place, number or 1)) for number, action, text in outcome.previous]
    if verb != "batch":
        return {f"{action}d_entry": text for _number, action, text in texts}
    maps: dict[str, dict[str, str]] = {}
    for number, action, text in texts:
        maps.setdefault(f"{action}d_entry", {})[str(number)] = text
    return dict(maps)


def staged(place: Place, op_id: str) -> dict[str, Any]:
    """The payload of a write that waits for the teacher."""
    return {
        "success": True,
        "done": True,
        "staged": True,
        "pending_id": op_id,
        "changed": False,
        "target": place.target.value,
        "message": f"{NAMES[place.target]}：还没有写入，等用户在“记忆”页确认。",
        "note": NOTE_WAITS,
    }


def shown(stores: Iterable[tuple[Place, Live]]) -> dict[str, Any]:
    """The payload of `memory_show`: by store its entries with 1-based numbers, and how full it is."""
    return {"success": True, "stores": {place.target.value: _store(place, now) for place, now in stores}}


def _store(place: Place, now: Live) -> dict[str, Any]:
    if now.trouble == "unreadable":
        return {"file": NAMES[place.target], "code": "unreadable", "message": f"{NAMES[place.target]} {_UNREADABLE}"}
    entries = [{"number": number, "text": shown_entry(entry, place, number)} for number, entry in enumerate(now.entries, 1)]
    told: dict[str, Any] = {
        "file": NAMES[place.target],
        "entries": entries or EMPTY,
        "entry_count": len(entries),
        "usage": form.usage(now.chars, now.limit_chars),
    }
    return told | ({"code": now.trouble} if now.trouble else {})
