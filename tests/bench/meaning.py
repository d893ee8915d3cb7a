"""Vectors of a folder of retrieval data from an OpenAI-compatible `/embeddings`, kept in a file so that each text is asked for once."""

import hashlib
import json
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MODEL: Final = "e5"
AT_ONCE: Final = 16
KEY_BYTES: Final = 16
# Of a pair of turns is embedded what recall keeps of it: the words of the user and the head of the answer.
ASKED_CHARS: Final = 600
ANSWERED_CHARS: Final = 250
ANSWER: Final = "\n\nAssistant: "
WHOLE_CHARS: Final = 900


class Meanings:
    """The vectors of texts, each of length one."""

    def __init__(self, url: str, cache: Path) -> None:
        self.url, self.cache = url.rstrip("/") + "/embeddings", cache
        self.known: dict[bytes, NDArray[np.float32]] = {}
        if cache.exists():
            kept = np.load(cache)
            self.known = {key.tobytes(): vector for key, vector in zip(kept["keys"], kept["vectors"], strict=True)}
        self.unsaved = 0

    def of(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        """A row for each text; `kind` is "query" for what is looked for, "passage" for what is kept."""
        keys = [hashlib.blake2b(f"{kind}\0{text}".encode(), digest_size=KEY_BYTES).digest() for text in texts]
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}.items())
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            for (key, _), vector in zip(some, self._asked([text for _, text in some], kind), strict=True):
                self.known[key] = vector
            self.unsaved += len(some)
            if self.unsaved >= 100 * AT_ONCE:
                self.save()
        return np.stack([self.known[key] for key in keys])

    def _asked(self, texts: list[str], kind: str) -> Iterator[NDArray[np.float32]]:
        body = json.dumps({"model": MODEL, "input": texts, "input_type": kind}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            for one in json.load(answer)["data"]:
                vector = np.array(one["embedding"], np.float32)
                yield vector / np.linalg.norm(vector)

    def save(self) -> None:
        if self.unsaved:
            keys = np.frombuffer(b"".join(self.known), np.uint8).reshape(-1, KEY_BYTES)
            self.cache.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self.cache, keys=keys, vectors=np.stack(list(self.known.values())))
            self.unsaved = 0


def pieces(doc: dict[str, Any]) -> list[str]:
    """What is embedded of a record: each of its pairs of turns in short, or the whole of it."""
    text, starts = doc["text"], doc.get("parts")
    if not starts:
        return [text]
    return [_short(text[start:end]) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _short(turns: str) -> str:
    place = turns.find(ANSWER)
    return turns[:place][:ASKED_CHARS] + turns[place : place + ANSWERED_CHARS] if place >= 0 else turns.strip()[:WHOLE_CHARS]
