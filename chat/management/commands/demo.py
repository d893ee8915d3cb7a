from django.core.management.base import BaseCommand

from chat import demo


class Command(BaseCommand):
    help = "Loads the demo schools, or brings their model up to the environment. What people changed stays."

    def handle(self, **_options: object) -> None:
        for line in [*demo.load().lines(), *demo.models_in_use()]:
            self.stdout.write(line)
