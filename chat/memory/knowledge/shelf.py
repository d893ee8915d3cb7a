"""What an assistant can look up for a teacher."""

from dataclasses import dataclass

from chat.models import Document, Owner


@dataclass(frozen=True, slots=True)
class Documents:
    """The ids of documents that answer: the teacher's own, and those of the school."""

    own: frozenset[str] = frozenset()
    school: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.own or self.school)


def documents_of(owner: Owner) -> Documents:
    """The current, ready documents that were chosen for the assistant of `owner`. One query."""
    documents = Document.objects.visible_to(owner).filter(agents=owner.agent_id, is_current=True, state=Document.State.READY)
    rows = list(documents.values_list("pk", "user_id"))
    own = frozenset(key for key, user_id in rows if user_id is not None)
    return Documents(own, frozenset(key for key, _ in rows) - own)
