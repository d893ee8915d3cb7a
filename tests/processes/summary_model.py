"""A model server on loopback whose answer follows from the request, so that the order of the calls does not matter."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class SummaryModel:
    """Keeps the texts of the requests that it answered to the end. `delay_seconds` is how long an answer takes."""

    def __init__(self, url: str, delay_seconds: float) -> None:
        self.url = url
        self.delay_seconds = delay_seconds
        self.asked = 0
        self.answered: list[str] = []


@contextmanager
def summary_model(delay_seconds: float = 0.05) -> Iterator[SummaryModel]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = body["messages"][-1]["content"]
            model.asked += 1
            time.sleep(model.delay_seconds)
            number = hashlib.sha256("".join(one["content"] for one in body["messages"]).encode()).hexdigest()[:16]
            events = [
                {"choices": [{"delta": {"content": f"教师在出试卷，编号{number}。"}}]},
                {"choices": [{"delta": {}, "finish_reason": "stop"}]},
                {"choices": [], "usage": {"prompt_tokens": len(text), "completion_tokens": 20}},
            ]
            answer = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            try:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(answer.encode())))
                self.end_headers()
                self.wfile.write(answer.encode())
            except OSError:
                return  # the worker was killed meanwhile
            model.answered.append(text)

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = SummaryModel(f"http://127.0.0.1:{server.server_port}/v1", delay_seconds)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
