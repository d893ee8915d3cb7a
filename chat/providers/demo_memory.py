"""The demo provider's background answers: summary, title, candidates. Short, by rule, and always the same for the same prompt."""

import json
import re
from collections.abc import Iterator

from chat.providers.demo_prompt import Prompt, Round
from chat.text.boundary import CANCELLED_ROUND, FAILED_ROUND

LABELS = ("演示回答（未连接模型）", "Demo answer (no model connected)")
TITLE_CHARS = 20
SUMMARY_CHARS = 500
QUESTION_CHARS = 40

_LIMIT = re.compile(r"不超过 (\d+) 字")
_SENTENCE = re.compile(r"\S.*?(?:[。！？]|[.!?](?=\s|$)|$)", re.MULTILINE)
_CJK = re.compile(r"[\u3400-\u9fff]")
# Why a demo candidate is proposed, in Chinese and in English.
_REASONS = {
    "teaching": ("说到了任教的情况", "Says what is taught"),
    "preference": ("说到了长期的喜好", "Says what is liked"),
    "instruction": ("以后都要照办的要求", "Asks for something from now on"),
}
_ENDS = re.compile(r"[。！？!?\s]+")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_TAUGHT = "年级|老师|教师|班|高[一二三]|初[一二三]|语文|数学|英语|物理|化学|生物|历史|地理|政治"
# What a teacher says of themselves, by kind, to the end of the sentence.
_LASTING = re.compile(
    rf"(?:(?P<teaching>我(?:是|教|带)[^，。！？\n]{{0,40}}(?:{_TAUGHT})|I teach\b)"
    r"|(?P<preference>我(?:更|不)?(?:喜欢|偏好|习惯)|I (?:prefer|like|do not like|don't like|always)\b)"
    r"|(?P<instruction>以后(?:都|每次)?请|请以后|from now on))(?:[^。！？!?\n.]|\.(?!\s|$))*(?P<end>[？?]?)",
    re.IGNORECASE | re.MULTILINE,
)


def title(prompt: Prompt) -> str:
    """The first characters of the question, or of the first round that the prompt shows."""
    source = prompt.rounds[0].question if prompt.rounds else prompt.question
    return " ".join(source.split())[:TITLE_CHARS] or "新会话"


def summary(prompt: Prompt) -> str:
    """The earlier summary with a sentence for each round after it; too long a one loses its oldest sentences."""
    match = _LIMIT.search(prompt.question)
    limit = min(SUMMARY_CHARS, int(match[1])) if match else SUMMARY_CHARS
    told = _SENTENCE.findall(prompt.summary) + [_sentence(one) for one in prompt.rounds]
    told = list(dict.fromkeys(told))
    while len(told) > 1 and sum(map(len, told)) > limit:
        del told[0]
    return "".join(one + " " if one.endswith(".") else one for one in told)[:limit].strip() or "目前还没有可以概括的内容。"


def candidates(prompt: Prompt) -> str:
    """NONE, or a JSON list of facts with their kind: sentences like 我教…, 我喜欢…, 以后请…, word by word."""
    source = "\n".join([one.question for one in prompt.rounds] or [prompt.question])
    found = dict(statements(source))
    if not found:
        return "NONE"
    facts = [
        {"fact": fact, "kind": kind, "confidence": 0.8, "quote": fact, "reason": _REASONS[kind][0 if _CJK.search(fact) else 1]}
        for fact, kind in found.items()
    ]
    return json.dumps(facts, ensure_ascii=False)


def statements(source: str) -> Iterator[tuple[str, str]]:
    """What a teacher says of themselves, and its kind; questions are none."""
    for match in _LASTING.finditer(source):
        if not match["end"]:
            yield match[0].strip(" ，,；;"), next(kind for kind in _REASONS if match[kind])


def headline(answer: str) -> str:
    """The first heading of an answer, else its first line that says something."""
    if match := _HEADING.search(answer):
        return match[1].strip(" *")
    lines = (line.strip(" *>#-|") for line in answer.split("\n"))
    return shortened(next((line for line in lines if line and not line.startswith(LABELS)), ""), QUESTION_CHARS)


def shortened(text: str, chars: int) -> str:
    """The text on one line, its rest after `chars` characters replaced by an ellipsis."""
    flat = " ".join(text.split())
    return flat[:chars] + ("…" if len(flat) > chars else "")


def _sentence(one: Round) -> str:
    question = shortened(_ENDS.sub(" ", one.question), QUESTION_CHARS)  # no sentence ends inside a sentence
    result = _ENDS.sub(" ", headline(one.answer)).strip()
    if FAILED_ROUND in one.answer:
        return f"教师提出「{question}」，该轮没有完成。"
    stopped = "（中途停止）" if CANCELLED_ROUND in one.answer else ""
    sections = [name for name in ("选择题", "填空题", "简答题") if re.search(rf"^#+ .*{name}", one.answer, re.MULTILINE)]
    detail = f"，含{'、'.join(sections)}" if sections else ""
    if not _CJK.search(question):
        return f'The teacher asked "{question}" and got "{result}".'
    return f"教师提出「{question}」，得到「{result}」{detail}{stopped}。"
