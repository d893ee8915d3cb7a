"""What the server keeps. Each change is a line of a file before it is answered, so that a killed server knows it again."""

import json
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tests.openviking_server import extract

GARBAGE = "[[stub:garbage]]"  # in a message: the models answer nonsense, so the extraction fails
UNPARSED = "Final response could not be parsed as operations after 4 iterations (failure_kind=parse_error)"


class Who(NamedTuple):
    account: str
    user: str


@dataclass
class Session:
    id: str
    created_at: float
    updated_at: float
    live: list[dict[str, Any]] = field(default_factory=list)
    archives: list[list[dict[str, Any]]] = field(default_factory=list)
    last_message_at: float = 0.0
    last_commit_at: float = 0.0

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All that ever arrived, in order."""
        return [message for archive in self.archives for message in archive] + self.live


@dataclass
class Task:
    id: str
    session_id: str
    archive_uri: str
    created_at: float
    ready_at: float
    error: str | None
    written: int
    is_cancelled: bool = False

    @property
    def status(self) -> str:
        now = time.time()
        if self.is_cancelled:
            return "cancelled"
        if now < self.ready_at:
            return "running" if now > self.created_at + 0.5 else "pending"
        return "failed" if self.error else "completed"


@dataclass
class Memory:
    kind: str
    text: str
    visible_at: float
    task_id: str


class State:
    """`messages`, `memories`, `sessions`, `tasks` and `users` say what everybody has; the rest changes it."""

    def __init__(self, path: Path | None = None, extraction_seconds: float = 0.0) -> None:
        self.path, self.extraction_seconds = path, extraction_seconds
        self._sessions: dict[Who, dict[str, Session]] = {}
        self._tasks: dict[Who, dict[str, Task]] = {}
        self._memories: dict[Who, dict[str, Memory]] = {}
        self._lock = threading.RLock()
        if path and path.exists():
            whole, _, _ = path.read_bytes().rpartition(b"\n")  # a last line without its end was never answered
            path.write_bytes(whole + b"\n" if whole else b"")
            for line in whole.splitlines():
                self._apply(*json.loads(line))

    # What everybody has. Users are the names that came in the header.

    def users(self) -> list[str]:
        """Everybody of whom anything is kept."""
        with self._lock:
            kept = [who for table in (self._sessions, self._memories) for who, rows in table.items() if rows]
            return sorted({who.user for who in kept})

    def sessions(self, user: str = "") -> list[str]:
        with self._lock:
            return [one for who, rows in self._sessions.items() if user in ("", who.user) for one in rows]

    def messages(self, session: str = "", user: str = "") -> list[str]:
        """The texts that arrived, in order, of all sessions or one."""
        with self._lock:
            of = [one for who, rows in self._sessions.items() if user in ("", who.user) for one in rows.values()]
            return [_text(message) for one in of if session in ("", one.id) for message in one.messages]

    def live(self, session: str = "") -> list[str]:
        """The texts that no commit has taken yet."""
        with self._lock:
            of = [one for rows in self._sessions.values() for one in rows.values()]
            return [_text(message) for one in of if session in ("", one.id) for message in one.live]

    def memories(self, user: str = "") -> list[str]:
        """The texts that a search can find."""
        now = time.time()
        with self._lock:
            of = [rows for who, rows in self._memories.items() if user in ("", who.user)]
            return [one.text for rows in of for one in rows.values() if one.visible_at <= now]

    def tasks(self) -> list[str]:
        """How each task stands, oldest first."""
        with self._lock:
            return [task.status for rows in self._tasks.values() for task in rows.values()]

    # What the endpoints read.

    def session(self, who: Who, session_id: str) -> Session | None:
        return self._sessions.get(who, {}).get(session_id)

    def of(self, who: Who) -> list[Session]:
        return list(self._sessions.get(who, {}).values())

    def task(self, who: Who, task_id: str) -> Task | None:
        return self._tasks.get(who, {}).get(task_id)

    def tasks_of(self, who: Who) -> list[Task]:
        """Newest first."""
        return list(reversed(self._tasks.get(who, {}).values()))

    def found(self, who: Who | None) -> dict[str, Memory]:
        """What can be found, by URI; of everybody for None."""
        now = time.time()
        with self._lock:
            all_of = {uri: one for key, rows in self._memories.items() if who in (None, key) for uri, one in rows.items()}
        return {uri: one for uri, one in all_of.items() if one.visible_at <= now}

    def remembered(self, who: Who, session_id: str) -> int:
        """How much was made of a session."""
        of = self._tasks.get(who, {}).values()
        return sum(task.written for task in of if task.session_id == session_id and task.status == "completed")

    # What changes it.

    def ensure(self, who: Who, session_id: str) -> Session:
        with self._lock:
            if not self.session(who, session_id):
                self._do("open", who, session_id=session_id, at=time.time())
            return self._sessions[who][session_id]

    def add(self, who: Who, session_id: str, messages: list[dict[str, Any]]) -> Session:
        with self._lock:
            session = self.ensure(who, session_id)
            if messages:
                self._do("add", who, session_id=session_id, messages=messages, at=time.time())
            return session

    def commit(self, who: Who, session_id: str, *, fails: bool = False) -> Task:
        with self._lock:
            now, texts = time.time(), [_text(one) for one in self._sessions[who][session_id].live]
            error = UNPARSED if fails or any(GARBAGE in text for text in texts) else None
            task_id = str(uuid.uuid4())
            self._do("commit", who, session_id=session_id, task_id=task_id, at=now, ready_at=now + self.extraction_seconds, error=error)
            return self._tasks[who][task_id]

    def cancel(self, who: Who, task_id: str) -> None:
        self._do("cancel", who, task_id=task_id)

    def drop_session(self, who: Who, session_id: str) -> None:
        self._do("drop_session", who, session_id=session_id)

    def drop_memories(self, who: Who, uri: str) -> int:
        """Deletes what lies at and below the URI. What a task under way makes later comes afterwards, as at the real server."""
        with self._lock:
            before = len(self.found(who))
            self._do("drop_memories", who, uri=uri, at=time.time())
            return before - len(self.found(who))

    def _do(self, kind: str, who: Who, **values: Any) -> None:
        with self._lock:
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps([kind, who, values]) + "\n")
            self._apply(kind, who, values)

    def _apply(self, kind: str, who: Who | list[str], values: dict[str, Any]) -> None:
        getattr(self, f"_{kind}")(Who(*who), **values)

    def _open(self, who: Who, session_id: str, at: float) -> None:
        self._sessions.setdefault(who, {})[session_id] = Session(session_id, at, at)

    def _add(self, who: Who, session_id: str, messages: list[dict[str, Any]], at: float) -> None:
        session = self._sessions[who][session_id]
        session.live += messages
        session.updated_at = session.last_message_at = at

    def _commit(self, who: Who, session_id: str, task_id: str, at: float, ready_at: float, error: str | None) -> None:
        session = self._sessions[who][session_id]
        archive, session.live = session.live, []
        session.archives.append(archive)
        session.updated_at = session.last_commit_at = at
        uri = f"viking://user/{who.user}/sessions/{session_id}/history/archive_{len(session.archives):03}"
        found = [] if error else extract.facts([_text(one) for one in archive if one["role"] == "user"])
        self._tasks.setdefault(who, {})[task_id] = Task(task_id, session_id, uri, at, ready_at, error, len(found))
        rows = self._memories.setdefault(who, {})
        for kind, text in found:
            self._remember(rows, who.user, Memory(kind, text, ready_at, task_id))

    def _remember(self, rows: dict[str, Memory], user: str, made: Memory) -> None:
        base, name = f"viking://user/{user}/memories", extract.name_of(made.text)
        day = datetime.fromtimestamp(made.visible_at, UTC)
        if made.kind == "profile":
            uri = f"{base}/profile.md"
            before = rows[uri].text if uri in rows else "# User"
            made.text = before if made.text in before else f"{before}\n- {made.text}"
        elif made.kind == "events":
            uri = f"{base}/events/{day:%Y/%m/%d}/{name}.md"
            made.text = f"# Summary\n{made.text}\n# {day:%Y-%m-%d (%A)} ChatLog:\n**user**: {made.text}"
        else:
            uri = f"{base}/{made.kind}/{'user' if made.kind == 'preferences' else 'project'}/{name}.md"
            made.text = f"- {made.text}"
        rows[uri] = made

    def _cancel(self, who: Who, task_id: str) -> None:
        self._tasks[who][task_id].is_cancelled = True  # what it has found is written all the same, as seen at the real server

    def _drop_session(self, who: Who, session_id: str) -> None:
        self._sessions.get(who, {}).pop(session_id, None)

    def _drop_memories(self, who: Who, uri: str, at: float) -> None:
        rows = self._memories.get(who, {})
        below = f"{uri.rstrip('/')}/"
        for one in [one for one, memory in rows.items() if memory.visible_at <= at and (one == uri or one.startswith(below))]:
            del rows[one]


def _text(message: dict[str, Any]) -> str:
    return message["content"] if message.get("content") is not None else "".join(part.get("text", "") for part in message["parts"])
