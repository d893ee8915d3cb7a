"""Why a write is refused: a stable code, and what the model is told (specs/notes_memory.md §1.4).

Nothing here holds the text that was refused: of threats there is the category, of red lines the kind.
"""

from collections.abc import Callable
from typing import Any, Final

from chat.memory.notes import entries as form
from chat.memory.notes.base import Live, Place, Result
from chat.memory.notes.shown import shown_entry
from chat.memory.notes.storage import NAMES

# Not the model's fault and soon over: may be tried again, and is none of the failures of §1.7 (the guard bounds it by itself).
FREE: Final = frozenset({"busy"})
# The writing tools of this run are to stop at once.
TERMINAL: Final = frozenset({"unreadable", "unwritable", "drift", "flip_flop", "too_many_writes", "disabled"})
OPERATIONS_MOST: Final = 20
MATCHES_SHOWN: Final = 5

_PARAMETERS: Final = {"add": "content", "replace": "new_content"}
_WHO_SWITCHED: Final = {"school": "学校", "teacher": "用户", "thread": "临时会话"}
ANSWER: Final = "请直接回答用户"


class Refusal(Exception):
    """`facts` belong to the code; `number` is the 1-based operation of a batch, 0 outside of one."""

    def __init__(self, code: str, *, number: int = 0, action: str = "", **facts: Any) -> None:  # noqa: ANN401 (they belong to the code)
        super().__init__(code)
        self.code = code
        self.number = number
        self.action = action
        self.facts = facts


def refused(refusal: Refusal, place: Place, now: Live | None = None, *, is_batch: bool = False) -> Result:
    """The answer. `now` is the store as it is, for the answers that show it; never what a batch would have made of it."""
    code, facts = refusal.code, refusal.facts
    payload: dict[str, Any] = {"success": False, "code": code}
    if code in TERMINAL:
        payload["done"] = True
    payload["message"] = _message(refusal, place, now, is_batch=is_batch)
    if is_batch and refusal.number:
        payload |= {"operation": refusal.number, "action": refusal.action}
    payload |= {name: facts[name] for name in ("line", "chars", "limit", "category", "kind", "backup", "allowed") if name in facts}
    if now is not None and now.trouble != "unreadable":
        payload |= _view(refusal, place, now, is_batch=is_batch)
    return Result(payload, code, is_terminal=code in TERMINAL, category=facts.get("category") or facts.get("kind", ""))


def _view(refusal: Refusal, place: Place, now: Live, *, is_batch: bool) -> dict[str, Any]:
    """What of the store is shown with an error; all of it passes the sanitiser."""
    usage = {"usage": form.usage_of_limit(now.chars, now.limit_chars)}
    shown = [shown_entry(entry, place, number) for number, entry in enumerate(now.entries, 1)]
    if refusal.code == "ambiguous":
        matches = [shown_entry(entry, place, number) for number, entry in refusal.facts["matches"]][:MATCHES_SHOWN]
        return {"matches": form.previews_apart(matches)} | (usage if is_batch else {})
    if refusal.code == "over_budget" and not is_batch:
        return {"current_entries": shown} | usage
    if refusal.code == "over_budget":
        return {"previews": [{"preview": form.preview(one), "chars": len(one)} for one in shown]} | usage
    if refusal.code in ("not_found", "empty_old_text") and not is_batch:
        return {"previews": form.previews_apart(shown)} | usage
    return usage if is_batch else {}


def _message(refusal: Refusal, place: Place, now: Live | None, *, is_batch: bool) -> str:
    told = _MESSAGES[refusal.code](refusal, NAMES[place.target], now)
    if not is_batch or refusal.code in TERMINAL | FREE:
        return told
    where = f"第 {refusal.number} 项（{refusal.action or '未写明 action'}）：" if refusal.number else ""
    return f"{where}{told}整批都没有执行。"


def _too_full(refusal: Refusal, name: str, now: Live | None) -> str:
    facts = refusal.facts
    current = form.usage_of_limit(facts["current"], facts["limit"])
    return (
        f"{name} 现有 {current} 字，这次写入 {facts['asked']:,} 字，写后共 {facts['total']:,} 字，放不下。"
        "请用一次 memory_batch 删去或合并旧条目，同时加入新内容。"
    )


def _missing_content(refusal: Refusal, name: str, now: Live | None) -> str:
    return f"缺少 {_PARAMETERS.get(refusal.action, 'content')}：要写入的内容不能为空。"


def _bad_operation(refusal: Refusal, name: str, now: Live | None) -> str:
    missing = refusal.facts.get("missing")
    if missing:
        return f"缺少 {missing}。"
    return "每一项都是 {action, content?, old_text?}，action 只能是 add、replace 或 remove。"


_MESSAGES: Final[dict[str, Callable[[Refusal, str, Live | None], str]]] = {
    "empty_content": _missing_content,
    "empty_old_text": lambda r, name, now: "缺少 old_text：请写出那一条里的一段原文。现有条目见 previews。",
    "reserved_separator": lambda r, name, now: (
        f"内容第 {r.facts['line']} 行只有一个 §，它是条目之间的分隔符。请去掉这一行，或分成几条写入。"
    ),
    "too_long_for_store": lambda r, name, now: (
        f"这一条有 {r.facts['chars']:,} 字，比整个 {name} 的上限 {r.facts['limit']:,} 字还长。请缩短后再写。"
    ),
    "threat_blocked": lambda r, name, now: f"内容没有通过安全检查（{r.facts['category']}），没有写入。笔记只记事实，不写给助手的命令。",
    "redline": lambda r, name, now: f"内容涉及不能保存的个人信息（{r.facts['kind']}），没有写入。请去掉这一部分。",
    "unreadable": lambda r, name, now: f"{name} 读不出来，没有写入，原文没有改动。不要再写，{ANSWER}，并请用户到“记忆”页查看。",
    "unwritable": lambda r, name, now: f"{name} 现在写不进去（存储出错），没有写入。不要再写，{ANSWER}，并告诉用户笔记没有写成。",
    "drift": lambda r, name, now: (
        f"{name} 被改成了装不下的样子，没有写入，原文没有改动，已另存一份。不要再写，{ANSWER}，并请用户到“记忆”页处理。"
    ),
    "not_found": lambda r, name, now: "没有条目包含这段 old_text。请照 previews 里的原文再写。",
    "ambiguous": lambda r, name, now: f"有 {len(r.facts['matches'])} 条都包含这段 old_text，见 matches。请换一段只属于其中一条的原文。",
    "over_budget": _too_full,
    "would_empty": lambda r, name, now: f"这样会清空 {name}。确实要清空时，请用户在“记忆”页操作。",
    "bad_operation": _bad_operation,
    "empty_batch": lambda r, name, now: "operations 是至少有一项的列表。",
    "too_many_operations": lambda r, name, now: f"一次最多 {OPERATIONS_MOST} 项，这里有 {r.facts['chars']} 项。",
    "invalid_target": lambda r, name, now: "target 只能是 memory 或 user，不写就是 memory。",
    "flip_flop": lambda r, name, now: f"这样会把 {name} 改回本轮里已经有过的样子，没有写入。不要再改，{ANSWER}。",
    "too_many_writes": lambda r, name, now: f"本轮写入的次数已满，没有再写。笔记保持现状，{ANSWER}。",
    "busy": lambda r, name, now: f"{name} 正在被别处写入，这次没有写成，可以稍后再试。",
    # What only a person meets, who acts on what a page has shown.
    "ask": lambda r, name, now: f"内容涉及个人信息（{r.facts['category']}），要保存请再确认一次。",
    "conflict": lambda r, name, now: f"{name} 在这期间被改过，没有保存。",
    "changed": lambda r, name, now: f"{name} 里的这些条目后来又变了，没有撤销。",
    "erased": lambda r, name, now: "其中的文字已经彻底删除，不能撤销。",
    "decided": lambda r, name, now: "已经处理过了。",
    "gone": lambda r, name, now: "已经不在了。",
    "disabled": lambda r, name, now: f"记忆已关闭（{_WHO_SWITCHED.get(r.facts.get('by', ''), '用户')}），没有写入。不要再写，{ANSWER}。",
}
