from dataclasses import dataclass

import pytest
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.utils import timezone

from chat.models import (
    Agent,
    ApiToken,
    Candidate,
    CoreEvent,
    Decision,
    Fact,
    LayerState,
    MemoryOp,
    NoteGuard,
    NoteOp,
    NoteReview,
    NoteSnapshot,
    NoteText,
    Notice,
    Preference,
    RedlineRecord,
    RemoteGap,
    RemoteScope,
    RemoteSession,
    Run,
    RunLedger,
    Summary,
    Tenant,
    Thread,
    Work,
    WorkerBeat,
)
from chat.roles import SCHOOL_ADMINISTRATORS
from tests import builders

SECRET = "绝密的一句话"


@dataclass
class School:
    """A school with one row of every kind; every text of messages holds SECRET."""

    tenant: Tenant
    teacher: User
    agent: Agent
    thread: Thread
    run: Run
    rows: dict[type[Model], Model]


def furnish(tenant: Tenant) -> School:
    teacher = builders.teacher(tenant)
    agent = builders.agent(tenant)
    thread = builders.thread(teacher, agent, title=SECRET, rolling_summary=SECRET)
    run = builders.run(thread, SECRET, SECRET, reasoning=SECRET, tool_calls=[{"name": "thread_read", "arguments": SECRET, "is_ok": True}])
    rows = [
        tenant,
        teacher.memberships.get(),
        agent.provider,
        agent,
        builders.mode(agent),
        thread,
        run,
        RunLedger.objects.create(run=run, segments=[{"text": SECRET}]),
        Summary.objects.create(thread=thread, upto_slot=1, upto_at=timezone.now(), text=SECRET),
        MemoryOp.objects.create(
            tenant=tenant, user=teacher, agent=agent, thread=thread, kind="summary", cost=2, error_code="provider_timeout"
        ),
        LayerState.objects.create(thread=thread, layer="thread", error_code="provider_timeout"),
        Work.objects.create(kind="thread", subject_id=thread.pk, due_at=timezone.now()),
        ApiToken.objects.issue(teacher, "脚本")[0],
        Preference.objects.create(user=teacher, tenant=tenant, agent=agent),
        WorkerBeat.objects.create(worker=f"worker of {tenant.pk}"),
        builders.recalled(run),
        builders.document(None, [SECRET], tenant=tenant, content=SECRET.encode()),
        *remembered(run),
        *noted(run),
        *outside(run),
    ]
    return School(tenant, teacher, agent, thread, run, {type(row): row for row in rows})


def outside(run: Run) -> list[Model]:
    """One row of each kind about a memory backend."""
    keys = {"tenant_key": run.tenant_id, "user_key": str(run.user_id), "agent_key": run.agent_id}
    scope = RemoteScope.objects.create(backend="openviking", **keys)
    session = RemoteSession.objects.create(scope=scope, thread_key=run.thread_id)
    return [scope, session, RemoteGap.objects.create(session=session, run_key=run.pk, outcome="failed")]


def remembered(run: Run) -> list[Model]:
    """One row of core memory of every kind."""
    owner = {"tenant_id": run.tenant_id, "user_id": run.user_id}
    words = {"text": SECRET, "normal": SECRET, "quote": SECRET, "source_run": run}
    decision = Decision.objects.create(**owner, verb="confirm")
    fact = Fact.objects.create(**owner, **words, decision=decision)
    return [
        decision,
        fact,
        Candidate.objects.create(**owner, **words, reason=SECRET, thread=run.thread),
        CoreEvent.objects.create(**owner, decision=decision, fact=fact, verb="confirm", after={"text": SECRET}),
        RedlineRecord.objects.create(**owner, layer="core", kind="phone", rule="mobile number", source_id=run.pk, excerpt=SECRET),
    ]


def noted(run: Run) -> list[Model]:
    """One row of notes of every kind."""
    owner = {"tenant_id": run.tenant_id, "user_id": run.user_id}
    store = {**owner, "agent_id": run.agent_id, "target": "memory"}
    review = NoteReview.objects.create(**owner, agent_id=run.agent_id, thread_id=run.thread_id, total=10)
    changes = [{"place": 0, "old": None, "new": SECRET}]
    asked = {"content": SECRET}
    return [
        NoteText.objects.create(**store, text=SECRET),
        NoteOp.objects.create(**store, action="add", origin="review", changes=changes, request=asked, reason=SECRET, review=review),
        review,
        NoteGuard.objects.create(subject_id=run.pk, thread_id=run.thread_id, last_reason=SECRET),
        NoteSnapshot.objects.create(thread_id=run.thread_id, text=SECRET, digest="0" * 64),
        Notice.objects.create(**owner, thread_id=run.thread_id, code="review", review=review),
    ]


@pytest.fixture
def own(db) -> School:
    return furnish(builders.tenant())


@pytest.fixture
def foreign(db) -> School:
    return furnish(builders.tenant())


@pytest.fixture
def administrator(own) -> User:
    """The administrator of the school `own`."""
    user = builders.teacher(own.tenant, role="admin")
    user.is_staff = True
    user.save()
    user.groups.add(Group.objects.get(name=SCHOOL_ADMINISTRATORS))
    return user


@pytest.fixture
def at_school(client, administrator):
    """A browser of the school's administrator."""
    client.force_login(administrator)
    return client


@pytest.fixture
def everywhere(client, db):
    """A browser of a superuser."""
    client.force_login(User.objects.create_superuser("root"))
    return client
