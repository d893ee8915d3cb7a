"""Bytes of a text to characters: UTF-8, UTF-16 with a mark, GB18030 or Big5, told apart by what they would say."""

import codecs
import re
from functools import cache
from typing import Final

from chat.documents.base import DocumentError
from chat.text.storable import storable

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# A text has next to none of these; a program or a picture has one byte in six.
_CONTROLS_SHARE: Final = 0.02
_FEW_CONTROLS: Final = 3
# So many bytes out of place are a scratch in a text, more are another encoding.
_SCRATCHES_SHARE: Final = 0.05
_SAMPLE: Final = 200_000
# Of the characters that are not ASCII, so many must be frequent ones for the encoding to be believed.
_BELIEVED: Final = 0.5
# Python's names, best first where the score is the same; and the name that we give.
_CHINESE: Final = (("gb18030", "gb18030"), ("cp950", "big5"), ("big5hkscs", "big5"))

_LINE_ENDS: Final = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_INVISIBLE: Final = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x9f\u00ad\ufeff\ufff9-\ufffb\ufffe\uffff]")
_BLANKS_BEFORE_END: Final = re.compile(r"[^\S\n]+$", re.MULTILINE)


def decode(data: bytes) -> tuple[str, str]:
    """The text, clean, and the name of its encoding; raises DocumentError."""
    text, encoding = _decoded(data)
    return clean(text), encoding


def clean(text: str) -> str:
    """`text` with plain line ends and without control characters, soft hyphens and blanks before line ends."""
    text = _INVISIBLE.sub("", _LINE_ENDS.sub("\n", storable(text)))
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _decoded(data: bytes) -> tuple[str, str]:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            # The mark stands for a codec that takes it off; a mark within is taken off by cleaning.
            return data.decode(codec, "replace"), codec.replace("utf-8", "utf-8-sig")
    if len(_CONTROLS.findall(data)) > max(_FEW_CONTROLS, _CONTROLS_SHARE * len(data)):
        raise DocumentError("not_what_it_says")
    text = data.decode("utf-8", "replace")
    if _is_sound(text, data.count("\ufffd".encode())):
        return text, "utf-8"
    scored = [(_score(data, codec), -place) for place, (codec, _) in enumerate(_CHINESE)]
    score, place = max(scored)
    if score < _BELIEVED:
        raise DocumentError("unknown_encoding")
    codec, name = _CHINESE[-place]
    return data.decode(codec, "replace"), name


def _is_sound(text: str, written: int = 0) -> bool:
    """True when next to nothing of what is not ASCII was replaced; `written` replacements stood there before."""
    bad = text.count("\ufffd") - written
    return bad <= _SCRATCHES_SHARE * sum(char > "\x7f" for char in text) if bad else True


def _score(data: bytes, codec: str) -> float:
    """How much of what is not ASCII are frequent characters of `codec`, in [0, 1].

    Read in the wrong one of the two, a Chinese text has half of its characters from the zones for rare ones.
    """
    text = data[:_SAMPLE].decode(codec, "replace")
    foreign = [char for char in text if char > "\x7f"]
    if not foreign or not _is_sound(text):
        return 0.0
    known = frequent(codec)
    return sum(char in known for char in foreign) / len(foreign)


@cache
def frequent(codec: str = "gb18030") -> frozenset[str]:
    """The first plane of hanzi and the punctuation; GB18030 has those of Big5 too, for a traditional text in it."""
    big5 = _decoded_pairs("cp950", [range(0xA1, 0xC7)], [range(0x40, 0x7F), range(0xA1, 0xFF)])
    if codec != "gb18030":
        return big5
    return big5 | _decoded_pairs("gb2312", [range(0xA1, 0xA4), range(0xB0, 0xD8)], [range(0xA1, 0xFF)])


def _decoded_pairs(codec: str, leads: list[range], trails: list[range]) -> frozenset[str]:
    pairs = (bytes((lead, trail)) for some in leads for lead in some for more in trails for trail in more)
    return frozenset("".join(pair.decode(codec, "ignore") for pair in pairs))
