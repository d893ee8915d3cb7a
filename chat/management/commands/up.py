import asyncio
import socket
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from chat import demo
from chat.memory.backends.base import BackendError
from chat.memory.external import start
from chat.supervisor import Program, StartRefused, Supervisor

MANAGE = Path(settings.BASE_DIR) / "manage.py"


class Command(BaseCommand):
    help = "Prepares the database and runs web and worker under one parent, until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=settings.PORT, help="port to listen on (PORT)")

    def handle(self, *, host: str, port: int, **_options: object) -> None:
        check_port(host, port)
        call_command("migrate", verbosity=0, interactive=False)
        asyncio.run(look_at_backend())
        for line in welcome(host, port):
            self.say(line)
        connections.close_all()
        web = Program("web", ["web", f"--host={host}", f"--port={port}"])
        refused = asyncio.run(Supervisor([web, Program("worker", ["worker"])], str(MANAGE), self.say).run())
        if refused:
            raise StartRefused(f"Stopped, as {' and '.join(refused)} cannot start; the reason stands above.")
        self.say("Stopped.")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


async def look_at_backend() -> None:
    """Asks the memory backend before both children do, so that a refusal is told once. Raises StartRefused."""
    try:
        await start.warm_up()
    except BackendError as error:
        raise StartRefused(start.words_for(error)) from None
    finally:
        await start.shut_down()


def check_port(host: str, port: int) -> None:
    """Raises CommandError when the address cannot be listened on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}:{port}: {error.strerror}. Is the app running already? Another port: PORT={port + 1}."
            ) from None


def welcome(host: str, port: int) -> list[str]:
    """Loads the demo schools where they are wanted; what to tell the person who starts the app."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    lines = [f"Address: http://{shown}:{port}/" if port else "Address: printed below, as soon as a free port is found"]
    if settings.DEMO and (demo.is_empty() or demo.is_loaded()):
        lines += demo.load().lines()
    elif demo.is_empty():
        lines.append("Make the first administrator: .venv/bin/python manage.py createsuperuser, then add a school in /admin/.")
    return [*lines, *demo.models_in_use(), "Stop with Ctrl-C."]
