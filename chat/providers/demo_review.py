"""The demo provider's reviews of notes: looks at what is noted, and proposes what the teacher said that lasts and is not there yet."""

import re

from chat.providers.base import ToolCall
from chat.providers.demo_memory import statements
from chat.providers.demo_prompt import Prompt
from chat.providers.reading import arguments_text

PROPOSALS_MOST = 3
DONE = "演示整理（未连接模型）完毕。"
_SAID = re.compile(r"^USER: (.+)$", re.MULTILINE)
_LABELS = {"scope": "user", "durability": "durable", "authority": "descriptive"}
# Which of the two texts, and why, by the kind of a statement.
_PLACES = {
    "teaching": ("user", "说到了任教的情况"),
    "preference": ("user", "说到了长期的喜好"),
    "instruction": ("memory", "以后都要照办的要求"),
}


def review_call(prompt: Prompt) -> ToolCall | None:
    """The next call: first a look, then a proposal each; None when there is no more to propose."""
    if not {"memory_show", "memory_add"} <= prompt.tool_names:
        return None
    number = len(prompt.results)
    if not number:
        return ToolCall("call_review_0", "memory_show", "{}")
    said = "\n".join(_SAID.findall(prompt.memory)).replace(" ⏎ ", "\n")
    new = [(text, kind) for text, kind in dict(statements(said)).items() if text not in prompt.results[0]][:PROPOSALS_MOST]
    if number > len(new):
        return None
    text, kind = new[number - 1]
    target, reason = _PLACES[kind]
    arguments = {"content": text, "target": target, "reason": reason, **_LABELS}
    return ToolCall(f"call_review_{number}", "memory_add", arguments_text(arguments))
