"""A school with documents, read in the test's own process."""

from django.contrib.auth.models import User

from chat.memory.knowledge import keep
from chat.memory.knowledge.find import find
from chat.memory.knowledge.reading import read_document
from chat.memory.knowledge.shelf import documents_of
from chat.models import Agent, Document, Owner, Passage
from chat.search.query import Question
from tests import builders


class Holding:
    """A lease that nobody takes away."""

    def renew(self) -> None:
        """Always granted."""


def owner_of(user: User, agent: Agent | None = None) -> Owner:
    return Owner(builders.school_of(user).pk, user.pk, agent.pk if agent else None)


def waiting(
    user: User, agents: list[Agent] | None = None, *, name: str = "格式.md", text: str = "每题五分。", is_school: bool = False
) -> Document:
    """A document as it was uploaded."""
    agent_ids = [agent.pk for agent in agents or []]
    return keep.add_document(owner_of(user), name=name, data=text.encode(), agent_ids=agent_ids, is_school=is_school)


def ready(user: User, agents: list[Agent], text: str, *, name: str = "格式.md", is_school: bool = False) -> Document:
    """A document that answers."""
    document = waiting(user, agents, name=name, text=text, is_school=is_school)
    read_document(document.pk, Holding())
    document.refresh_from_db()
    return document


def found_by(user: User, agent: Agent, question: str, most: int = 5) -> list[Passage]:
    owner = owner_of(user, agent)
    return [one.passage for one in find(owner, documents_of(owner), Question(question), most).kept]


def book(chapters: int) -> str:
    """Markdown of which each chapter is a passage or more."""
    line = "试卷的密封线在左侧，卷头写明学校、年级与学科，选择题每题三分，"
    return "\n\n".join(f"# 第{n}条\n\n第{n}条规定：{line * 12}第{n}条完。" for n in range(1, chapters + 1))
