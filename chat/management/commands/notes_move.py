"""Brings notes into the storage that is in use."""

from django.core.management.base import BaseCommand, CommandError

from chat.memory.notes.moving import move
from chat.memory.notes.survey import where


class Command(BaseCommand):
    help = "Brings the notes that lie in the other storage into the one of NOTES_STORAGE. Nothing is replaced; the log stays as it is."

    def handle(self, **options: object) -> None:
        told = move()
        self.stdout.write(f"{told.moved} texts are now {where()}")
        for name, reason in told.left:
            self.stdout.write(f"left: {name}, for {reason}")
        if told.left:
            raise CommandError(f"{len(told.left)} texts were left where they are")
