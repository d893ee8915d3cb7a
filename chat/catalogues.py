"""Translations: turns the catalogues (.po, kept in git) into what gettext reads (.mo, made on each machine).

Babel does it without the gettext programs, which a fresh machine does not have.
"""

import os
import tempfile
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


def compile_catalogues(folder: Path) -> list[Path]:
    """Compiles every catalogue below `folder` that is newer than its result; returns the files written.

    Each file is replaced at once, so that processes that start together do not read half of one.
    """
    return [_compile(source) for source in sorted(folder.rglob("*.po")) if _is_stale(source)]


def _is_stale(source: Path) -> bool:
    result = source.with_suffix(".mo")
    return not result.exists() or result.stat().st_mtime < source.stat().st_mtime


def _compile(source: Path) -> Path:
    with source.open("rb") as file:
        catalogue = read_po(file)
    result = source.with_suffix(".mo")
    handle, temporary = tempfile.mkstemp(dir=source.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        write_mo(file, catalogue)
    Path(temporary).chmod(0o644)  # made by one account, read by that of the service
    Path(temporary).replace(result)
    return result
