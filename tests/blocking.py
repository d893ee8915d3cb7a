"""Notices a thread that runs an event loop and waits in it: for a socket, for a name, or asleep (seed 002 §15.4).

asyncio itself works on sockets that do not block, and asks for names in another thread, so it is never noticed.
"""

import asyncio
import contextlib
import socket
import ssl
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

FRAMES = 40
SOCKET_CALLS = ("connect", "connect_ex", "send", "sendall", "sendto", "recv", "recv_into", "recvfrom", "accept")


class BlockedLoop(AssertionError):
    """What waited on an event loop, and where."""


@contextlib.contextmanager
def noticed() -> Iterator[list[str]]:
    """The waits on an event loop while it lasts, each as the stack that led to it. They happen all the same."""
    found: list[str] = []

    def note(what: str) -> None:
        if asyncio._get_running_loop() is not None:
            found.append(f"{what}\n{''.join(traceback.format_stack(limit=FRAMES)[:-2])}")

    def on_socket(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: socket.socket, *args: Any, **more: Any) -> Any:
            if self.gettimeout() != 0:
                note(f"socket.{name}")
            return original(self, *args, **more)

        return call

    def plain(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            note(name)
            return original(*args, **more)

        return call

    with contextlib.ExitStack() as stack:
        for name in SOCKET_CALLS:
            stack.enter_context(patch.object(socket.socket, name, on_socket(name, getattr(socket.socket, name)), create=True))
        for name in ("read", "write", "do_handshake"):
            stack.enter_context(patch.object(ssl.SSLSocket, name, on_socket(name, getattr(ssl.SSLSocket, name))))
        stack.enter_context(patch.object(socket, "getaddrinfo", plain("getaddrinfo", socket.getaddrinfo)))
        stack.enter_context(patch.object(time, "sleep", plain("time.sleep", time.sleep)))
        yield found


@contextlib.contextmanager
def never_blocked() -> Iterator[None]:
    """Fails at its end when something waited on an event loop. Raises BlockedLoop."""
    with noticed() as found:
        yield
    if found:
        raise BlockedLoop(f"{len(found)} times on an event loop, the first:\n{found[0]}")
