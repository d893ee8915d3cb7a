"""What becomes a memory, and how well a memory fits a query: rules and counts in place of models."""

import hashlib
import math
import re
from collections import Counter
from typing import NamedTuple

KINDS = {
    "profile": r"my name is|i live in|我叫|我住在|我在.{1,20}工作",
    "preferences": r"\bi (prefer|like|love|dislike|hate)\b|喜欢|偏好|讨厌|习惯",
    "events": r"\bwe (decided|agreed)\b|决定|推迟|截止",
    "entities": r"\bproject\b.*\b(uses|is|runs)\b|项目",
}
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Found(NamedTuple):
    kind: str
    text: str


def facts(texts: list[str]) -> list[Found]:
    """The sentences that look durable, each once; questions never."""
    found: dict[Found, None] = {}
    for text in texts:
        for sentence in filter(None, map(str.strip, SENTENCE.split(text))):
            if sentence.endswith(("?", "？")):
                continue
            kind = next((kind for kind, words in KINDS.items() if re.search(words, sentence, re.IGNORECASE)), "")
            if kind:
                found[Found(kind, sentence)] = None
    return list(found)


def name_of(sentence: str) -> str:
    """The same sentence is always the same file."""
    words = re.findall(r"[a-z0-9]+", sentence.lower())[1:4]
    return "_".join([*words, hashlib.sha256(sentence.encode()).hexdigest()[:8]])


def vector(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word in re.findall(r"\w+", text.lower()):
        counts[word] += 2
        counts.update(word[at : at + 2] for at in range(len(word) - 1))
    return counts


def fit(query: str, text: str) -> float:
    """(1 + cosine) / 2, as the local index of the real server has it; nothing in common is 0.5."""
    one, other = vector(query), vector(text)
    length = math.sqrt(sum(n * n for n in one.values())) * math.sqrt(sum(n * n for n in other.values()))
    return 0.5 + 0.5 * sum(count * other[key] for key, count in one.items()) / length if length else 0.5
