from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from chat.memory.backends.base import BackendError
from chat.memory.external.start import words_for
from chat.server import serve
from chat.supervisor import StartRefused, end_with_parent


class Command(BaseCommand):
    help = "Serves the pages, the API and the sockets."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=settings.PORT, help="port to listen on (PORT); 0 takes a free one and prints it")
        parser.add_argument("--parent-pipe", type=int, help="used by `up`: a pipe whose end means that the parent is gone")

    def handle(self, *, host: str, port: int, parent_pipe: int | None, **_options: object) -> None:
        if parent_pipe is not None:
            end_with_parent(parent_pipe)
        try:
            failure = serve(host, port)
        except BackendError as error:
            raise StartRefused(words_for(error)) from None
        if failure:
            raise StartRefused(f"Cannot listen on {host}:{port}: {failure}")
