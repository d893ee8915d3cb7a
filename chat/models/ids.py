"""Text keys: a prefix that says what it is, and 100 random bits."""

import secrets
from functools import partial

from django.db import models

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"  # 5 bits a character


def new_id(prefix: str) -> str:
    """Makes a key such as `th_` and 20 characters (DESIGN §2)."""
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(20))}"


def id_field(prefix: str) -> "models.CharField[str, str]":
    """A primary key made by `new_id`."""
    return models.CharField(primary_key=True, max_length=40, default=partial(new_id, prefix), editable=False)
