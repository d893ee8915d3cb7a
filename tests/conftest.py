"""Set-up shared by all tests."""

import pytest
from django.conf import settings

from chat.text import tokens


@pytest.fixture(scope="session", autouse=True)
def token_ranks() -> None:
    """Counts exactly where the ranks are on disk, as the product does."""
    if (settings.TIKTOKEN_DIR / tokens.RANKS_NAME).is_file():
        tokens.load_ranks(settings.TIKTOKEN_DIR)
