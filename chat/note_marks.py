"""Note marks: at the head of a conversation, that its notes changed since it began, and that its assistant does not know the teacher.

Looked up when a page is shown and when something of the user changed, never when a message is sent.
"""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser

from chat.memory.notes import guide, snapshot, store
from chat.memory.notes.base import Place
from chat.models import Agent, NoteSnapshot, NoteTarget, Owner, Run, Thread


@dataclass(frozen=True, slots=True)
class NoteMarks:
    """`has_changed`: the notes are no longer as this conversation knows them. `is_refreshed`: they were read again since its last message.

    `has_guide`: the assistant does not know the teacher, so the card asks for a few words.
    """

    has_changed: bool = False
    is_refreshed: bool = False
    has_guide: bool = False


NONE = NoteMarks()


def note_marks(user: AbstractBaseUser, agent: Agent, thread: Thread | None, *, has_memory: bool) -> NoteMarks:
    """The marks of a conversation, which comes with its snapshot, or of a new one with the assistant; none of one without memory."""
    if not has_memory:
        return NONE
    owner = Owner(agent.tenant_id, user.pk, agent.pk)
    if thread is None:
        return NoteMarks(has_guide=is_unknown(owner))
    frozen: NoteSnapshot | None = getattr(thread, "note_snapshot", None)
    if frozen is None:
        return NONE
    has_changed = snapshot.has_changed(thread)
    return NoteMarks(
        has_changed=has_changed,
        is_refreshed=not has_changed and _is_refreshed(frozen),
        has_guide=frozen.has_guide and not frozen.is_guide_skipped and is_unknown(owner),
    )


def is_unknown(owner: Owner) -> bool:
    """Whether nothing stands in USER.md."""
    return guide.is_wanted(store.look(Place(owner, NoteTarget.USER)))


def _is_refreshed(frozen: NoteSnapshot) -> bool:
    if frozen.refreshed_at is None:
        return False
    last = Run.objects.filter(thread_id=frozen.thread_id).order_by("-position").values_list("created_at", flat=True).first()
    return last is not None and frozen.refreshed_at > last
