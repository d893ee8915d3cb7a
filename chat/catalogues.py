"""Translations: turns the catalogues (.po, kept in git) into what gettext reads (.mo, made on each machine).

Babel does it without the gettext programs, which a fresh machine does not have.
"""

from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from chat.made_files import replace_file


def compile_catalogues(folder: Path) -> list[Path]:
    """Compiles every catalogue below `folder` that is newer than its result; returns the files written."""
    return [_compile(source) for source in sorted(folder.rglob("*.po")) if _is_stale(source)]


def _is_stale(source: Path) -> bool:
    result = source.with_suffix(".mo")
    return not result.exists() or result.stat().st_mtime < source.stat().st_mtime


def _compile(source: Path) -> Path:
    with source.open("rb") as file:
        catalogue = read_po(file)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    result = source.with_suffix(".mo")
    replace_file(result, compiled.getvalue())
    return result
