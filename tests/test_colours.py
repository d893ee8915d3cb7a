"""Contrast of the colours (WCAG 2.2, 1.4.3 and 1.4.11), for both themes."""

import re
from itertools import product
from pathlib import Path

import pytest

TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);",
        (Path(__file__).resolve().parents[1] / "static" / "css" / "variables.css").read_text(),
    )
}
PAPERS = ("paper", "surface", "surface-quiet")
TEXTS = [
    *product(("ink", "ink-quiet", "accent", "accent-strong", "warn", "danger", "good"), PAPERS),
    *product(("ink",), ("accent-soft", "warn-soft", "danger-soft", "good-soft")),
    ("accent-ink", "accent"),
    ("accent-ink", "accent-strong"),
    ("accent", "accent-soft"),
    ("warn", "warn-soft"),
    ("danger", "danger-soft"),
    ("good", "good-soft"),
]
MARKS = list(product(("line-strong", "accent"), ("paper", "surface")))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str, theme: int) -> float:
    dark, light = sorted(luminance(TOKENS[name][theme]) for name in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "paper"), TEXTS)
def test_text_stands_out_from_its_paper(text, paper, theme):
    assert contrast(text, paper, theme) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("mark", "paper"), MARKS)
def test_marks_and_borders_of_controls_stand_out(mark, paper, theme):
    assert contrast(mark, paper, theme) >= 3
