"""Rows for the measurements: `python -m tests.bench.seed USERS MODEL` or, for a large database, `build_archive`."""

import os
import sys
from datetime import timedelta

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
    django.setup()

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import Agent, Membership, Provider, Run, Tenant, Thread
from chat.models.ids import new_id

PASSWORD = "load-test-password"


def school(model: str, base_url: str) -> Agent:
    """A school with one assistant on an OpenAI-compatible service."""
    tenant = Tenant.objects.create(name="Load")
    provider = Provider.objects.create(tenant=tenant, name="load", kind="openai", base_url=base_url)
    return Agent.objects.create(tenant=tenant, name="load", system_prompt="你是助手。", provider=provider, model=model, has_tools=False)


def users(agent: Agent, count: int) -> None:
    """Teachers user0 … with one empty thread each; the load client knows the password."""
    quick = PBKDF2PasswordHasher().encode(PASSWORD, "load", iterations=1)
    for number in range(count):
        user = User.objects.create(username=f"user{number}", password=quick)
        Membership.objects.create(tenant=agent.tenant, user=user)
        Thread.objects.create(tenant=agent.tenant, agent=agent, user=user, title="load")


def build_archive(agent: Agent, user: User, threads: int, runs_each: int) -> list[str]:
    """A teacher's past: finished threads of `runs_each` rounds; returns the ids of the threads."""
    now = timezone.now()
    made = [
        Thread(
            pk=new_id("th"),
            tenant=agent.tenant,
            agent=agent,
            user=user,
            title=f"会话{n}",
            last_position=runs_each,
            updated_at=now - timedelta(minutes=n),
        )
        for n in range(threads)
    ]
    Thread.objects.bulk_create(made, batch_size=500)
    runs = (
        Run(
            tenant=agent.tenant,
            agent=agent,
            user=user,
            thread_id=thread.pk,
            position=n,
            slot=n,
            status="completed",
            input=f"第{n}问：换两道简答题",
            output="一、选择题：下列关于二叉树的说法正确的是。" * 12,
            finished_at=now,
            created_at=now - timedelta(days=1),
        )
        for thread in made
        for n in range(1, runs_each + 1)
    )
    Run.objects.bulk_create(runs, batch_size=500)
    return [thread.pk for thread in made]


if __name__ == "__main__":
    users(school(sys.argv[2], os.environ["MODEL_URL"] + "/v1"), int(sys.argv[1]))
