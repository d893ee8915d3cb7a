"""The way in: origins of sockets, and what servers with a lifespan call."""

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from django.conf import settings

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


async def answer_to(headers: list[tuple[bytes, bytes]], *bodies: bytes) -> int:
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/knowledge/upload/", "query_string": b"", "headers": headers}
    server = ApplicationCommunicator(application, scope)
    for number, body in enumerate(bodies, start=1):
        await server.send_input({"type": "http.request", "body": body, "more_body": number < len(bodies)})
    status = (await server.receive_output(timeout=15))["status"]
    server.stop(exceptions=False)
    return status


async def test_a_body_that_says_it_is_too_large_is_refused_unread():
    length = str(settings.REQUEST_MAX_BYTES + 1).encode()
    assert await answer_to([(b"host", b"testserver"), (b"content-length", length)]) == 413
    assert await answer_to([(b"host", b"testserver"), (b"content-length", b"many")]) == 413


async def test_a_body_that_does_not_say_how_large_it_is_is_refused_once_it_is_too_large():
    piece = b"x" * (settings.REQUEST_MAX_BYTES // 2)
    assert await answer_to([(b"host", b"testserver")], piece, piece, b"xx", b"unread") == 413


async def test_a_body_within_the_limit_comes_in():
    assert await answer_to([(b"host", b"testserver"), (b"content-length", b"4")], b"a=bc") == 403  # without a form's token
