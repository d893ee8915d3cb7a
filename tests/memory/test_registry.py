"""Which layers work: recall and a memory backend outside stand in the place of each other."""

import pytest

from chat.memory.registry import layers, working

ALL = {"core", "thread", "knowledge", "notes", "recall", "external"}


@pytest.mark.parametrize(
    ("has_memory", "backend", "names"),
    [
        (True, "", ALL - {"external"}),
        (True, "openviking", ALL - {"recall"}),
        (True, "noop", ALL - {"recall"}),
        (False, "", {"thread"}),
        (False, "openviking", {"thread"}),
    ],
)
def test_of_the_two_one_stands_back(has_memory, backend, names):
    assert {layer.name for layer in working(layers(), has_memory=has_memory, backend=backend)} == names
