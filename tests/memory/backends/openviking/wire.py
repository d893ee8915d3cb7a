"""What the tests of the backend share: recorded answers, a scripted wire, a whole server without sockets, and what is handed in."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from chat.memory.backends.base import MemoryMessage, MemoryScope, Services, Watermark, WatermarkMoved
from chat.memory.backends.openviking.client import OpenVikingClient
from chat.memory.backends.openviking.config import Configuration
from chat.memory.backends.openviking.manager import OpenVikingManager
from chat.memory.backends.openviking.scope import identity_of, session_of
from tests.openviking_server.contract import Contract, Request
from tests.openviking_server.state import State

RECORDED = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
KEY = "k3y-that-nobody-may-see"
# Whom the answers were recorded for.
SCOPE = MemoryScope("tn_1", "us_1", "ag_1")
IDENTITY = identity_of("recorded", SCOPE)
SESSION = session_of("recorded", SCOPE, "th_1")
SETTINGS = {"base_url": "http://localhost:1933", "account": "recorded", "api_key_env": "OPENVIKING_API_KEY"}
QUICK = {"retry": {"attempts": 3, "base_seconds": 0.001, "max_seconds": 0.002}}

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def configured(**more: Any) -> Configuration:
    return Configuration.of({**SETTINGS, **QUICK, **more}, {"OPENVIKING_API_KEY": KEY}.get)


def recorded(name: str, **result: Any) -> httpx.Response:
    """An answer as it was recorded; `result` changes fields of its result."""
    told = json.loads(json.dumps(RECORDED[name]))
    if result:
        told["body"]["result"].update(result)
    return httpx.Response(told["status"], json=told["body"], headers={"x-request-id": "req-1"})


def good(result: Any) -> httpx.Response:
    return httpx.Response(200, json={"status": "ok", "result": result})


class Pieces(httpx.AsyncByteStream):
    """A body that comes in pieces, perhaps without an end, and remembers how many were read."""

    def __init__(self, pieces: Iterable[bytes], pause_seconds: float = 0) -> None:
        self.pieces, self.pause_seconds, self.read = pieces, pause_seconds, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            await asyncio.sleep(self.pause_seconds)
            yield piece


class Wire:
    """Gives the answers in turn, the last one again and again; /health as a sound server does unless `health` says otherwise."""

    def __init__(self, *answers: Answer, health: Answer | None = None) -> None:
        self.answers, self.health = list(answers), health
        self.all: list[httpx.Request] = []
        self.transport = httpx.MockTransport(self.handle)

    @property
    def requests(self) -> list[httpx.Request]:
        return [request for request in self.all if not request.url.path.endswith("/health")]

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.all.append(request)
        if request.url.path.endswith("/health"):
            answer = self.health or sound_health(request)
        else:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        # A copy, as an answer that was read once is empty the second time.
        return (
            answer
            if isinstance(answer.stream, Pieces)
            else httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)
        )

    def client(self, meter: "Counts | None" = None, **settings: Any) -> OpenVikingClient:
        return OpenVikingClient(configured(**settings), meter or Counts(), self.transport)


def sound_health(request: httpx.Request) -> httpx.Response:
    names = {"account_id": request.headers["x-openviking-account"], "user_id": request.headers["x-openviking-user"]}
    return httpx.Response(200, json={**RECORDED["health"]["body"], **names})


class Counts:
    """A meter that can be asked."""

    def __init__(self) -> None:
        self.counted: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
        self.observed: list[tuple[str, dict[str, str]]] = []

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        self.counted[name, tuple(sorted(labels.items()))] += amount

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        self.observed.append((name, labels))

    def of(self, name: str, **labels: str) -> float:
        return self.counted[name, tuple(sorted(labels.items()))]


class Marks:
    """Watermarks in memory, written over the version that was read only, as those of the database are."""

    def __init__(self) -> None:
        self.kept: dict[tuple[MemoryScope, str], Watermark] = {}

    async def load(self, scope: MemoryScope, thread_id: str) -> Watermark:
        await asyncio.sleep(0)
        return self.kept.get((scope, thread_id), Watermark())

    async def save(self, scope: MemoryScope, thread_id: str, mark: Watermark) -> Watermark:
        await asyncio.sleep(0)
        if self.kept.get((scope, thread_id), Watermark()).version != mark.version:
            raise WatermarkMoved
        self.kept[scope, thread_id] = replace(mark, version=mark.version + 1)
        return self.kept[scope, thread_id]

    def mark(self, thread_id: str = "th_1", scope: MemoryScope = SCOPE) -> Watermark:
        return self.kept.get((scope, thread_id), Watermark())


class World:
    """A whole server of the recorded contract without sockets, and managers, which are processes, that share what is kept here."""

    def __init__(self, *, auth_mode: str = "trusted", extraction_seconds: float = 0.0) -> None:
        self.state = State(extraction_seconds=extraction_seconds)
        self.contract = Contract(self.state, key=KEY, auth_mode=auth_mode)
        self.marks, self.counts = Marks(), Counts()
        self.seen: list[httpx.Request] = []
        self.before: Callable[[httpx.Request], Exception | httpx.Response | None] = lambda request: None
        self.after: Callable[[httpx.Request], Exception | httpx.Response | None] = lambda request: None

    def manager(self, *, redact: Callable[[str], str] = str, **settings: Any) -> OpenVikingManager:
        services = Services(self.marks, redact, self.counts, {"OPENVIKING_API_KEY": KEY}.get)
        return OpenVikingManager(configured(**settings), services, httpx.MockTransport(self.handle))

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        await asyncio.sleep(0)
        instead = self.before(request)
        if instead is None:
            asked = Request(request.method, str(request.url.raw_path, "ascii"), dict(request.headers), request.content)
            status, body = self.contract.answer(asked)
            instead = self.after(request) or httpx.Response(status, json=body)
        if isinstance(instead, Exception):
            raise instead
        return instead

    def paths(self, method: str = "") -> list[str]:
        return [request.url.path for request in self.seen if method in ("", request.method) and request.url.path != "/health"]

    def bodies(self, ending: str) -> list[Mapping[str, Any]]:
        return [json.loads(request.content) for request in self.seen if request.url.path.endswith(ending)]


def once(found: Exception | httpx.Response, where: str) -> Callable[[httpx.Request], Exception | httpx.Response | None]:
    """For `before` and `after`: the first request whose method and path fit ends so."""
    left = [found]
    return lambda request: left.pop() if left and re.search(where, f"{request.method} {request.url.path}") else None


def said(*texts: str, start: int = 1) -> list[MemoryMessage]:
    """Messages in turn of a person and the assistant, `m1`, `m2`, …"""
    roles = ("user", "assistant")
    return [MemoryMessage(f"m{start + at}", roles[at % 2], text) for at, text in enumerate(texts)]
