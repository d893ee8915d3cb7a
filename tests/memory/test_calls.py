"""The one loop of synchronous code, and what ends with it."""

import asyncio

import pytest

from chat.memory import calls


@pytest.fixture(autouse=True)
def without_a_loop():
    calls.close()
    yield
    calls.close()


async def loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_what_is_to_end_first_ends_on_the_same_loop():
    here, seen = calls.call(loop()), []

    async def end() -> None:
        seen.append(asyncio.get_running_loop())

    calls.close(end)
    assert seen == [here]
    assert here.is_closed()
    assert calls.call(loop()) is not here


def test_what_fails_to_end_leaves_no_loop_open():
    here = calls.call(loop())

    async def end() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        calls.close(end)
    assert here.is_closed()


def test_nothing_is_to_end_where_nothing_was_called():
    async def end() -> None:
        raise AssertionError

    calls.close(end)
