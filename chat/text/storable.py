"""What a database can hold of a text that came from outside."""


def storable(text: str) -> str:
    """`text` without what a database cannot hold: no NUL, and a mark in place of each half of a broken pair."""
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
