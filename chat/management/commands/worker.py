import signal
import threading

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.jobs.worker import Worker, worker_name
from chat.memory import calls
from chat.memory.backends.base import BackendError
from chat.memory.external import start
from chat.supervisor import StartRefused, end_with_parent
from chat.text import tokens
from chat.warmup import warm_up


class Command(BaseCommand):
    help = "Works in the background: keeps the memory of conversations up to date. Several workers may run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="end when nothing is due any more")
        parser.add_argument("--parent-pipe", type=int, help="used by `up`: a pipe whose end means that the parent is gone")

    def handle(self, *, once: bool, parent_pipe: int | None, **_options: object) -> None:
        if parent_pipe is not None:
            end_with_parent(parent_pipe)
        worker = Worker(worker_name())
        if once:
            tokens.load_ranks(settings.TIKTOKEN_DIR)
            put_off = worker.drain()
            if put_off:
                raise CommandError(
                    f"{put_off} rows of work were put off because something failed; their error codes are in the admin site."
                )
            return
        warm_up()
        try:
            calls.call(start.warm_up())
        except BackendError as error:
            raise StartRefused(start.words_for(error)) from None
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        worker.run(stop)
