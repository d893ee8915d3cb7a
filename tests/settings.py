"""The product's settings with a data folder of the test run's own."""

import os
import tempfile
from pathlib import Path

_data = os.environ.get("TEST_DATA_DIR") or tempfile.mkdtemp(prefix="chat-test-")
os.environ["DATA_DIR"] = _data
os.environ.setdefault("SECRET_KEY", "only-for-tests")
for _name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OLLAMA_URL", "OLLAMA_MODEL"):
    os.environ.pop(_name, None)

from chat.catalogues import compile_catalogues  # noqa: E402
from memoryapp.settings import *  # noqa: E402, F403
from memoryapp.settings import LOCALE_PATHS  # noqa: E402

# Pages speak Chinese in the tests too, whether or not `make setup` ran since the last translation. Django reads the
# catalogue when it loads the models, so this cannot wait for a fixture.
for _folder in LOCALE_PATHS:
    compile_catalogues(_folder)

TESTING = True
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
os.environ["DEMO_DELAY_SECONDS"] = "0"  # the demo provider reads it
# The ranks that `make setup` fetched, if it did: the tests must pass without them too.
TIKTOKEN_DIR = Path(os.environ.get("TIKTOKEN_DIR") or Path(__file__).resolve().parent.parent / "data" / "tiktoken")

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405
    # A file, as in the product: in memory all connections share one cache, where a reader is refused at once instead of waiting.
    DATABASES["default"]["TEST"] = {"NAME": str(Path(_data) / "test.sqlite3")}  # noqa: F405
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"  # noqa: F405
