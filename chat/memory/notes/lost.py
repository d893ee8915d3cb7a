"""Folders of notes whose teacher, school or assistant is gone: rows go with them, files do not by themselves.

Who is deleted here takes their folder along at once. A folder whose owner the database merely does not know is put aside: it may
be that an older copy of the database was restored, and the right one comes back. Then so does the folder; after ASIDE_KEPT it is
removed. A database that knows none of the schools that have folders is not the one these notes belong to (another DATABASE_URL
beside the same DATA_DIR, for example). Then nothing is done.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import post_delete

from chat.memory.notes.aside import ASIDE, NAME, bring_back
from chat.memory.notes.files import GONE, forget, root
from chat.models import Agent, Tenant

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
AT_ONCE: Final = 500
ASIDE_KEPT: Final = timedelta(days=30)
_told: Final[set[Path]] = set()


@dataclass(slots=True)
class LostFolders:
    """Looks about once in LOOK_SECONDS, however often it is asked."""

    _looked_at: float = float("-inf")

    def sweep(self) -> int:
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return 0
        self._looked_at = time.monotonic()
        return forget_lost()


def forget_lost() -> int:
    """Puts aside the folders of those whom the database does not know, and removes what is left of removed ones; returns how many.

    What has been put aside comes back when its owner is known again, and goes when its time is over.
    """
    schools = list(_folders(root()))
    known = _known(schools, _schools)
    if not known:
        return 0
    lost = [school for school in schools if school not in known]
    teachers = [teacher for school in known for teacher in _folders(school)]
    alive = _known(teachers, _teachers)
    lost += [teacher for teacher in teachers if teacher not in alive]
    assistants = [assistant for teacher in alive for assistant in _folders(teacher)]
    used = _known(assistants, _assistants)
    lost += [assistant for assistant in assistants if assistant not in used]
    moved = sum(_tried(_put_aside, folder) for folder in lost)
    for parents, ask in (([root()], _schools), (known, _teachers), (alive, _assistants)):
        moved += _look_at_put_aside(parents, ask)
    return moved


def put_aside() -> int:
    """How many folders are put aside, for `doctor`."""
    return sum(1 for depth in ("", "*/", "*/*/") for path in root().glob(f"{depth}{ASIDE}*") if path.is_dir())


def forget_files(sender: type[Model], instance: Any, **_more: object) -> None:  # noqa: ANN401  a row of that model
    """Removes the folders of a school, a teacher or an assistant that was deleted, once that is sure."""
    patterns = {Tenant: "{0}", get_user_model(): "*/{0}", Agent: "*/*/{0}"}
    for folder in root().glob(patterns[sender].format(instance.pk)):
        transaction.on_commit(partial(_tried, forget, folder), robust=True)


for _model in (Tenant, get_user_model(), Agent):
    post_delete.connect(forget_files, sender=_model, dispatch_uid="notes_of_the_deleted")


def _schools(names: list[str]) -> Iterable[object]:
    return Tenant.objects.filter(pk__in=names).values_list("pk", flat=True)


def _teachers(names: list[str]) -> Iterable[object]:
    return get_user_model().objects.filter(pk__in=[name for name in names if name.isdecimal()]).values_list("pk", flat=True)


def _assistants(names: list[str]) -> Iterable[object]:
    return Agent.objects.filter(pk__in=names).values_list("pk", flat=True)


def _folders(parent: Path) -> Iterator[Path]:
    """The folders below, without symbolic links and what was put aside; what a removal has left is removed on the way."""
    for path in _below(parent):
        if path.name.startswith(GONE):
            shutil.rmtree(path, ignore_errors=True)
        elif not path.name.startswith(ASIDE):
            yield path


def _below(parent: Path) -> list[Path]:
    found: list[Path] = []
    _tried(lambda folder: found.extend(path for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink()), parent)
    return found


def _put_aside(folder: Path) -> None:
    folder.rename(folder.with_name(f"{ASIDE}{int(time.time())}-{folder.name}"))
    log.warning("Notes in %s belong to nobody in this database. They are put aside, and removed in %d days", folder.name, ASIDE_KEPT.days)


def _look_at_put_aside(parents: Iterable[Path], ask: Callable[[list[str]], Iterable[object]]) -> int:
    found = [(path, match) for parent in parents for path in _below(parent) if (match := NAME.fullmatch(path.name))]
    homes = {path: path.with_name(match["name"]) for path, match in found}
    known = _known(list(homes.values()), ask) if homes else set()
    moved = 0
    for path, match in found:
        if homes[path] in known and _tried(partial(_bring_back, homes[path]), path):
            moved += 1
        elif time.time() - int(match["at"]) > ASIDE_KEPT.total_seconds():
            moved += _tried(forget, path)
    return moved


def _bring_back(home: Path, path: Path) -> None:
    if not bring_back(path, home):
        raise FileNotFoundError  # there is another text by now
    log.warning("Notes in %s have their owner again", home.name)


def _tried(action: Callable[[Path], object], folder: Path) -> bool:
    """Does it to one folder. One that is not ours to touch holds up no other, and is told of once."""
    try:
        action(folder)
    except FileNotFoundError:  # another worker was faster
        return False
    except OSError as error:
        if folder not in _told:
            _told.add(folder)
            log.warning("The folder of notes %s cannot be looked after (%s)", folder.name, type(error).__name__)
        return False
    return True


def _known(folders: list[Path], ask: Callable[[list[str]], Iterable[object]]) -> set[Path]:
    found: set[str] = set()
    names = sorted({folder.name for folder in folders})
    for start in range(0, len(names), AT_ONCE):
        found |= {str(key) for key in ask(names[start : start + AT_ONCE])}
    return {folder for folder in folders if folder.name in found}
