"""A school with documents: files that stand in the index as a reading leaves them, without a worker."""

from django.contrib.auth.models import User

from chat.memory.knowledge import keep
from chat.models import Agent, Document, Owner
from tests import builders


class Holding:
    """A lease that nobody takes away."""

    def renew(self) -> None:
        """Always granted."""


def owner_of(user: User) -> Owner:
    return Owner(builders.school_of(user).pk, user.pk)


def waiting(
    user: User, agents: list[Agent] | None = None, *, name: str = "格式.md", text: str = "每题五分。", is_school: bool = False
) -> Document:
    """A document as it was uploaded."""
    agent_ids = [agent.pk for agent in agents or []]
    return keep.add_document(owner_of(user), name=name, data=text.encode(), agent_ids=agent_ids, is_school=is_school)
