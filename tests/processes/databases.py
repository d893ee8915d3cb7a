"""A database for real processes: a file, or a new one on the PostgreSQL of DATABASE_URL."""

import atexit
import functools
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Protocol

import psycopg

ROOT = Path(__file__).resolve().parents[2]


class Database(Protocol):
    url: str

    def copy(self, folder: Path) -> "Database":
        """Another database with the same rows, while nobody works in this one."""

    def count(self, table: str) -> int:
        """The rows of a table, without starting a process."""


class SqliteFile:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "db.sqlite3"
        self.url = f"sqlite:///{self.path}"

    def copy(self, folder: Path) -> "SqliteFile":
        other = SqliteFile(folder)
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(other.path)) as target:
            source.backup(target)
        return other

    def count(self, table: str) -> int:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)) as database:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


class PostgresDatabase:
    def __init__(self, server_url: str, template: str = "template1") -> None:
        name = f"processes_{secrets.token_hex(6)}"
        self.name, self.server_url = name, server_url
        self.url = f"{server_url.rpartition('/')[0]}/{name}"
        with psycopg.connect(server_url, autocommit=True) as server:
            server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')

    def copy(self, folder: Path) -> "PostgresDatabase":
        return PostgresDatabase(self.server_url, self.name)

    def count(self, table: str) -> int:
        with psycopg.connect(self.url) as database:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@functools.cache
def migrated(server_url: str = "") -> Database:
    """An empty database of the present state, to copy: making one takes as long as all else of a start. Without a server a file."""
    folder = Path(tempfile.mkdtemp(prefix="migrated-"))
    atexit.register(shutil.rmtree, folder)
    database = PostgresDatabase(server_url) if server_url else SqliteFile(folder / "database")
    own = {"DATA_DIR": str(folder), "DATABASE_URL": database.url, "DJANGO_SETTINGS_MODULE": "memoryapp.settings", "SECRET_KEY": "any"}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=os.environ | own, check=True)
    return database


def new_database(folder: Path) -> Database:
    """With all tables; PostgreSQL's where DATABASE_URL is one."""
    server = os.environ.get("DATABASE_URL", "")
    return migrated(server if server.startswith("postgres") else "").copy(folder)
