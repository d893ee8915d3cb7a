"""Records of what the filter stopped or took out: enough to see which rule it was, too little to know what it said.

A record shows the sentence around the place with everything masked but punctuation and the label words below, so that
neither the place, nor a digit, nor a person can be read. Of an incognito thread no record is kept.
"""

import re
from collections import Counter
from collections.abc import Iterable

from chat.models import Owner, RedlineRecord
from chat.text.redlines import Hit, find, redact

EXCERPT_CHARS = 200
SOURCE_CHARS = 40
MASK = "███"  # of one length, for the length of a name or a number says something too

# What the number or the word in question is called; nobody can be told by these.
_LABELS = re.compile(
    r"身份证号码?|身份证|证件号码?|护照号码?|护照|准考证号?|学籍号|通行证号?|银行卡号?|工资卡号?|卡号|账号|账户|手机号?|电话|座机|微信号?|QQ|邮箱|"
    r"家庭住址|住址|地址|成绩|分数|排名|名次|健康|家庭|号码|"
    r"\b(?:ID|number|passport|card|account|phone|mobile|e-?mail|WeChat|address|score|mark|grade|rank)\b",
    re.IGNORECASE,
)
_PUNCTUATION = re.compile(r"[，,。！？!?;；：:、（）()\s]+")
_SENTENCE_END = re.compile(r"[。！？!?;；\n]|\.(?=\s|\Z)")


def redact_and_record(owner: Owner, layer: str, text: str, source_id: str) -> str:
    """`text` with its placeholders; for each kind of place that was taken out one record is kept."""
    hits = find(text)
    if not hits:
        return text
    record(owner, layer, text, hits, source_id=source_id)
    return redact(text)


def record(owner: Owner, layer: str, text: str, hits: list[Hit], *, source_id: str = "") -> None:
    """Keeps one record for each kind and rule among `hits` of `text`; the same of one source is kept once."""
    record_all(owner, layer, [(text, hits)], source_id=source_id)


def record_all(owner: Owner, layer: str, stopped: Iterable[tuple[str, list[Hit]]], *, source_id: str = "", is_again: bool = False) -> None:
    """As `record`, for texts of one source; two that look the same once masked are two records.

    `is_again`: this happened once more, as when a person tries again; else the same source was only looked at again.
    """
    wanted: Counter[tuple[str, str, str]] = Counter()
    for text, hits in stopped:
        first = {(hit.kind, hit.rule): hit for hit in reversed(hits)}
        wanted.update((kind, rule[:60], masked_excerpt(text, hit, hits)) for (kind, rule), hit in first.items())
    same = {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "layer": layer, "source_id": source_id[:SOURCE_CHARS]}
    for (kind, rule, excerpt), count in wanted.items():
        values = same | {"kind": kind, "rule": rule, "excerpt": excerpt}
        missing = count if is_again else count - RedlineRecord.objects.filter(**values).count()
        RedlineRecord.objects.bulk_create([RedlineRecord(**values) for _ in range(missing)])


def masked_excerpt(text: str, hit: Hit, hits: list[Hit]) -> str:
    """The sentence around `hit`, masked; at most EXCERPT_CHARS long."""
    start = max((match.end() for match in _SENTENCE_END.finditer(text, 0, hit.start)), default=0)
    following = _SENTENCE_END.search(text, hit.end)
    end = following.end() if following else len(text)
    covered = [(one.start, one.end) for one in hits]
    pieces: list[str] = []
    at = start
    for match in sorted([*_LABELS.finditer(text, start, end), *_PUNCTUATION.finditer(text, start, end)], key=lambda found: found.start()):
        if match.start() < at or any(match.start() < last and first < match.end() for first, last in covered):
            continue
        if match.start() > at:
            pieces.append(MASK)
        pieces.append(match.group())
        at = match.end()
    if at < end:
        pieces.append(MASK)
    return "".join(pieces).strip()[:EXCERPT_CHARS]
