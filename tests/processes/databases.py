"""A database for real processes: a file, or a new one on the PostgreSQL of DATABASE_URL."""

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Protocol

import psycopg


class Database(Protocol):
    url: str

    def copy(self, folder: Path) -> "Database":
        """Another database with the same rows, while nobody works in this one."""

    def count(self, table: str) -> int:
        """The rows of a table, without starting a process."""


class SqliteFile:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
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


def new_database(folder: Path) -> Database:
    server = os.environ.get("DATABASE_URL", "")
    return PostgresDatabase(server) if server.startswith("postgres") else SqliteFile(folder)
