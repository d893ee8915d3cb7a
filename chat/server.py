"""The web server: Daphne with an orderly end."""

import asyncio
import logging
from typing import Any

from channels.routing import get_default_application
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import WebRequest
from daphne.server import Server, twisted_loop
from django.conf import settings
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort
from twisted.python.failure import Failure

from chat.bodies import limit_request
from chat.memory.external import start
from chat.runs import beat
from chat.warmup import warm_up

SHUTDOWN_SECONDS = 10  # longer than the beat takes for it, shorter than the supervisor waits

log = logging.getLogger(__name__)


class WebServer(Server):
    """Listens on one address; on SIGTERM or SIGINT it ends this process's runs as `interrupted` (RUNTIME 4).

    `failure` is why it could not listen, or empty.
    """

    def __init__(self, host: str, port: int) -> None:
        # A client could write these headers itself, so they count only behind a proxy.
        proxy = (
            {
                "proxy_forwarded_address_header": "X-Forwarded-For",
                "proxy_forwarded_port_header": "X-Forwarded-Port",
                "proxy_forwarded_proto_header": "X-Forwarded-Proto",
            }
            if settings.HTTPS
            else {}
        )
        super().__init__(
            application=get_default_application(),
            endpoints=build_endpoint_description_strings(host=host, port=port),
            server_name="",
            **proxy,
        )
        self.failure = ""
        self._ports: list[Any] = []

    def protocol_connected(self, protocol: object) -> None:
        super().protocol_connected(protocol)
        if isinstance(protocol, WebRequest):
            limit_request(protocol, settings.REQUEST_MAX_BYTES)

    def listen_success(self, port: IListeningPort) -> None:
        super().listen_success(port)
        self._ports.append(port)
        host, number = self.listening_addresses[-1]
        print(f"Listening on http://{f'[{host}]' if ':' in host else host}:{number}/", flush=True)  # noqa: T201

    def listen_error(self, failure: Failure) -> None:
        self.failure = failure.getErrorMessage()
        self.stop()

    def kill_all_applications(self) -> "Deferred[None]":
        """Runs before the reactor stops, which waits for it."""
        return Deferred.fromFuture(asyncio.ensure_future(self._shut_down()))

    async def _shut_down(self) -> None:
        for port in self._ports:
            port.stopListening()
        try:
            await asyncio.wait_for(beat.shutdown(), SHUTDOWN_SECONDS)
        except TimeoutError:
            log.error("The runs of this process did not end within %d seconds; the sweep will end them.", SHUTDOWN_SECONDS)
        await start.shut_down()
        going = [details["application_instance"] for details in self.connections.values() if "application_instance" in details]
        for application in going:
            application.cancel()
        await asyncio.gather(*going, return_exceptions=True)


def serve(host: str, port: int) -> str:
    """Serves until a signal comes; returns why it could not listen, or the empty text. Raises BackendError (`start.warm_up`)."""
    warm_up()
    twisted_loop.run_until_complete(start.warm_up())  # the loop of all that follows: connections belong to theirs
    server = WebServer(host, port)
    server.run()
    return server.failure
