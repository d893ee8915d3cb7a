from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.models import ApiToken


class Command(BaseCommand):
    help = "Makes a bearer token of the JSON API and prints it, this once. Only its hash is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="name of the user whose rights the token has")
        parser.add_argument("--name", default="", help="what it is for, to tell it from others")
        parser.add_argument("--revoke", metavar="ID", help="make no token, and end this one at once")

    def handle(self, *, user: str, name: str, revoke: str | None, **_options: object) -> None:
        owner = User.objects.filter(username=user).first()
        if owner is None:
            raise CommandError(f"There is no user {user!r}.")
        if revoke is not None:
            if not ApiToken.objects.for_user(owner).filter(pk=revoke, revoked_at=None).update(revoked_at=timezone.now()):
                raise CommandError(f"{user} has no usable token {revoke!r}.")
            self.stdout.write(f"Revoked {revoke}.")
            return
        if not owner.is_active:
            raise CommandError(f"The user {user!r} is not active, so a token would not work.")
        token, text = ApiToken.objects.issue(owner, name[:100])
        self.stdout.write(text)
        self.stderr.write(f"Token {token.pk} of {user}; it is shown only now. End it with: manage.py api_token {user} --revoke {token.pk}")
