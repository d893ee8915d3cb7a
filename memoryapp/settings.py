"""Settings, all from the environment; the README has one table of them."""

import os
import secrets
from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent


def positive_int(name: str, default: int) -> int:
    """Reads a whole number of at least 1; raises ImproperlyConfigured that names the variable."""
    raw = env.str(name, default=str(default))
    if not raw.isdecimal() or int(raw) < 1:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least 1, not {raw!r}.")
    return int(raw)


def one_of(name: str, choices: tuple[str, ...], value: str) -> str:
    """Gives the value back; raises ImproperlyConfigured that names the variable when it is none of the choices."""
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be {' or '.join(choices)}, not {value!r}.")
    return value


def secret_key(path: Path) -> str:
    """Reads the key from `path`, or makes one there, readable by its owner only."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / "data"))).resolve()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or secret_key(DATA_DIR / "secret_key")
HOST = env.str("HOST", default="127.0.0.1")
PORT = positive_int("PORT", 8000)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# Behind a proxy that ends TLS: cookies are then sent over HTTPS only.
HTTPS = env.bool("HTTPS", default=False)
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS if HTTPS and host != "*"]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "axes",
    "csp",
    "chat",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "chat.middleware.HeadersMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "chat.middleware.PreferenceMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "memoryapp.urls"
ASGI_APPLICATION = "memoryapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chat.context.page",
            ],
        },
    },
]

# SQLite in WAL mode with IMMEDIATE transactions: a writer waits instead of failing.
DATABASE_URL = env.str("DATABASE_URL", default="")
DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'db.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        # 8 MB of pages a connection: a read of recall goes through many rows of the index.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8000;",
    }
    # A thread of the pool keeps its connection: opening one costs as much as a hop's queries (a sixth of the CPU of a chat).
    DATABASES["default"]["CONN_MAX_AGE"] = None
else:
    from memoryapp.postgres import PooledConnection  # SQLite alone needs no psycopg

    POOL = {"min_size": 1, "max_size": 20, "timeout": 20, "connection_class": PooledConnection}
    # Plans of prepared queries (chat.models.reading; Django's own are not) serve for all values.
    KEPT_PLANS = {"options": "-c plan_cache_mode=force_generic_plan"}
    DATABASES["default"]["OPTIONS"] = KEPT_PLANS | DATABASES["default"].get("OPTIONS", {}) | {"pool": POOL}
    DATABASES["default"]["CONN_MAX_AGE"] = 0  # the pool keeps connections; Django must give them back
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True  # after a restart of the server the pool holds dead ones
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # The layer waits up to 5 s for a message; redis-py's own limit of a read is 5 s too, and would break each idle wait.
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 15, "socket_connect_timeout": 5}]},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/accounts/login/"
AXES_FAILURE_LIMIT = positive_int("LOGIN_FAILURE_LIMIT", 10)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address"]
AXES_VERBOSE = False
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True  # failed attempts are enough; who was here when, from where, is nobody's business
AXES_ENABLE_ADMIN = False

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024  # DESIGN §6: bodies over 1 MiB are refused

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "chat" / "locale"]
TIME_ZONE = env.str("TIME_ZONE", default="Asia/Shanghai")
USE_I18N = USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG

# Chat
TESTING = False
MEMORY_LAYERS = [
    "chat.memory.layers.core.CoreLayer",
    "chat.memory.layers.thread.ThreadLayer",
    "chat.memory.layers.knowledge.KnowledgeLayer",
    "chat.memory.layers.recall.RecallLayer",
    "chat.memory.layers.external.ExternalLayer",
    "chat.memory.layers.notes.NotesLayer",
]
MEMORY_MANAGER = env.str("MEMORY_MANAGER", default="builtin")
MEMORY_BACKEND_CONFIG = env.str("MEMORY_BACKEND_CONFIG", default="")
MEMORY_MANAGER_PER_AGENT = env.bool("MEMORY_MANAGER_PER_AGENT", default=False)
RUNS_PER_MINUTE = positive_int("RUNS_PER_MINUTE", 30)
INPUT_MAX_CHARS = positive_int("INPUT_MAX_CHARS", 200_000)
HEARTBEAT_STALE_SECONDS = positive_int("HEARTBEAT_STALE_SECONDS", 15)
LEASE_SECONDS = positive_int("LEASE_SECONDS", 60)
WORKER_POLL_SECONDS = 0.1
LEDGER_KEEP_DAYS = positive_int("LEDGER_KEEP_DAYS", 365)
DOCUMENT_MAX_MB = positive_int("DOCUMENT_MAX_MB", 20)
DOCUMENTS_MAX = positive_int("DOCUMENTS_MAX", 500)
SCHOOL_DOCUMENTS_MAX_MB = positive_int("SCHOOL_DOCUMENTS_MAX_MB", 2_000)
NOTES_STORAGE = one_of("NOTES_STORAGE", ("files", "database"), env.str("NOTES_STORAGE", default="files"))
NOTES_MEMORY_CHARS = positive_int("NOTES_MEMORY_CHARS", 2_200)
NOTES_USER_CHARS = positive_int("NOTES_USER_CHARS", 1_375)
NOTES_LOCK_SECONDS = positive_int("NOTES_LOCK_SECONDS", 5)
REQUEST_MAX_BYTES = (5 * DOCUMENT_MAX_MB + 1) * 1024 * 1024  # some documents at once; anything larger is refused before it has come in
TIKTOKEN_DIR = DATA_DIR / "tiktoken"
DEMO = env.bool("DEMO", default=True)
DEMO_PASSWORD = env.str("DEMO_PASSWORD", default="")
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
OPENAI_MODEL = env.str("OPENAI_MODEL", default="")
OLLAMA_URL = env.str("OLLAMA_URL", default="")
OLLAMA_MODEL = env.str("OLLAMA_MODEL", default="")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    "loggers": {
        "chat": {"level": env.str("LOG_LEVEL", default="INFO")},
        # httpx logs whole addresses at INFO; an address can hold a key.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},  # at DEBUG it logs the headers of answers
    },
}
