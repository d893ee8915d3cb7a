"""`python -m tests.openviking_server PORT FILE EXTRACTION_SECONDS LATE_SECONDS`: listens until it is killed."""

import sys
import threading
from pathlib import Path

from tests.openviking_server.server import Server

port, file, extraction, late = sys.argv[1:]
with Server(port=int(port), path=Path(file), extraction_seconds=float(extraction), late_seconds=float(late)):
    threading.Event().wait()
