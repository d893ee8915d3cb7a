"""Features of a text: what two texts are compared by, when one is looked for with the other."""

import re
import unicodedata
from typing import Final

CJK: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# A run of Chinese characters, or a word or number; `c++` and `c#` are words, too.
_RUNS: Final = re.compile(rf"(?P<cjk>[{CJK}]+)|(?:(?![{CJK}])[^\W_])+(?:\+\+|#)?")


def features(text: str) -> list[str]:
    """Words and numbers of `text` without case and width, and the pairs of neighbouring Chinese characters, in order.

    A Chinese character that stands alone is a feature itself.
    """
    found: list[str] = []
    for match in _RUNS.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = match.group()
        if match.lastgroup is None or len(run) == 1:
            found.append(run)
        else:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
    return found
