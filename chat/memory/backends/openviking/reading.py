"""What is remembered, made fit to be read: only what is the user's own, each thing once, a line an item (seed 002 §8)."""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from chat.memory.backends.base import MemoryContext, MemoryItem, Meter
from chat.memory.backends.openviking import events
from chat.memory.backends.openviking.client import OpenVikingClient
from chat.memory.backends.openviking.models import PERSONA, Hit, category_of, day_of, hit_of, is_below, is_memory_file, uri_of
from chat.memory.backends.openviking.scope import Identity

SEARCH_MOST: Final = 100
READ_AT_ONCE: Final = 8

_HEADING: Final = re.compile(r"#{1,6}\s")
_LOG_OF_CHAT: Final = re.compile(r"^#.*ChatLog:?\s*$", re.MULTILINE)  # an event holds the conversation that it comes from
_FIELDS: Final = re.compile(r"<!-- MEMORY_FIELDS.*?(?:-->|\Z)", re.DOTALL)
_BULLET: Final = re.compile(r"[-*]\s+")


async def find(client: OpenVikingClient, identity: Identity, query: str, *, limit: int, category: str = "") -> list[MemoryItem]:
    """What fits a query that is not blank, best first."""
    told = await client.find(identity, query, limit=min(limit, SEARCH_MOST), category=category)
    hits = own_hits(told, identity, client.meter)
    if category:
        hits = [hit for hit in hits if hit.category == category]
    items = folded(item_of(hit) for hit in sorted(hits, key=lambda hit: -hit.score))[:limit]
    client.meter.observe("openviking_search_results", len(items), operation="find")
    return items


async def list_all(client: OpenVikingClient, identity: Identity, *, limit: int, category: str = "") -> list[MemoryItem]:
    """What there is, in the order of the server; not more than `limit`, of which at most a hundred."""
    told = await client.list_memories(identity)
    own = [uri for uri in told if is_below(uri, identity.memories)]
    _note_foreign(client.meter, len(told) - len(own))
    uris = [uri for uri in own if is_memory_file(uri) and category in ("", category_of(uri))][: min(limit, SEARCH_MOST)]
    texts: list[str] = []
    for start in range(0, len(uris), READ_AT_ONCE):
        reads = (client.read_memory(identity, uri) for uri in uris[start : start + READ_AT_ONCE])
        for text in await asyncio.gather(*reads, return_exceptions=True):
            if isinstance(text, BaseException):
                raise text
            texts.append(text)
    hits = [Hit(uri, 0.0, text, category_of(uri)) for uri, text in zip(uris, texts, strict=True) if text.strip()]
    items = folded(item_of(hit) for hit in hits)
    client.meter.observe("openviking_search_results", len(items), operation="list")
    return items


def own_hits(told: list[object], identity: Identity, meter: Meter) -> list[Hit]:
    """The hits that are memories of the user's own. A server that gives others' has no filter between people: an incident."""
    own = [one for one in told if is_below(uri_of(one), identity.memories)]
    _note_foreign(meter, sum(1 for one in told if uri_of(one)) - len(own))
    hits = [hit for one in own if (hit := hit_of(one))]
    return [hit for hit in hits if hit.category not in PERSONA and is_memory_file(hit.uri)]


def item_of(hit: Hit) -> MemoryItem:
    return MemoryItem(
        id=hit.uri, content=readable(hit.text), category=hit.category, score=hit.score, source=hit.uri, said_on=day_of(hit.uri)
    )


def readable(text: str) -> str:
    """A memory in one line, without the headings, the marks of lists and the log of the chat that the server puts around it."""
    text = _FIELDS.sub("", text)
    if (log := _LOG_OF_CHAT.search(text)) and text[: log.start()].strip():
        text = text[: log.start()]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [line for line in lines if not _HEADING.match(line)] or lines
    return " ".join(" ".join(_BULLET.sub("", line, count=1) if _BULLET.match(line) else line for line in said).split())


def folded(items: Iterable[MemoryItem]) -> list[MemoryItem]:
    """Each address and each text once, the first of them; nothing without a text."""
    found: list[MemoryItem] = []
    seen: set[str] = set()
    for item in items:
        text = item.content.casefold()
        if text and item.id not in seen and text not in seen:
            found.append(item)
        seen |= {item.id, text}
    return found


def packed(items: list[MemoryItem], *, chars: int, item_chars: int) -> MemoryContext:
    """As many items as fit, best first, each cut to its own limit."""
    kept: list[MemoryItem] = []
    for item in items:
        content = item.content if len(item.content) <= item_chars else f"{item.content[: item_chars - 1].rstrip()}…"
        one = replace(item, content=content)
        if len(MemoryContext((*kept, one)).text) <= chars:
            kept.append(one)
    return MemoryContext(tuple(kept))


def _note_foreign(meter: Meter, count: int) -> None:
    if count > 0:
        events.degraded(meter, "foreign_hit", is_incident=True, result_count=count)
