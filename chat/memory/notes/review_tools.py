"""The tools that a review is offered: five, with what each proposed change must say of itself (§3.2 Tools, Scope gate)."""

from collections.abc import Sequence
from typing import Any, Final

from chat.models import NoteTarget
from chat.providers.base import ToolSpec

# What each change says of itself, and the one answer that passes.
LABELS: Final = {"scope": "user", "durability": "durable", "authority": "descriptive"}

_TARGET: Final = {
    "type": "string",
    "enum": list(NoteTarget.values),
    "description": "memory：MEMORY.md，你的工作笔记；user：USER.md，关于教师本人。不写时是 memory",
}
_SAID: Final[dict[str, Any]] = {
    "scope": {"type": "string", "enum": ["user", "thread", "project"], "description": "关系到谁：教师本人、只是这个会话、只是一个项目"},
    "durability": {"type": "string", "enum": ["durable", "temporary"], "description": "长期成立，还是一时的"},
    "authority": {"type": "string", "enum": ["descriptive", "permission"], "description": "陈述情况，还是给出许可或命令"},
    "reason": {"type": "string", "description": "一句话：为什么值得长期记"},
}
_CONTENT: Final = {"type": "string", "description": "条目全文，一两句"}
_OLD: Final = {"type": "string", "description": "要找的条目中的一段原文，只能匹配一条"}
_OPERATION: Final = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["add", "replace", "remove"]},
        "content": _CONTENT,
        "old_text": _OLD,
        **_SAID,
    },
    "required": ["action", *LABELS],
}


def _spec(name: str, description: str, fields: dict[str, Any], required: Sequence[str]) -> ToolSpec:
    return ToolSpec(name, description, {"type": "object", "properties": fields, "required": list(required)})


def _change(name: str, description: str, fields: dict[str, Any]) -> ToolSpec:
    return _spec(name, description, fields | {"target": _TARGET} | _SAID, [*fields, *LABELS])


SPECS: Final = (
    _spec("memory_show", "查看现有的笔记与用量。", {"target": _TARGET | {"description": "memory 或 user；不写时两处都看"}}, []),
    _change("memory_add", "加一条笔记。", {"content": _CONTENT}),
    _change("memory_replace", "把一条笔记整条换成新的内容。", {"old_text": _OLD, "new_content": _CONTENT}),
    _change("memory_remove", "删掉一条笔记。", {"old_text": _OLD}),
    _spec(
        "memory_batch",
        "对同一处笔记一次做几项改动，要么全做要么全不做。",
        {"operations": {"type": "array", "items": _OPERATION}, "target": _TARGET},
        ["operations"],
    ),
)
NAMES: Final = frozenset(spec.name for spec in SPECS)
