"""The way in: origins of sockets, and what servers with a lifespan call."""

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator

from memoryapp.asgi import application

pytestmark = pytest.mark.django_db(transaction=True)


async def refuses(path: str, origin: bytes) -> bool:
    socket = WebsocketCommunicator(application, path, headers=[(b"host", b"testserver"), (b"origin", origin)])
    connected, _ = await socket.connect()
    if connected:
        await socket.disconnect()
    return not connected


async def test_a_page_of_another_site_gets_no_socket():
    assert await refuses("/ws/", b"https://evil.example")


async def test_somebody_who_is_not_logged_in_gets_no_socket():
    assert await refuses("/ws/", b"http://testserver")


async def test_the_lifespan_starts_and_stops():
    server = ApplicationCommunicator(application, {"type": "lifespan", "asgi": {"version": "3.0"}})
    await server.send_input({"type": "lifespan.startup"})
    assert await server.receive_output() == {"type": "lifespan.startup.complete"}
    await server.send_input({"type": "lifespan.shutdown"})
    assert await server.receive_output(timeout=15) == {"type": "lifespan.shutdown.complete"}
    await server.wait()
