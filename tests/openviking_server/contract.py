"""Endpoints, envelope and errors of OpenViking 0.5.2, as recorded. Knows no sockets: `answer(Request)` gives status and body."""

import json
import re
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.openviking_server import extract
from tests.openviking_server.bodies import Refused, denied, invalid, missing, pending, session_body, shown_time, task_body
from tests.openviking_server.state import Memory, Session, State, Who

VERSION = "0.5.2"
MOST_MESSAGES = 100
LISTED_LEVELS = 3
LONGEST_TEXT = 4_194_304
FIND_FIELDS = {"query", "target_uri", "context_type", "level", "limit", "node_limit", "score_threshold", "tags", "read_content"} | {
    "filter",
    "include_provenance",
}
NULLS = {"error": None, "telemetry": None, "profile": None}
MARKED = re.compile(r"\[\[stub:(error|sleep)=([0-9.]+)\]\]")


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __post_init__(self) -> None:
        parts = urlsplit(self.target)
        self.path = parts.path
        self.query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.headers = {name.lower(): value for name, value in self.headers.items()}

    def json(self, *, is_needed: bool = True) -> dict[str, Any]:
        if not self.body and not is_needed:
            return {}
        if not self.body:
            raise invalid("body", "Field required", "missing")
        if "json" not in self.headers.get("content-type", ""):
            raise invalid("body", "Input should be a valid dictionary or object to extract fields from", "model_attributes_type")
        try:
            told = json.loads(self.body)
        except ValueError:
            raise invalid("body.1", "JSON decode error", "json_invalid") from None
        if not isinstance(told, dict):
            raise invalid("body", "Input should be a valid dictionary or object to extract fields from", "model_attributes_type")
        return told


class Contract:
    def __init__(self, state: State, *, key: str, auth_mode: str = "trusted", extraction_fails: bool = False) -> None:
        self.state, self.key, self.auth_mode, self.extraction_fails = state, key, auth_mode, extraction_fails

    def answer(self, request: Request) -> tuple[int, dict[str, Any]]:
        try:
            if request.path == "/health":
                return 200, self.health(request)
            if request.path == "/ready":
                return 200, {"status": "ready", "checks": {"vectordb": "ok", "api_key_manager": "ok", "embedding": "ok"}}
            verb, arguments = self.route(request)
            found = verb(self, self.who(request), request, *arguments)
            more = {} if verb in (Contract.find, Contract.commit) else NULLS
            more = more | {"has_more": False} if verb in (Contract.list_folder, Contract.list_tree) else more
            return 200, {"status": "ok", "result": found} | more
        except Refused as refused:
            return refused.status, refused.body

    def route(self, request: Request) -> tuple[Any, list[str]]:
        allowed = False
        for method, pattern, verb in ROUTES:
            if match := re.fullmatch(pattern, request.path):
                if method == request.method:
                    return verb, [unquote(part) for part in match.groups()]
                allowed = True
        if allowed:
            raise Refused(405, "UNKNOWN", "Method Not Allowed", is_bare=True)
        raise Refused(404, "NOT_FOUND", "Not Found", is_bare=True)

    # Who asks.

    def health(self, request: Request) -> dict[str, Any]:
        if request.method != "GET":
            raise Refused(405, "UNKNOWN", "Method Not Allowed", is_bare=True)
        told = {"status": "ok", "healthy": True, "version": VERSION, "auth_mode": self.auth_mode}
        if self.auth_mode == "trusted":
            told["root_api_key_required"] = True
            key = request.headers.get("x-api-key")
            if key in (None, self.key) and "x-openviking-user" not in request.headers:
                return told
        who = self.who(request)
        return told | {"account_id": who.account, "user_id": who.user, "role": "user" if self.auth_mode == "trusted" else "root"}

    def who(self, request: Request) -> Who:
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.auth_mode == "dev":
            return Who(request.headers.get("x-openviking-account", "default"), request.headers.get("x-openviking-user", "default"))
        if not key:
            raise Refused(401, "UNAUTHENTICATED", "Missing API Key in trusted mode.")
        if key != self.key:
            raise Refused(401, "UNAUTHENTICATED", "Invalid API Key in trusted mode.")
        if self.auth_mode == "api_key":
            return Who("default", "owner")  # whatever the headers say
        account, user = (request.headers.get(f"x-openviking-{name}", "").strip() for name in ("account", "user"))
        for name, value in (("account", account), ("user", user)):
            if not value:
                text = f"Trusted mode requests must include X-OpenViking-{name.title()} or explicit {name}_id in the URL."
                raise Refused(400, "INVALID_ARGUMENT", text)
            if not re.fullmatch(r"[A-Za-z0-9_.-]+(@[A-Za-z0-9_.-]+)?", value) or value in (".", "..") or len(value) > 255:
                raise Refused(400, "INVALID_ARGUMENT", f"{name}_id must be alpha_numeric string.")
        if account.startswith("_"):
            raise Refused(400, "INVALID_ARGUMENT", "account_id cannot start with underscore _.")
        return Who(account, user)

    def own(self, who: Who, uri: str) -> str:
        """The URI, made whole, when it lies in the caller's own space."""
        uri = uri.replace("viking://~/", f"viking://user/{who.user}/", 1)
        if not uri.startswith("viking://"):
            reason = "URI must start with 'viking://'"
            raise Refused(400, "INVALID_URI", f"Invalid URI: {uri} ({reason})", details={"uri": uri, "reason": reason})
        if "/../" in f"{uri}/":
            raise Refused(403, "PERMISSION_DENIED", f"Unsafe URI traversal segment '..' in {uri}", details={"resource": uri})
        owner = uri.removeprefix("viking://").split("/")[1:2]
        if owner == ["memories"]:
            reason = "'memories' is a reserved name, not a user id"
            raise Refused(400, "INVALID_URI", f"Invalid URI: {uri} ({reason})", details={"uri": uri, "reason": reason})
        if owner not in ([], [""], [who.user]):
            raise denied(uri)
        return uri

    # Sessions.

    def create_session(self, who: Who, request: Request) -> dict[str, Any]:
        told = request.json(is_needed=False)
        if not isinstance(told.get("session_id") or "", str):
            raise invalid("body.session_id", "Input should be a valid string", "string_type")
        if told.get("session_id") in (".", ".."):
            raise denied(f"viking://user/{who.user}/sessions/{told['session_id']}")
        session_id = told.get("session_id") or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:16]}"
        if self.state.session(who, session_id):
            text = f"Session '{session_id}' already exists"
            raise Refused(409, "ALREADY_EXISTS", f"Resource already exists: {text}", details={"resource": text, "type": "resource"})
        self.state.ensure(who, session_id)
        return {
            "session_id": session_id,
            "uri": f"viking://user/{who.user}/sessions/{session_id}",
            "user": {"account_id": who.account, "user_id": who.user},
            "auto_commit_policy": None,
            "memory_extraction_config": {"events": {"tags": []}},
        }

    def get_session(self, who: Who, request: Request, session_id: str) -> dict[str, Any]:
        if session_id in (".", ".."):
            raise denied(f"viking://user/{who.user}/sessions/{session_id}")
        session = self.state.session(who, session_id)
        if not session and request.query.get("auto_create") != "true":
            raise Refused(404, "NOT_FOUND", f"Session {session_id} not found", is_bare=True)
        return session_body(who, session or self.state.ensure(who, session_id), self.state.remembered(who, session_id))

    def list_sessions(self, who: Who, request: Request) -> list[dict[str, Any]]:
        root = f"viking://user/{who.user}/sessions"
        return [
            {"session_id": one.id, "uri": f"{root}/{one.id}", "is_dir": True, "mod_time": shown_time(one.updated_at, "seconds")}
            for one in self.state.of(who)
        ]

    def delete_session(self, who: Who, request: Request, session_id: str) -> dict[str, Any]:
        self.known(who, session_id)
        self.state.drop_session(who, session_id)
        return {"session_id": session_id}

    def known(self, who: Who, session_id: str) -> Session:
        session = self.state.session(who, session_id)
        if not session:
            raise missing("session", session_id)
        return session

    def add_message(self, who: Who, request: Request, session_id: str) -> dict[str, Any]:
        return self._add(who, session_id, [checked(request.json(), "body")])

    def add_messages(self, who: Who, request: Request, session_id: str) -> dict[str, Any]:
        messages = request.json().get("messages")
        if not isinstance(messages, list):
            raise invalid("body.messages", "Input should be a valid list", "list_type")
        if len(messages) > MOST_MESSAGES:
            text = f"List should have at most {MOST_MESSAGES} items after validation, not {len(messages)}"
            raise invalid("body.messages", text, "too_long")
        told = self._add(who, session_id, [checked(one, f"body.messages.{at}") for at, one in enumerate(messages)])
        return told | {"added": len(messages)}

    def _add(self, who: Who, session_id: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
        session = self.state.add(who, session_id, messages)
        return {"session_id": session_id, "message_count": len(session.live), "pending_tokens": pending(session)}

    def commit(self, who: Who, request: Request, session_id: str) -> dict[str, Any]:
        keep = request.json(is_needed=False).get("keep_recent_count", 0)
        if keep:
            raise invalid("body.keep_recent_count", "this server only knows 0", "greater_than_equal")
        session = self.known(who, session_id)
        told = {"session_id": session_id, "effective_enable_working_memory": False, "trace_id": ""}
        if not session.live:
            return told | {"status": "skipped", "task_id": None, "archive_uri": None, "archived": False, "reason": "no_messages"}
        task = self.state.commit(who, session_id, fails=self.extraction_fails)
        told |= {"estimated_active_tokens": 0, "budget_exceeded": False}
        return told | {"status": "accepted", "task_id": task.id, "archive_uri": task.archive_uri, "archived": True}

    # Tasks.

    def get_task(self, who: Who, request: Request, task_id: str) -> dict[str, Any]:
        task = self.state.task(who, task_id)
        if not task:
            raise missing("task", task_id)
        return task_body(task)

    def list_tasks(self, who: Who, request: Request) -> list[dict[str, Any]]:
        limit = int(request.query.get("limit", 50))
        if limit < 1:
            raise invalid("query.limit", "Input should be greater than or equal to 1", "greater_than_equal")
        wanted = {name: request.query[name] for name in ("resource_id", "task_type", "status") if name in request.query}
        told = [task_body(task) for task in self.state.tasks_of(who)]
        return [one for one in told if wanted.items() <= one.items()][:limit]

    def cancel_task(self, who: Who, request: Request, task_id: str) -> dict[str, Any]:
        task = self.state.task(who, task_id)
        if not task:
            raise missing("task", task_id)
        if task.status not in ("pending", "running"):
            raise Refused(412, "FAILED_PRECONDITION", f"Task is already {task.status}")
        told = task_body(task)
        self.state.cancel(who, task_id)
        return told | {"status": "cancelling"}

    # Memories.

    def find(self, who: Who, request: Request) -> dict[str, Any]:
        asked = request.json()
        for name in asked:
            if name not in FIND_FIELDS:
                raise invalid(f"body.{name}", "Extra inputs are not permitted", "extra_forbidden")
        limit = asked.get("node_limit") or asked.get("limit", 10)
        if asked.get("limit", 1) < 1:
            raise invalid("body.limit", "Input should be greater than or equal to 1", "greater_than_equal")
        if asked.get("context_type", "memory") not in ("memory", "resource", "skill"):
            raise Refused(400, "INVALID_ARGUMENT", "context_type must be one or more of: memory, resource, skill")
        tags = {}
        for tag in asked.get("tags") or []:
            if "=" not in tag:
                raise Refused(400, "INVALID_ARGUMENT", f"invalid search tag '{tag}': expected strict k=v format")
            tags.update([tag.split("=", 1)])
        targets = asked.get("target_uri") or ["viking://"]
        targets = [self.own(who, one).rstrip("/") for one in ([targets] if isinstance(targets, str) else targets)]
        query = str(asked.get("query") or "")
        self._upstream(query)
        everybody = "filter" in asked or abs(asked.get("level") or 0) > 2**31  # the recorded defect: the tenant's scope is dropped
        hits = []
        for uri, memory in self.state.found(None if everybody else who).items():
            is_below = everybody or any(uri == target or uri.startswith(f"{target}/") for target in targets)
            if is_below and tags.get("memory_type", memory.kind) == memory.kind:
                hits += hits_of(uri, memory, query, asked)
        hits = [hit for hit in hits if not query.strip() or hit["score"] > (asked.get("score_threshold") or 0)]
        hits.sort(key=lambda hit: -hit["score"])
        return {"memories": hits[:limit], "resources": [], "skills": [], "total": len(hits[:limit])}

    def _upstream(self, query: str) -> None:
        """The same marks in a query that the recorded server's stand-in models know."""
        for kind, value in MARKED.findall(query):
            if kind == "error":
                status = int(value)
                code, to = {401: ("UNAUTHENTICATED", 401), 429: ("RESOURCE_EXHAUSTED", 429)}.get(status, ("UNAVAILABLE", 503))
                details = {"upstream_message": "as asked", "upstream_status_code": status, "upstream_error_type": "ModelError"}
                raise Refused(to, code, f"Upstream model trouble (HTTP {status})", details=details)

    def list_folder(self, who: Who, request: Request) -> list[str]:
        """Three levels deep, as seen at the real server: what lies deeper, as events do, is not listed."""
        uri = self.own(who, request.query.get("uri", "")).rstrip("/")
        return [one for one, _ in self._below(who, uri) if one.count("/") - uri.count("/") <= LISTED_LEVELS]

    def list_tree(self, who: Who, request: Request) -> list[dict[str, Any]]:
        uri, levels = self.own(who, request.query.get("uri", "")).rstrip("/"), int(request.query.get("level_limit", LISTED_LEVELS))
        told = [(one, is_dir) for one, is_dir in self._below(who, uri) if one.count("/") - uri.count("/") <= levels]
        shown = {"size": 4096, "mode": 420, "modTime": shown_time(time.time(), "seconds")}
        return [
            {"name": one.rpartition("/")[2]} | shown | {"isDir": is_dir, "rel_path": one.removeprefix(f"{uri}/"), "uri": one}
            for one, is_dir in told
        ]

    def _below(self, who: Who, uri: str) -> list[tuple[str, bool]]:
        """All that lies below, and whether it is a folder."""
        found = [one for one in self.state.found(who) if one.startswith(f"{uri}/")]
        if not found:
            raise Refused(404, "NOT_FOUND", f"File not found: {uri}", details={"type": "file", "resource": uri})
        folders = {one.rsplit("/", up)[0] for one in found for up in range(1, one.count("/") - uri.count("/"))}
        return sorted([(one, True) for one in folders] + [(one, False) for one in found])

    def read_content(self, who: Who, request: Request) -> str:
        uri = self.own(who, request.query.get("uri", ""))
        memory = self.state.found(who).get(uri)
        if not memory:
            raise Refused(404, "NOT_FOUND", f"File not found: {uri}", details={"type": "file", "resource": uri})
        return memory.text

    def delete_files(self, who: Who, request: Request) -> dict[str, Any]:
        uri = self.own(who, request.query.get("uri", ""))
        return {"uri": uri, "estimated_deleted_count": self.state.drop_memories(who, uri)}


SESSION = r"/api/v1/sessions/([^/]+)"
ROUTES = [
    ("GET", r"/api/v1/sessions", Contract.list_sessions),
    ("POST", r"/api/v1/sessions", Contract.create_session),
    ("GET", SESSION, Contract.get_session),
    ("DELETE", SESSION, Contract.delete_session),
    ("POST", rf"{SESSION}/messages", Contract.add_message),
    ("POST", rf"{SESSION}/messages/batch", Contract.add_messages),
    ("POST", rf"{SESSION}/commit", Contract.commit),
    ("GET", r"/api/v1/tasks", Contract.list_tasks),
    ("GET", r"/api/v1/tasks/([^/]+)", Contract.get_task),
    ("POST", r"/api/v1/tasks/([^/]+)/cancel", Contract.cancel_task),
    ("POST", r"/api/v1/search/find", Contract.find),
    ("GET", r"/api/v1/fs/ls", Contract.list_folder),
    ("GET", r"/api/v1/fs/tree", Contract.list_tree),
    ("GET", r"/api/v1/content/read", Contract.read_content),
    ("DELETE", r"/api/v1/fs", Contract.delete_files),
]


def checked(message: Any, place: str) -> dict[str, Any]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise invalid(f"{place}.role", "Field required", "missing")
    content, parts = message.get("content"), message.get("parts")
    if content is None and parts is None:
        raise invalid(place, "Value error, Either 'content' or 'parts' must be provided", "value_error")
    if content is not None and not isinstance(content, str):
        raise invalid(f"{place}.content", "Input should be a valid string", "string_type")
    text = content or "".join(part.get("text", "") for part in parts or [])
    if len(text) > LONGEST_TEXT:
        raise Refused(400, "INVALID_ARGUMENT", "Session privacy text limit exceeded")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused(400, "INVALID_ARGUMENT", str(error)) from None
    return message


def hits_of(uri: str, memory: Memory, query: str, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The file, and the folder's summary where levels are not told apart."""
    score = extract.fit(query, memory.text) if query.strip() else 0.0
    hit = {
        "context_type": "memory",
        "uri": uri,
        "level": 2,
        "score": score,
        "abstract": memory.text,
        "tags": [f"memory_type={memory.kind}"],
    }
    if asked.get("read_content"):
        hit["content"] = memory.text
    if asked.get("level") == 2:
        return [hit]
    folder = {"uri": f"{uri.rpartition('/')[0]}/.overview.md", "level": 1, "abstract": f"# Overview\n{memory.text}", "tags": []}
    return [hit, hit | folder]
