"""A bare relay on the same stack: Daphne, Channels, httpx raw bytes, 50 ms of coalescing, no database.

Takes `{"prompt", "model"}` on /ws and sends `{"type": "delta", "text"}` … `{"type": "done"}`. MODEL_URL is the service.
"""

import asyncio
import json
import os

import httpx
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.urls import path

COALESCE_SECONDS = 0.05
settings.configure()
_clients: list[httpx.AsyncClient] = []


def _client() -> httpx.AsyncClient:
    if not _clients:
        _clients.append(httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=120, trust_env=False))
    return _clients[0]


class Relay(AsyncWebsocketConsumer):
    async def receive(self, text_data=None, bytes_data=None):
        asked = json.loads(text_data)
        self.pending: list[str] = []
        self.timer = None
        body = {"model": asked["model"], "stream": True, "messages": [{"role": "user", "content": asked["prompt"]}]}
        async with _client().stream("POST", os.environ["MODEL_URL"] + "/v1/chat/completions", json=body) as response:
            rest = b""
            async for chunk in response.aiter_raw():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {"):
                        choices = json.loads(line[6:])["choices"]
                        if choices and choices[0]["delta"].get("content"):
                            self.add(choices[0]["delta"]["content"])
        await self.flush()
        await self.send(text_data='{"type": "done"}')

    def add(self, text):
        self.pending.append(text)
        if self.timer is None:
            self.timer = asyncio.get_running_loop().call_later(COALESCE_SECONDS, lambda: asyncio.ensure_future(self.flush()))

    async def flush(self):
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.pending:
            text = "".join(self.pending)
            self.pending.clear()
            await self.send(text_data=json.dumps({"type": "delta", "text": text}))


application = ProtocolTypeRouter({"websocket": URLRouter([path("ws", Relay.as_asgi())])})
