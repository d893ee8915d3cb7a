"""The way in: HTTP to Django, sockets to the consumers, and the start and stop of an ASGI server (lifespan)."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
http_application = get_asgi_application()  # loads the apps, so it stands before the imports that need rows

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402

from chat import routing  # noqa: E402
from chat.bodies import LimitedBodies  # noqa: E402
from chat.memory.backends.base import BackendError  # noqa: E402
from chat.memory.external import start  # noqa: E402
from chat.runs import beat  # noqa: E402
from chat.warmup import warm_up  # noqa: E402

Message = dict[str, Any]


async def lifespan(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
    """What servers with a lifespan do at start and stop; `manage.py web` does the same by itself (RUNTIME 4)."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            warm_up()
            try:
                await start.warm_up()
            except BackendError as error:
                await send({"type": "lifespan.startup.failed", "message": start.words_for(error)})
                return
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await beat.shutdown()
            await start.shut_down()
            await send({"type": "lifespan.shutdown.complete"})
            return


application = ProtocolTypeRouter(
    {
        "http": LimitedBodies(http_application, settings.REQUEST_MAX_BYTES),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routing.websocket_urlpatterns))),
        "lifespan": lifespan,
    }
)
