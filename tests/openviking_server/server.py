"""The sockets of the server, in threads of the test; faults are what happens here and not in the contract."""

import json
import select
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.openviking_server.contract import Contract, Request
from tests.openviking_server.faults import Fault, Faults
from tests.openviking_server.state import State

KEY = "test-root-key"
IDLE_SECONDS = 5  # as the real server
LONGEST_SLEEP_SECONDS = 30
CONTROL = "/_test/"
CODES = {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 501: "UNIMPLEMENTED", 504: "DEADLINE_EXCEEDED"}
GATEWAY = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it came, and the status of the answer; 0 when there was none."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    status: int


class Server:
    """The server in a thread: `with Server() as openviking:`. `base_url`, `key`, `account`, `faults`, `state`, `seen`.

    `stop` breaks all connections, as a kill does; `start` takes up again on the same port with what was kept. `elsewhere` is
    the base URL of another host, where a redirect can lead; `elsewhere_seen` tells what came there. What a POST asks for is done
    `late_seconds` before it is answered.
    """

    account = "test-account"

    def __init__(
        self,
        *,
        key: str = KEY,
        auth_mode: str = "trusted",
        path: Path | None = None,
        port: int = 0,
        extraction_seconds: float = 0.0,
        late_seconds: float = 0.0,
    ) -> None:
        self.key, self.port, self.late_seconds = key, port, late_seconds
        self.state, self.faults, self.seen = State(path, extraction_seconds), Faults(), list[Seen]()
        self.elsewhere_seen: list[Seen] = []
        self.contract = Contract(self.state, key=key, auth_mode=auth_mode)
        self._listening: Listening | None = None
        self._elsewhere: Listening | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def elsewhere(self) -> str:
        if not self._elsewhere:
            self._elsewhere = Listening(self, 0, self.elsewhere_seen, Faults())
        return f"http://localhost:{self._elsewhere.server_address[1]}"

    def start(self) -> None:
        self._listening = Listening(self, self.port, self.seen, self.faults)
        self.port = self._listening.server_address[1]

    def stop(self) -> None:
        if self._listening:
            self._listening.end()
        self._listening = None

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._elsewhere:
            self._elsewhere.end()


class Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, owner: Server, port: int, seen: list[Seen], faults: Faults) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.owner, self.seen, self.faults, self.ended = owner, seen, faults, threading.Event()
        self.connections: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self.ended.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in list(self.connections):
            cut(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class Handler(BaseHTTPRequestHandler):
    server: Listening
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, *_: object) -> None:
        return None

    def handle_any(self) -> None:
        request = Request(
            self.command, self.path, dict(self.headers.items()), self.rfile.read(int(self.headers.get("Content-Length") or 0))
        )
        if request.path.startswith(CONTROL):
            status, body = control(self.server.owner, request)
            self.send(status, json.dumps(body).encode())
            return
        fault = self.server.faults.taken(request.method, request.path)
        if fault and fault.kind == "closed":
            self.note(request, 0)
            self.cut()
            return
        if fault and fault.kind == "delay":
            self.server.ended.wait(fault.seconds)
        if marked := request.path.endswith("/search/find") and pause_in(request.body):
            self.server.ended.wait(min(marked, LONGEST_SLEEP_SECONDS))
        if fault and self.misbehave(request, fault):
            return
        status, body = self.carried_out(request, fault)
        if request.method == "POST" and self.server.owner.late_seconds:
            self.server.ended.wait(self.server.owner.late_seconds)
        self.note(request, 0 if fault and fault.kind == "lost" else status)
        if fault and fault.kind == "lost":
            self.cut()
        elif fault and fault.kind == "trickle":
            self.trickle(status, json.dumps(body).encode(), fault.seconds)
        else:
            self.send(status, json.dumps(body).encode())
            if fault and fault.kind == "stale":
                self.cut()

    do_GET = do_POST = do_DELETE = do_PUT = handle_any  # noqa: N815

    def carried_out(self, request: Request, fault: Fault | None) -> tuple[int, Any]:
        contract = self.server.owner.contract
        if fault and fault.kind == "task":
            contract = Contract(contract.state, key=contract.key, auth_mode=contract.auth_mode, extraction_fails=True)
        status, body = contract.answer(request)
        if fault and fault.kind == "foreign" and status == 200:
            shown = {"context_type": "memory", "level": 2, "score": 0.99}
            hits = [
                shown | {"uri": uri, "abstract": one.text, "content": one.text, "tags": [f"memory_type={one.kind}"]}
                for uri, one in contract.state.found(None).items()
            ]
            body["result"]["memories"] = hits
            body["result"]["total"] = len(hits)
        return status, body

    def misbehave(self, request: Request, fault: Fault) -> bool:
        """Answers without carrying out what was asked; False when this fault does not do so."""
        if fault.kind == "status":
            code = {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 501: "UNIMPLEMENTED", 504: "DEADLINE_EXCEEDED"}.get(
                fault.status, "UNAVAILABLE"
            )
            answer = {"status": "error", "error": {"code": code, "message": "traceback of the server at /srv/private"}}
            self.note(request, fault.status)
            self.send(fault.status, json.dumps(answer).encode())
        elif fault.kind == "upstream":
            error = {"code": "UNAUTHENTICATED", "message": "Upstream model authentication failed", "details": {"upstream_status_code": 401}}
            self.note(request, 401)
            self.send(401, json.dumps({"status": "error", "result": None, "error": error}).encode())
        elif fault.kind == "html":
            self.note(request, 502)
            self.send(502, GATEWAY, "text/html")
        elif fault.kind == "envelope":
            self.note(request, 200)
            self.send(200, fault.body.encode() if isinstance(fault.body, str) else json.dumps(fault.body).encode())
        elif fault.kind == "redirect":
            self.note(request, 307)
            self.send_response(307)
            self.send_header("Location", f"{fault.to or self.server.owner.elsewhere}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif fault.kind == "endless":
            self.note(request, 200)
            self.endless()
        else:
            return False
        return True

    def send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.head(status, kind, len(body))
        self.wfile.write(body)

    def head(self, status: int, kind: str, length: int | None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Request-ID", self.headers.get("X-Request-ID") or "request-of-the-server")
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def endless(self) -> None:
        self.head(200, "application/json", None)
        self.wfile.write(b'{"status": "ok", "result": {"memories": [')
        while not self.server.ended.is_set():
            self.wfile.write(b'{"uri": "viking://user/x/memories/a.md", "abstract": "' + b"x" * 65536 + b'"},')

    def trickle(self, status: int, body: bytes, seconds: float) -> None:
        self.head(status, "application/json", len(body))
        for at in range(len(body)):
            self.wfile.write(body[at : at + 1])
            self.wfile.flush()
            if self.server.ended.wait(seconds) or is_gone(self.connection):
                return

    def note(self, request: Request, status: int) -> None:
        try:
            body = json.loads(request.body) if request.body else None
        except ValueError:
            body = request.body.decode("utf-8", "replace")
        self.server.seen.append(Seen(request.method, request.target, request.headers, body, status))

    def cut(self) -> None:
        self.close_connection = True
        cut(self.connection)


def control(owner: Server, request: Request) -> tuple[int, Any]:
    """What a test asks of a server in another process: faults, what was seen, what is kept."""
    verb = request.path.removeprefix(CONTROL)
    told = json.loads(request.body) if request.body else {}
    if verb == "faults":
        owner.faults.add(**told)
        return 200, {}
    if verb == "clear":
        owner.faults.clear()
        return 200, {}
    if verb == "seen":
        return 200, [[one.method, one.path, one.headers, one.body, one.status] for one in owner.seen]
    if verb in ("users", "sessions", "messages", "live", "memories", "tasks"):
        return 200, getattr(owner.state, verb)(**told)
    return 404, {}


def pause_in(body: bytes) -> float:
    """The seconds of `[[stub:sleep=3]]`, a mark that the recorded server's stand-in models know too."""
    _, found, after = body.partition(b"[[stub:sleep=")
    return float(after.partition(b"]]")[0]) if found else 0.0


def is_gone(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)


def cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
