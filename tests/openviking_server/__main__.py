"""`python -m tests.openviking_server PORT FILE [EXTRACTION_SECONDS]`: listens until it is killed."""

import sys
import threading
from pathlib import Path

from tests.openviking_server.server import Server

port, file, *seconds = sys.argv[1:]
with Server(port=int(port), path=Path(file), extraction_seconds=float(seconds[0]) if seconds else 0.0):
    threading.Event().wait()
