"""Stop: from any tab, any process."""

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat.models import Run
from chat.runs import live
from chat.runs.bridge import hop


async def stop(user: AbstractBaseUser, run_id: str) -> bool:
    """Asks the run to stop; false when the user has no such run. A run that has ended stays as it is.

    A run of this process stops at once; one of another process within a second, by that process's beat.
    """
    going = live.get(run_id)
    if going is not None and going.run.user_id == user.pk:
        going.cancel("stop")  # at once, also while the database is slow
    if not await hop(_mark, user, run_id):
        return False
    going = live.get(run_id)
    if going is not None:
        going.cancel("stop")
    return True


def _mark(user: AbstractBaseUser, run_id: str) -> bool:
    runs = Run.objects.for_user(user).filter(pk=run_id)
    marked = Run.objects.going().filter(pk__in=runs.values("pk"), stop_requested_at=None).update(stop_requested_at=timezone.now())
    return bool(marked) or runs.exists()
