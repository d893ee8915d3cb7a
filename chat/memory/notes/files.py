"""Notes as files: DATA_DIR/notes/<school>/<teacher>/USER.md and …/<teacher>/<assistant>/MEMORY.md (specs/notes_memory.md §1.9).

Folders are 0700 and files 0600; every name is opened below the folder before it, and no symbolic link is followed. A writer holds
an advisory lock on a file beside the text. It prepares the new text (`.new`) and its line in the log (`.op`), both on disk, then
renames the text into place, then keeps the line in the database and removes `.op`. Whoever comes after a crash finds `.op`: with
`.new` beside it nothing has happened, and both go; without it the text is in place, and the line is kept. So the log never says
what is not in the file, and no change is without its line, whatever else was edited by hand meanwhile.
"""

import errno
import fcntl
import logging
import os
import random
import re
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from django.conf import settings
from django.db import DatabaseError, DataError, connection, transaction

from chat.memory.notes import journal
from chat.memory.notes.aside import bring_back, lying_aside
from chat.memory.notes.base import Place
from chat.memory.notes.storage import (
    BACKUPS_KEPT,
    NAMES,
    READ_MOST_BYTES,
    SHORT_WAIT_SECONDS,
    Backup,
    Busy,
    NoOwner,
    Step,
    Unreadable,
    backup_name,
    long_wait,
)
from chat.models import NoteOp

log = logging.getLogger(__name__)
GONE: Final = ".gone-"  # begins the name of a folder that is being removed
_POLL_SECONDS: Final = (0.001, 0.02)
_ID: Final = re.compile(r"[A-Za-z0-9_]{1,40}")
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def root() -> Path:
    return Path(settings.DATA_DIR) / "notes"


class Files:
    """See chat.memory.notes.storage.Storage."""

    def read(self, place: Place) -> bytes:
        name = NAMES[place.target]
        with _folder(place) as folder:
            if folder is None:
                return b""
            # Within a transaction that may yet be undone the line could not be kept for sure.
            if _is_there(folder, f"{name}.op") and not connection.in_atomic_block:
                # The text is there for whoever reads it, also while nothing can be written.
                with suppress(Busy, NoOwner, Unreadable, OSError, DatabaseError), _locked(folder, name, wait_seconds=0):
                    _recover(folder, name)
            return _content(folder, name)

    def change(self, place: Place, step: Step) -> None:
        name = NAMES[place.target]
        with _made_folder(place) as folder, _locked(folder, name):
            _recover(folder, name)
            change = step(_content(folder, name))
            if change is not None:
                _replace(folder, name, change.content, change.op)

    @contextmanager
    def hold(self, place: Place) -> Iterator[None]:
        name = NAMES[place.target]
        with _made_folder(place) as folder, _locked(folder, name):
            _recover(folder, name)
            yield

    def put(self, place: Place, content: bytes) -> bool:
        name = NAMES[place.target]
        with _made_folder(place) as folder, _locked(folder, name):
            _recover(folder, name)
            if here := _content(folder, name):
                return here == content
            _put(folder, name, content)
            return True

    def hand_over(self, place: Place, take: Callable[[bytes], bool]) -> None:
        name = NAMES[place.target]
        with _folder(place) as folder:
            if folder is None:
                return
            with _locked(folder, name):
                _recover(folder, name)
                if (content := _content(folder, name)) and take(content):
                    _put(folder, name, b"")

    def open_text(self, place: Place) -> BinaryIO:
        return self._open(place, NAMES[place.target])

    def set_aside(self, place: Place) -> str:
        name = NAMES[place.target]
        with _made_folder(place) as folder, _locked(folder, name):
            _recover(folder, name)
            if not _is_there(folder, name):
                return ""
            aside = f"{name}.bak.{random.getrandbits(64):016x}"
            try:
                with suppress(PermissionError):
                    os.utime(name, dir_fd=folder, follow_symlinks=False)  # a backup's age is counted from now
                os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            except OSError as error:
                raise Unreadable from error
        return aside

    def keep_backup(self, place: Place, content: bytes) -> str:
        name = backup_name(place, content)
        with _made_folder(place) as folder, suppress(FileExistsError):
            _create(folder, name, content)
            for old in _backups(folder, place)[BACKUPS_KEPT:]:
                _remove(folder, old)
        return name

    def backups(self, place: Place) -> list[Backup]:
        with _folder(place) as folder:
            if folder is None:
                return []
            return [Backup(name, _time_of(folder, name)) for name in _backups(folder, place)]

    def open_backup(self, place: Place, name: str) -> BinaryIO:
        with _folder(place) as folder:
            if folder is None or name not in _backups(folder, place):
                raise Unreadable
        return self._open(place, name)

    def drop_backups(self, place: Place, names: Collection[str]) -> None:
        with _folder(place) as folder:
            if folder is None:
                return
            for name in _backups(folder, place):
                if name in names:
                    _remove(folder, name)

    @staticmethod
    def _open(place: Place, name: str) -> BinaryIO:
        with _folder(place) as folder:
            if folder is None:
                return BytesIO()
            try:
                return os.fdopen(_opened(folder, name), "rb")
            except FileNotFoundError:
                return BytesIO()

    def forget_owner(self, tenant_id: str, user_id: int) -> None:
        forget(root() / _id(tenant_id) / _id(user_id))


def forget(folder: Path) -> None:
    """Removes a folder with all in it. A writer who is at it fails, as its folder is gone."""
    gone = folder.with_name(f"{GONE}{folder.name}-{random.getrandbits(32):08x}")
    with suppress(FileNotFoundError):
        folder.rename(gone)
        for _ in range(3):  # a writer may just have made a file in it
            shutil.rmtree(gone, ignore_errors=True)


def _id(key: str | int | None) -> str:
    """A key as the name of a folder; raises NoOwner for what is none, so that no path can be made of it."""
    name = str(key) if key is not None else ""
    if not _ID.fullmatch(name):
        raise NoOwner
    return name


def _names(place: Place) -> list[str]:
    names = [_id(place.owner.tenant_id), _id(place.owner.user_id)]
    return names if place.target == "user" else [*names, _id(place.agent_id)]


@contextmanager
def _folder(place: Place, *, is_made: bool = False) -> Iterator[int | None]:
    """A descriptor of the store's folder, None when it is not there; raises Unreadable when something else is there."""
    names = _names(place)
    with ExitStack() as stack:
        try:
            here = _open_folder(stack, str(root()), None, is_made=is_made)
            for name in names:
                here = _open_folder(stack, name, here, is_made=is_made)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise Unreadable from error
        yield here


def is_aside(place: Place) -> bool:
    """Whether a folder of this store was put aside and may come back."""
    return any(lying_aside(home) for home in _homes(place))


def _homes(place: Place) -> list[Path]:
    """The folders in which the store lies, the outermost first."""
    folders = [root()]
    for name in _names(place):
        folders.append(folders[-1] / name)
    return folders[1:]


@contextmanager
def _made_folder(place: Place) -> Iterator[int]:
    homes = _homes(place)
    if not os.path.lexists(homes[-1] / NAMES[place.target]):
        for home in homes:
            with suppress(OSError):
                any(bring_back(path, home) for path in lying_aside(home))
    with _folder(place, is_made=True) as folder:
        if folder is None:  # it was removed this moment
            raise NoOwner
        yield folder


def _open_folder(stack: ExitStack, name: str, parent: int | None, *, is_made: bool) -> int:
    if is_made:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
    folder = os.open(name, _FOLDER, dir_fd=parent)
    stack.callback(os.close, folder)
    return folder


@contextmanager
def _locked(folder: int, name: str, *, wait_seconds: float | None = None) -> Iterator[None]:
    """Holds the advisory lock of the text; raises Busy. It is free again when its holder dies."""
    wait = settings.NOTES_LOCK_SECONDS if wait_seconds is None else wait_seconds
    try:
        lock = os.open(f"{name}.lock", _LOCK, 0o600, dir_fd=folder)
    except FileNotFoundError as error:  # the folder itself is gone
        raise NoOwner from error
    except OSError as error:
        raise Unreadable from error
    try:
        if not _is_taken(lock, min(wait, SHORT_WAIT_SECONDS)):
            if wait <= SHORT_WAIT_SECONDS:
                raise Busy
            with long_wait():
                if not _is_taken(lock, wait - SHORT_WAIT_SECONDS):
                    raise Busy
        yield
    finally:
        os.close(lock)


def _is_taken(lock: int, wait_seconds: float) -> bool:
    """Whether the lock could be had in that time."""
    end = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(random.uniform(*_POLL_SECONDS))


def _opened(folder: int, name: str) -> int:
    """A descriptor of the file; raises FileNotFoundError, and Unreadable for what is no file or cannot be opened."""
    try:
        file = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Unreadable
    return file


def _content(folder: int, name: str) -> bytes:
    try:
        file = _opened(folder, name)
    except FileNotFoundError:
        return b""
    with os.fdopen(file, "rb") as text:
        try:
            if os.fstat(file).st_size > READ_MOST_BYTES:
                raise Unreadable
            return text.read()
        except OSError as error:
            raise Unreadable from error


def _create(folder: int, name: str, content: bytes) -> None:
    with os.fdopen(os.open(name, _MAKE, 0o600, dir_fd=folder), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except OSError:  # half of it must not pass for the whole
            os.unlink(name, dir_fd=folder)
            raise


def _put(folder: int, name: str, content: bytes) -> None:
    _create(folder, f"{name}.new", content)
    os.rename(f"{name}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def _remove(folder: int, name: str) -> None:
    """Removes a file, a link, or whatever else lies there under that name."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):
            raise
        shutil.rmtree(name, dir_fd=folder)


def _replace(folder: int, name: str, content: bytes, op: NoteOp) -> None:
    """The order of the module's docstring. The names of what was prepared are on disk before the text is in place.

    Once it is, the write is done: what fails from then on is made up for by whoever comes next, as after a crash.
    """
    try:
        _create(folder, f"{name}.new", content)
        _create(folder, f"{name}.op", journal.to_json(op))
        os.fsync(folder)
        os.rename(f"{name}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:  # no room, for example: the text is as it was
        _withdraw(folder, name)
        raise
    try:
        os.fsync(folder)
        with transaction.atomic(durable=True):
            journal.keep(op)
        os.unlink(f"{name}.op", dir_fd=folder)
    except (OSError, DatabaseError) as error:
        log.warning("The line %s of the notes' log is kept later (%s)", op.pk, type(error).__name__)


def _withdraw(folder: int, name: str) -> None:
    """Removes what was prepared: first the line, for a line without the new text means that the text is in place."""
    with suppress(FileNotFoundError):
        os.unlink(f"{name}.op", dir_fd=folder)
        os.fsync(folder)
    with suppress(FileNotFoundError):
        os.unlink(f"{name}.new", dir_fd=folder)


def _recover(folder: int, name: str) -> None:
    """Ends what a writer that died has left; the lock is held."""
    if not _is_there(folder, f"{name}.op") or _is_there(folder, f"{name}.new"):
        _withdraw(folder, name)
        return
    try:
        op = journal.from_json(_content(folder, f"{name}.op"))
        with transaction.atomic(durable=True):
            journal.keep(op)
    except (ValueError, TypeError, Unreadable, DataError):  # not even a full disk gives this; the text stays, and somebody should know
        log.error("A prepared line of the notes' log cannot be read or kept; it is dropped")
    os.unlink(f"{name}.op", dir_fd=folder)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _time_of(folder: int, name: str) -> datetime:
    return datetime.fromtimestamp(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime, UTC)


def _backups(folder: int, place: Place) -> list[str]:
    """The names of the backups, the newest first."""
    names = [name for name in os.listdir(folder) if name.startswith(f"{NAMES[place.target]}.bak.")]
    return sorted(names, key=lambda name: (_time_of(folder, name), name), reverse=True)
