"""Whether what is to be noted, or put in a note's place, comes out of the message that asked for it (DESIGN §5 Notes).

"记住：…" carries the text itself, so what a model writes on the strength of it must be about that: most of what it says stands in
the message. "把刚才说的记下来" only points at what was said elsewhere, and says nothing of the wording. Languages are not compared:
a note in another language than the ask waits for the teacher, which is one click.
"""

import re
from typing import Final

from chat.memory.notes.intent import KEEP, own_words
from chat.text.fold import fold

SHARE_LEAST: Final = 0.4  # of what a note says (tests/memory/notes/overlap_pairs.py: faithful notes have 0.5 and more, others 0.33 at most)
POINTING_MOST: Final = 4  # characters that may stand beside "this", and it still means what was said before

_COLON: Final = re.compile(r"[：:]\s*(?=\S)")
_QUOTE: Final = re.compile(r"[「『“\"](?=[^」』”\"]{2})")
# What is to stand there instead follows.
_INSTEAD: Final = re.compile(
    r"(?:改|换|更新|更正|修改|修正|替换|调整|纠正)(?:成|为|到|作|做)"
    r"|\b(?:update|change|replace|correct|amend|edit)\b[^\n]{1,80}?\b(?:to|with|into|as|by)\b|[：:](?=\s*\S)",
    re.IGNORECASE,
)
# What was said elsewhere, whatever else stands there; and words that may mean it.
_ELSEWHERE: Final = re.compile(
    r"刚才|刚刚|方才|刚(?:说|讲|提|发|定)|上面|以上|上述|前面|先前|之前|上次|上回|上一[条段轮]|你(?:刚|说|讲|提|写|给|列|总结|回答)"
    r"|\b(?:above|earlier|before|just (?:now|said|told|agreed|discussed|mentioned|wrote)|previous(?:ly)?|last time"
    r"|your (?:last |previous )?(?:answer|reply|summary|suggestion)|you (?:just )?(?:said|wrote|suggested|listed)"
    r"|we (?:agreed|discussed|decided))\b",
    re.IGNORECASE,
)
_THIS: Final = re.compile(
    r"[这那此它]|\b(?:this|these|those|it|them)\b|\bthat\b(?=\s*(?:[.,;!?]|$|down\b|too\b|as well\b|for (?:me|later|next)\b|please\b"
    r"|(?:in|to|into) (?:your |my |the )?(?:notes?|memory|profile)\b))",
    re.IGNORECASE,
)
# What an ask consists of, and what a note says of anything: neither tells what it is about.
_ASK: Final = re.compile(
    rf"{KEEP}|(?:写|存|保存|加|添加|新增|补充|放|录)(?:一条|一下|[到进入在])*(?:你的?|我的?|长期)*(?:笔记|记忆|画像|备忘)(?:里|中)?"
    r"|(?:记得|记在|记到|记进)|\b(?:remember|memori[sz]e|keep in mind|bear in mind|make a note|take note|note|write|down|save|store|add|put"
    r"|don't forget|do not forget)\b",
    re.IGNORECASE,
)
_EMPTY_HAN: Final = re.compile(
    r"用户|称呼|叫|老师|教师|本人|助手|偏好|喜欢|习惯|要求|希望|以后|今后|往后|从现在(?:起|开始)|每次|总是|一律|统一|回答|时候|需要|应该|使用|采用"
    r"|请|帮|麻烦|一下|下来|我们?|你们?|您|他|她|的|了|是|在|把|将|给|都|也|要|会|能|可以|时|用|和|与|及|为|对|中|里|就|点|条|个|些|段|句|件|份|样"
    r"|笔记|记忆|要点|内容|信息|说法|说|话"
)
_EMPTY_LATIN: Final = frozenset(
    re.findall(
        r"\w+",
        "the a an of to in on at for and or is are be as by with from that this it its i me my mine you your he she they we our user users "
        "teacher teachers prefer prefers preference like likes want wants always should must will would please answer answers use uses "
        "using when every all now going forward so also just not do does don t s notes note memory remember keep",
    )
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]+")
_WORD: Final = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_STEM_CHARS: Final = 5  # "teach", "teaches", "teaching" are one


def is_covered(input: str, content: str) -> bool:
    """Whether a note may follow from the message's own words, which have asked for one: it only points, or carries what is noted."""
    own = own_words(input)
    return _only_points(own) or _share(content, own) >= SHARE_LEAST


def is_change_covered(input: str, entry: str, content: str) -> bool:
    """Whether a note in place of `entry` may follow from the message: "把 A 改成 B" lets B come in, and what stood there stay."""
    own = own_words(input)
    found = _INSTEAD.search(own)
    if not found or _ELSEWHERE.search(own[found.end() :]) or not _features(_THIS.sub(" ", own[found.end() :])):
        return True  # it says which note, and nothing of its wording
    kept = set(_features(entry))
    return _share_of([one for one in _features(content) if one not in kept], own) >= SHARE_LEAST


def _only_points(own: str) -> bool:
    """Whether the message says nothing of what is to be noted but where it was said."""
    carried = own[found.end() :] if (found := _COLON.search(own)) else own
    if _ELSEWHERE.search(carried):
        return True
    rest = "".join(_features(_THIS.sub(" ", carried)))
    if _THIS.search(carried) and not _QUOTE.search(carried):
        return len(rest) <= POINTING_MOST
    return not rest


def _share(content: str, own: str) -> float:
    """How much of what a note says stands in the message; 1.0 of one that says nothing."""
    return _share_of(_features(content), own)


def _share_of(said: list[str], own: str) -> float:
    known = set(_features(own))
    if not said:
        return 1.0
    return sum(_weight(one) for one in said if one in known) / sum(map(_weight, said))


def _weight(feature: str) -> int:
    """A word of Chinese has two characters."""
    return 1 if _HAN.fullmatch(feature) else 2


def _features(text: str) -> list[str]:
    """The characters and beginnings of words that tell what a text is about, in order."""
    plain = _ASK.sub(" ", fold(text))
    han = [char for run in _HAN.findall(_EMPTY_HAN.sub(" ", plain)) for char in run]
    return han + [word[:_STEM_CHARS] for word in _WORD.findall(plain) if word not in _EMPTY_LATIN]
