from django.core.management.base import BaseCommand, CommandError

from chat import diagnosis


class Command(BaseCommand):
    help = "Looks whether everything works, and says what to do where it does not. Ends with code 1 when something is wrong."
    requires_system_checks: list[str] = []

    def handle(self, **_options: object) -> None:
        wrong = 0
        for finding in diagnosis.findings():
            wrong += not finding.is_good
            mark = "note " if finding.is_note else "ok   " if finding.is_good else "wrong"
            self.stdout.write(f"{mark} {finding.subject}: {finding.text}", self.style.SUCCESS if finding.is_good else self.style.ERROR)
        if wrong:
            raise CommandError(f"{wrong} {'thing is' if wrong == 1 else 'things are'} wrong.")
