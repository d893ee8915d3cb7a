"""An embeddings server of the tests' own, on loopback: words hashed into vectors, every request kept, faults on demand."""

import json
import math
import threading
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 64
# Words that mean the same, for the tests that are about it.
SAME = {"抛物线": "二次函数", "parabola": "二次函数", "投篮": "二次函数"}

Fault = Callable[["EmbeddingsServer", dict[str, Any]], Any]


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    for word, other in SAME.items():
        text = text.replace(word, other)
    found = [0.0] * dimension
    for start in range(max(1, len(text) - 1)):
        found[zlib.crc32(text[start : start + 2].encode()) % dimension] += 1.0
    length = math.sqrt(sum(number * number for number in found)) or 1.0
    return [number / length for number in found]


def good(server: "EmbeddingsServer", body: dict[str, Any]) -> dict[str, Any]:
    data = [{"index": i, "embedding": vector_of(text, server.dimension)} for i, text in enumerate(body["input"])]
    return {"data": data, "usage": {"prompt_tokens": sum(len(text) for text in body["input"])}}


class EmbeddingsServer:
    """Runs as a context manager. `fault` answers in place of it: a JSON value, bytes, or a status."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension
        self.fault: Fault | None = None
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.is_over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"server_of_tests": self}))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def received(self) -> str:
        """All that has ever been sent here, as one text."""
        return json.dumps([self.requests, self.paths], ensure_ascii=False)

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request["input"]]

    def __enter__(self) -> "EmbeddingsServer":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of_tests: EmbeddingsServer

    def do_POST(self) -> None:
        ours = self.server_of_tests
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ours.paths.append(self.path)
        ours.headers.append({name.lower(): value for name, value in self.headers.items()})
        ours.requests.append(body)
        answer = (ours.fault or good)(ours, body)
        status, content = (answer, b"{}") if isinstance(answer, int) else (200, answer)
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass  # the caller has gone

    def log_message(self, *_args: object) -> None:
        pass


def slow(seconds: float) -> Fault:
    def wait(server: EmbeddingsServer, body: dict[str, Any]) -> dict[str, Any]:
        server.is_over.wait(seconds)
        return good(server, body)

    return wait


def broken_numbers(server: EmbeddingsServer, body: dict[str, Any]) -> bytes:
    return json.dumps({"data": [{"index": i, "embedding": [float("nan")] * server.dimension} for i in range(len(body["input"]))]}).encode()


def too_few(server: EmbeddingsServer, body: dict[str, Any]) -> dict[str, Any]:
    return {"data": good(server, body)["data"][:-1]}


def other_dimension(server: EmbeddingsServer, body: dict[str, Any]) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": vector_of(text, server.dimension + 1)} for i, text in enumerate(body["input"])]}
