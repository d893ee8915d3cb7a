"""The frame in which notes stand in a system prompt (specs/notes_memory.md §1.10), for who writes it and who reads it.

Each block is a rule, its title, a rule, and the entries; a last rule closes the frame.
"""

from typing import Final

RULE: Final = "═" * 46
MEMORY_TITLE: Final = "MEMORY（我的笔记）"
USER_TITLE: Final = "USER PROFILE（用户画像）"
SEPARATOR: Final = "\n§\n"
GUIDE_MARK: Final = "（首次使用）"
SHORTCUT_MARK: Final = "“记住：”"


def blocks_in(prompt: str) -> dict[str, list[str]]:
    """The entries by the title of their block, as the frame in a system prompt tells them."""
    parts = f"\n{prompt}\n".split(f"\n{RULE}\n")[1:]
    found: dict[str, list[str]] = {}
    for header, body in zip(parts[::2], parts[1::2], strict=False):
        title = next((one for one in (MEMORY_TITLE, USER_TITLE) if header.startswith(one)), "")
        if title:
            found[title] = body.strip("\n").split(SEPARATOR)
    return found
