"""The world of the tests: each builder makes one thing with sensible parts, and takes what the test is about."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from chat.memory.core.wording import normal_form
from chat.memory.recall import entries
from chat.models import (
    Agent,
    AgentMode,
    Candidate,
    Decision,
    Document,
    DocumentFile,
    Fact,
    Membership,
    Owner,
    Passage,
    Provider,
    RecallEntry,
    Run,
    SearchText,
    Tenant,
    Thread,
)
from chat.text.redlines import redact

PASSWORD = "correct horse battery"
_numbers = count(1)


def tenant(name: str = "") -> Tenant:
    return Tenant.objects.create(name=name or f"第{next(_numbers)}中学")


def teacher(school: Tenant | None = None, name: str = "", *, role: str = "teacher") -> User:
    """A user with PASSWORD who is a member of `school` (a new one by default)."""
    user = User.objects.create_user(name or f"teacher{next(_numbers)}", password=PASSWORD)
    Membership.objects.create(tenant=school or tenant(), user=user, role=role)
    return user


def school_of(user: User) -> Tenant:
    return Tenant.objects.for_user(user).get()


def provider(school: Tenant, **fields: Any) -> Provider:
    return Provider.objects.create(**{"tenant": school, "name": "演示", "kind": "demo", "is_local": True} | fields)


def agent(school: Tenant, **fields: Any) -> Agent:
    """An assistant of the school, on a demo provider unless `provider` is given."""
    if "provider" not in fields:
        fields["provider"] = school.providers.first() or provider(school)
    fields.setdefault("name", f"命题助手{next(_numbers)}")
    return Agent.objects.create(**{"tenant": school, "system_prompt": "你是命题助手。", "model": "demo"} | fields)


def mode(of: Agent, slug: str = "exam", **fields: Any) -> AgentMode:
    return AgentMode.objects.create(**{"agent": of, "slug": slug, "name": "试卷", "prompt": "按试卷格式输出。"} | fields)


def thread(user: User, of: Agent | None = None, **fields: Any) -> Thread:
    of = of or agent(school_of(user))
    made = Thread.objects.create(**{"tenant_id": of.tenant_id, "agent": of, "user": user, "title": "数据结构试卷"} | fields)
    SearchText.objects.keep_title(made)
    return made


def run(in_thread: Thread, input: str = "出一份数据结构试卷", output: str = "一、选择题", **fields: Any) -> Run:
    """A finished run at the end of the thread; `replaces` puts it on the active path in place of another."""
    position = in_thread.last_position + 1
    in_thread.last_position = position
    in_thread.save(update_fields=["last_position"])
    status = fields.setdefault("status", "completed")
    replaced = fields.get("replaces")
    if replaced is not None:
        fields.setdefault("slot", replaced.slot)
        Run.objects.filter(pk=replaced.pk).update(is_latest=False)
    at = timezone.now() - timedelta(hours=1) + timedelta(seconds=position)
    values: dict[str, Any] = {
        "tenant_id": in_thread.tenant_id,
        "agent_id": in_thread.agent_id,
        "user_id": in_thread.user_id,
        "thread": in_thread,
        "provider_id": in_thread.agent.provider_id,
        "position": position,
        "slot": position,
        "input": input,
        "output": output,
        "created_at": at,
        "finished_at": None if status in Run.GOING else at,
    }
    made = Run.objects.create(**values | fields)
    SearchText.objects.keep_runs([made.pk])
    return made


def recalled(of: Run) -> RecallEntry:
    """What recall keeps of the run, with its place in the index."""
    parts = entries.parts_of(of.input, of.output, redact)
    entry = entries.entry_of(of, of.thread, parts)
    with transaction.atomic():
        entries.add(Owner(of.tenant_id, of.user_id), [entry])
    return entry


def document(user: User, texts: Sequence[str] = (), **fields: Any) -> Document:
    """A document of the teacher that has been read, with a passage of each text that no index knows; `user` None and a
    `tenant` make it the school's."""
    school, agents = fields.pop("tenant", None) or school_of(user), fields.pop("agents", ())
    content = fields.pop("content", "\n\n".join(texts).encode())
    name = fields.setdefault("name", f"讲义{next(_numbers)}.txt")
    state = fields.setdefault("state", "ready")
    values = {
        "tenant": school,
        "user": user,
        "uploaded_by": user,
        "format": name.rpartition(".")[2],
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "passage_count": len(texts),
        "ready_at": timezone.now() if state == "ready" else None,
    }
    made = Document.objects.create(**values | fields)
    DocumentFile.objects.create(document=made, content=content)
    made.agents.set(agents)
    Passage.objects.bulk_create(Passage(document=made, position=position, text=text) for position, text in enumerate(texts, 1))
    return made


def decision(user: User, verb: str = "confirm", school: Tenant | None = None) -> Decision:
    return Decision.objects.create(tenant=school or school_of(user), user=user, verb=verb)


def fact(user: User, text: str, **fields: Any) -> Fact:
    """A confirmed fact for all assistants, unless `agent` is given."""
    if "decision" not in fields:
        fields["decision"] = decision(user, school=fields.get("tenant"))
    values = {"tenant_id": fields["decision"].tenant_id, "user": user, "text": text, "normal": normal_form(text)}
    return Fact.objects.create(**values | fields)


def candidate(user: User, text: str, **fields: Any) -> Candidate:
    """A candidate that waits; `decision` is made where the status asks for one."""
    school = fields.pop("tenant", None) or school_of(user)
    if fields.get("status", "pending") != "pending":
        fields.setdefault("decision", decision(user, school=school))
    return Candidate.objects.create(**{"tenant": school, "user": user, "text": text, "normal": normal_form(text)} | fields)
