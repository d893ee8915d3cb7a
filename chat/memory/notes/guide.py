"""The first-use guide: while USER.md is empty, a new thread asks who the teacher is (DESIGN §5 Notes, instead of spec §1.12).

It is decided with the snapshot and frozen with it, so that the bytes of a thread stay the same; its words bind the model to the
first answer. "Skip" hides the card of the page in this thread and changes no prompt.
"""

from typing import Final

from chat.memory.notes.base import Live
from chat.models import NoteSnapshot, Thread
from chat.text.note_frame import GUIDE_MARK

GUIDE: Final = (
    f"{GUIDE_MARK}还不了解这位老师：USER.md 是空的。只在本会话的第一次回答里：先回答老师的问题，再用一两句话介绍自己，"
    "并询问怎样称呼、教什么学科和年级、喜欢怎样的回答。老师说“跳过”或不回应，就不再问。老师说了以后，能用 memory_add 时记到 user。"
)


def is_wanted(profile: Live) -> bool:
    """Whether USER.md can be read and says nothing of the teacher."""
    return not profile.trouble and not profile.entries


def skip(thread: Thread) -> bool:
    """Hides the card in this thread; false when it has none. The next thread asks again."""
    rows = NoteSnapshot.objects.filter(pk=thread.pk, has_guide=True, is_guide_skipped=False)
    return bool(rows.update(is_guide_skipped=True))
