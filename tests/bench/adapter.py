"""The app for the load client: `tests/bench/adapter.py:Page`."""

import html
import json
import re
import uuid

from load import App, RawWebSocket, http  # the load client puts itself into sys.modules


class Page(App):
    """Log-in, the page of the newest thread, its socket: as a browser does."""

    login_path = "/accounts/login/"
    thread_pattern = re.compile(r"/chat/t/(th_[a-z2-7]+)/")

    def question(self, prompt, model):
        return {"action": "send", "key": str(uuid.uuid4()), "input": prompt, "mode": ""}

    async def open(self, i):
        jar = self.sessions[i]
        status, headers, _ = await http("GET", f"{self.url}/", cookies=jar)
        where = self.thread_pattern.search(headers.get("location", ""))
        if not where:
            raise RuntimeError(f"no thread for client {i}: HTTP {status}")
        cookie = "; ".join("=".join(pair) for pair in jar.items())
        url = f"ws{self.url[4:]}/ws/threads/{where.group(1)}/"
        socket = await RawWebSocket.connect(url, {"Cookie": cookie, "Origin": self.url})
        socket.send_json({"action": "sync", "after": 1_000_000, "open": []})
        return socket

    async def ask(self, conn, prompt, model, feed):
        question = self.question(prompt, model)
        state = {"run": None}

        def is_end(text):
            frame = json.loads(text)
            if frame["type"] == "error":
                raise RuntimeError(text[:200])
            if frame["type"] == "sent" and frame.get("key") == question["key"]:
                state["run"] = frame["run"]
            if frame["type"] == "run" and frame["run"] == state["run"]:
                done = re.search(r'data-status="?(\w+)', html.unescape(frame["html"]))
                if done and done.group(1) in ("failed", "cancelled"):
                    raise RuntimeError(f"run {done.group(1)}")
                return bool(done) and done.group(1) == "completed"
            return False

        conn.send_json(question)
        await conn.until(is_end, feed, timeout=600)
