"""Folders of notes that were put aside, as their owner was not known, and how they come back."""

import fcntl
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

ASIDE: Final = ".lost-"  # begins the name of a folder that was put aside, before the second when that was
NAME: Final = re.compile(rf"{re.escape(ASIDE)}(?P<at>\d{{1,12}})-(?P<name>[A-Za-z0-9_]+)")


def lying_aside(home: Path) -> list[Path]:
    """What was put aside of this folder, the newest first."""
    try:
        found = [path for path in home.parent.iterdir() if (match := NAME.fullmatch(path.name)) and match["name"] == home.name]
    except OSError:
        return []
    return sorted((path for path in found if path.is_dir() and not path.is_symlink()), reverse=True)


def bring_back(path: Path, home: Path) -> bool:
    """Puts it in its place again, also over a folder that holds nothing; false when that holds something."""
    if home.exists():
        if not _is_empty(home):
            return False
        _clear(home)
    path.rename(home)  # onto a folder in which somebody has just made something this fails
    return True


def _is_empty(folder: Path) -> bool:
    """Whether nothing lies there but locks and empty texts."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            if path.name.startswith(ASIDE) or not _is_empty(path):
                return False
        elif path.suffix != ".lock" and path.lstat().st_size:
            return False
    return True


def _clear(folder: Path) -> None:
    """Removes what is empty. A lock that somebody holds stays, and with it the folder."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            _clear(path)
            path.rmdir()
        elif path.suffix == ".lock":
            with suppress(FileNotFoundError), path.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        elif not path.lstat().st_size:
            path.unlink()
