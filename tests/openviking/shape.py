"""What an answer is made of: keys and types, without its values."""

from typing import Any


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value[:1]]
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, int | float) else "text"


def unlike(one: Any, other: Any, at: str = "") -> list[str]:
    """Where two shapes differ; an empty list and a null fit everything of their place."""
    if "NoneType" in (one, other) and not isinstance(one, dict) | isinstance(other, dict):
        return []
    if one == "NoneType" or other == "NoneType" or one == [] or other == []:
        return []
    if isinstance(one, dict) and isinstance(other, dict):
        found = [f"{at}.{key}" for key in one.keys() ^ other.keys()]
        return found + [place for key in one.keys() & other.keys() for place in unlike(one[key], other[key], f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list):
        return unlike(one[0], other[0], f"{at}[]")
    return [] if one == other else [f"{at}: {one} / {other}"]
