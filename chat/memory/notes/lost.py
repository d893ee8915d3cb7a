"""Folders of notes whose teacher, school or assistant is gone: rows go with them, files do not by themselves.

A database that knows none of the schools that have folders is not the one these notes belong to (another DATABASE_URL beside the
same DATA_DIR, for example). Then nothing is removed.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.contrib.auth import get_user_model

from chat.memory.notes.files import GONE, forget, root
from chat.models import Agent, Tenant

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
AT_ONCE: Final = 500


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
    """Removes the folders of those who are gone, and what is left of removed ones; returns how many."""
    schools = list(_folders(root()))
    known = _known(schools, lambda names: Tenant.objects.filter(pk__in=names).values_list("pk", flat=True))
    if not known:
        return 0
    lost = [school for school in schools if school not in known]
    teachers = [teacher for school in known for teacher in _folders(school)]
    users = get_user_model().objects
    alive = _known(teachers, lambda names: users.filter(pk__in=[name for name in names if name.isdecimal()]).values_list("pk", flat=True))
    lost += [teacher for teacher in teachers if teacher not in alive]
    assistants = [assistant for teacher in alive for assistant in _folders(teacher)]
    used = _known(assistants, lambda names: Agent.objects.filter(pk__in=names).values_list("pk", flat=True))
    lost += [assistant for assistant in assistants if assistant not in used]
    for folder in lost:
        forget(folder)
    if lost:
        log.info("Removed %d folders of notes whose owner is gone", len(lost))
    return len(lost)


def _folders(parent: Path) -> Iterator[Path]:
    """The folders below, without symbolic links; what a removal has left is removed on the way."""
    if not parent.is_dir():
        return
    for path in sorted(parent.iterdir()):
        if path.is_symlink() or not path.is_dir():
            continue
        if path.name.startswith(GONE):
            shutil.rmtree(path, ignore_errors=True)
        else:
            yield path


def _known(folders: list[Path], ask: Callable[[list[str]], Iterable[object]]) -> set[Path]:
    found: set[str] = set()
    names = sorted({folder.name for folder in folders})
    for start in range(0, len(names), AT_ONCE):
        found |= {str(key) for key in ask(names[start : start + AT_ONCE])}
    return {folder for folder in folders if folder.name in found}
