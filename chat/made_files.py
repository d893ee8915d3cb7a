"""Files that are made on each machine from what git keeps, and read by processes that may start at the same time."""

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Nobody reads half of a file: it is replaced at once."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(temporary).chmod(0o644)  # made by one account, read by that of the service
    Path(temporary).replace(path)
