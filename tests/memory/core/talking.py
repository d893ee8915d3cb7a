"""Conversations that teach something: a model that proposes, and the worker that lets it."""

import json
from collections.abc import Callable, Sequence

from django.contrib.auth.models import User

from chat.memory.catch_up import settle
from chat.memory.core.propose import Proposal, Proposed, propose
from chat.models import Candidate, Fact, Owner, Run, Thread
from chat.providers.base import Request
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, FreeLease, Reply, cloud_agent


def answer(*facts: str, **fields: object) -> str:
    """What a model answers that has found these facts."""
    return json.dumps([{"fact": fact, "kind": "preference", "confidence": 0.9} | fields for fact in facts], ensure_ascii=False)


class Learner(AnsweringProvider):
    """Answers extraction by a reply, or by a function of the teacher's words; everything else like AnsweringProvider."""

    def __init__(self, reply: Reply | Callable[[str], Reply] = "NONE") -> None:
        super().__init__(self._reply)
        self.reply = reply

    def _reply(self, request: Request) -> Reply:
        if request.purpose != "extraction":
            return "教师在备课。"
        said = request.messages[-1]["content"].split("‹用户›", 1)[1].split("‹助手›")[0].strip()
        return self.reply(said) if callable(self.reply) else self.reply

    @property
    def asked(self) -> list[Request]:
        return [request for request in self.requests if request.purpose == "extraction"]


def thread(user: User | None = None, **fields: object) -> Thread:
    agent = cloud_agent() if user is None else None
    return builders.thread(user or builders.teacher(agent.tenant), agent, **fields)


def said(in_thread: Thread, text: str, reply: Reply | Callable[[str], Reply] = "NONE", **fields: object) -> Run:
    """One round, and all that follows from it."""
    run = builders.run(in_thread, text, **fields)
    learn(in_thread, reply)
    return run


def learn(in_thread: Thread, reply: Reply | Callable[[str], Reply] = "NONE") -> Learner:
    model = Learner(reply)
    with scripted(model), scripted(model, "demo"):
        settle(in_thread.pk, FreeLease())
    return model


def pending(user: User) -> list[str]:
    return list(Candidate.objects.for_user(user).filter(status="pending").order_by("created_at").values_list("text", flat=True))


def confirmed(user: User) -> list[str]:
    return list(Fact.objects.for_user(user).filter(status="confirmed").order_by("confirmed_at").values_list("text", flat=True))


def propose_texts(user: User, texts: Sequence[str]) -> list[Proposed]:
    """Proposals that come from an import."""
    return propose(Owner(builders.school_of(user).pk, user.pk), [Proposal(text, "profile") for text in texts])
