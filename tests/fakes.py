"""Fakes that behave like the real thing, scripted by the test."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from chat.providers import registry
from chat.providers.base import Delta, Endpoint, Request

Step = str | Delta | Exception | asyncio.Event


class ScriptedProvider:
    """A model service that gives the next script to each request, the last one again when they are used up.

    A step is text, a Delta, an exception that is raised, or an asyncio.Event that is waited for.
    """

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.scripts: list[Sequence[Step]] = list(scripts) or [["好的。"]]
        self.requests: list[Request] = []
        self.endpoints: list[Endpoint] = []
        self.closed = 0  # streams that were left before their end

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncIterator[Delta]:
        script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
        self.requests.append(request)
        self.endpoints.append(endpoint)
        has_ended = False
        try:
            for step in script:
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, Exception):
                    raise step
                else:
                    await asyncio.sleep(0)
                    yield Delta(text=step) if isinstance(step, str) else step
            has_ended = True
        finally:
            self.closed += not has_ended


@contextmanager
def scripted(model: ScriptedProvider, kind: str = "openai") -> Iterator[ScriptedProvider]:
    """Lets `model` answer for all services of the kind."""
    with patch.dict(registry._classes(), {kind: lambda: model}):
        registry.provider.cache_clear()
        yield model
    registry.provider.cache_clear()
