"""Counting tokens: tiktoken's `o200k_base` from ranks on disk, or an estimate by character class (DESIGN §4).

Nothing is ever downloaded here: without the rank file the estimate is used and `is_exact()` is false.
"""

import hashlib
import logging
import os
import re
import threading
from pathlib import Path

import tiktoken

ENCODING = "o200k_base"
# Of tiktoken_ext/openai_public.py: the file's sum, and the SHA-1 of its address, which is its name in the cache folder.
RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
RANKS_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"

log = logging.getLogger(__name__)
_encoding: tiktoken.Encoding | None = None
# The rounds of a conversation are counted again at each message: an answer of 2,600 characters in 0.01 instead of 0.25 ms. Under
# their digests, so that no text stays in memory when it is deleted.
REMEMBERED_CHARS = 150  # and more, as the parts of an answer that is shortened; a short text is counted as quickly as it is looked up
MOST_REMEMBERED = 20_000  # about 3 MB
_counts: dict[bytes, int] = {}
_loading: threading.Thread | None = None

# Tokens per character of a class, DESIGN §4.
_CLASSES = re.compile(
    r"(?P<cjk>[\u2e80-\u2fdf\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
    r"|(?P<emoji>[\u2600-\u27bf\U0001f000-\U0001faff])"
    r"|(?P<latin>[A-Za-z\u00c0-\u024f])"
    r"|(?P<digit>[0-9])"
    r"|(?P<newline>[\r\n])"
    r"|(?P<space>[ \t])"
    r"|(?P<punctuation>[!-/:-@\[-`{-~\u2010-\u2027\u2030-\u205e\u3000-\u3004\uff00-\uffef])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_RATES = {"cjk": 0.8, "emoji": 1.6, "digit": 1 / 3, "newline": 0.5, "punctuation": 0.45, "other": 0.6}
_LATIN_RATE = 1 / 5.2


class _Kinds(dict[int, str]):
    """The class of a code point, by its first letter: a text as classes is counted in a fifth of the time."""

    def __missing__(self, code: int) -> str:
        match = _CLASSES.match(chr(code))
        kind = self[code] = (match.lastgroup if match and match.lastgroup else "other")[0]
        return kind


_KINDS = _Kinds()
_WORD = re.compile("l+")


def estimate_tokens(text: str) -> int:
    """Guesses the tokens of `text` from its character classes; 0 only for the empty text."""
    kinds = text.translate(_KINDS)
    total = sum(kinds.count(kind[0]) * rate for kind, rate in _RATES.items())
    # A Latin word is at least one token, whatever its length.
    total += sum(max(1.0, len(word) * _LATIN_RATE) for word in _WORD.findall(kinds))
    return max(1, round(total)) if text else 0


def load_ranks(folder: Path) -> bool:
    """Loads the encoding from `folder`; false when the file is absent or not the right one. Takes about a second."""
    global _encoding
    path = folder / RANKS_NAME
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != RANKS_SHA256:
        log.warning("No token ranks in %s: token counts are estimates. `make setup` fetches them.", folder)
        return False
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    _encoding = tiktoken.get_encoding(ENCODING)
    return True


def start_loading(folder: Path) -> None:
    """Loads the encoding in a thread, once; until it is there `count_tokens` estimates."""
    global _loading
    if _encoding is None and _loading is None:
        _loading = threading.Thread(target=load_ranks, args=(folder,), name="token-ranks", daemon=True)
        _loading.start()


def is_exact() -> bool:
    return _encoding is not None


def count_tokens(text: str) -> int:
    """Counts the tokens of `text`; an estimate while `is_exact()` is false."""
    if _encoding is None:
        return estimate_tokens(text)
    if len(text) < REMEMBERED_CHARS:
        return len(_encoding.encode_ordinary(text))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    count = _counts.get(digest)
    if count is None:
        count = len(_encoding.encode_ordinary(text))
        if len(_counts) >= MOST_REMEMBERED:
            _counts.clear()
        _counts[digest] = count
    return count
