"""Stop: from any tab, any process."""

from django.contrib.auth.models import AbstractBaseUser


async def stop(user: AbstractBaseUser, run_id: str) -> bool:
    """Asks the run to stop; false when the user has no such run. A run that has ended stays as it is.

    A run of this process stops at once; one of another process within a second, by its beat.
    """
    raise NotImplementedError
