"""The demo schools: two schools, four people, three assistants each (DESIGN §6)."""

import os
import secrets
import shlex
from dataclasses import dataclass, field

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from chat import demo_documents
from chat.demo_assistants import ASSISTANTS, Assistant
from chat.demo_models import follow_environment, keep_provider, offer_ollama, wanted
from chat.memory.knowledge.keep import add_document
from chat.models import Agent, AgentMode, Membership, Owner, Provider, Tenant
from chat.roles import SCHOOL_ADMINISTRATORS


@dataclass(frozen=True, slots=True)
class School:
    """`id` is fixed, so that the school is found again when people have renamed it."""

    id: str
    name: str
    people: tuple[tuple[str, str], ...]  # name and role


SCHOOLS = (
    School("tn_demo1", "示范中学", (("admin", "admin"), ("teacher", "teacher"), ("teacher2", "teacher"))),
    School("tn_demo2", "滨江小学", (("teacher3", "teacher"),)),
)
CURRENT_SCHOOLS = [school.id for school in SCHOOLS]


@dataclass(slots=True)
class Loaded:
    """What a load did. `password` is that of the new users, the empty text when it came from the environment."""

    new_users: list[str] = field(default_factory=list)
    password: str = ""
    offer: str = ""

    def lines(self) -> list[str]:
        if not self.new_users:
            names = ", ".join(
                User.objects.filter(memberships__tenant__in=CURRENT_SCHOOLS).order_by("pk").values_list("username", flat=True)
            )
            lines = [f"Demo schools: log in as {names}, with the password that was printed when they were loaded."]
            where = f"DATA_DIR={shlex.quote(os.environ['DATA_DIR'])} " if os.environ.get("DATA_DIR") else ""
            lines.append(f"Forgotten? {where}.venv/bin/python manage.py changepassword teacher")
        else:
            secret = f"password: {self.password} (shown only now)" if self.password else "with the password of DEMO_PASSWORD"
            lines = [f"Demo schools loaded. Log in as {', '.join(self.new_users)}; {secret}"]
        lines.append("The administrator of the first school, admin, also has the admin site at /admin/.")
        return [*lines, self.offer] if self.offer else lines


def is_empty() -> bool:
    """Whether nobody has used this database yet."""
    return not User.objects.exists() and not Tenant.objects.exists()


def is_loaded() -> bool:
    return Tenant.objects.filter(pk__in=CURRENT_SCHOOLS).exists()


def load() -> Loaded:
    """Makes what has never been made, and follows the environment's model; what people changed or removed stays so."""
    given = settings.DEMO_PASSWORD
    password = given or secrets.token_urlsafe(9)
    with transaction.atomic():
        first = not is_loaded()
        done = Loaded()
        if first:
            for school in SCHOOLS:
                done.new_users += _make_school(school, password)
        tenants = list(Tenant.objects.filter(pk__in=CURRENT_SCHOOLS))
        for tenant in tenants:
            follow_environment(tenant)
    if done.new_users and not given:
        done.password = password
    done.offer = offer_ollama(tenants)
    return done


def _make_school(school: School, password: str) -> list[str]:
    """Returns the names of the users that are new; a user who is there already keeps the password."""
    tenant = Tenant.objects.create(pk=school.id, name=school.name)
    service = keep_provider(tenant, wanted())
    for order, assistant in enumerate(ASSISTANTS):
        _make_assistant(tenant, service, assistant, order)
    new: list[str] = []
    for name, role in school.people:
        user, is_new = User.objects.get_or_create(username=name)
        if is_new:
            new.append(name)
            user.set_password(password)
        if role == Membership.Role.ADMIN:
            user.is_staff = True
            user.groups.add(Group.objects.get(name=SCHOOL_ADMINISTRATORS))
        user.save()
        Membership.objects.create(tenant=tenant, user=user, role=role)
        if role == Membership.Role.ADMIN:
            _give_document(Owner(tenant.pk, user.pk))
    return new


def _give_document(administrator: Owner) -> None:
    """A document of the school, which the worker reads and its assistant cites."""
    chosen = Agent.objects.filter(tenant_id=administrator.tenant_id, name__in=demo_documents.ASSISTANTS).values_list("pk", flat=True)
    add_document(administrator, name=demo_documents.NAME, data=demo_documents.TEXT.encode(), agent_ids=list(chosen), is_school=True)


def _make_assistant(tenant: Tenant, service: Provider, assistant: Assistant, order: int) -> None:
    agent = Agent.objects.create(
        tenant=tenant,
        provider=service,
        model=wanted().model,
        name=assistant.name,
        description=assistant.description,
        system_prompt=assistant.prompt,
        examples=list(assistant.examples),
        order=order,
    )
    for mode_order, mode in enumerate(assistant.modes):
        AgentMode.objects.create(agent=agent, slug=mode.slug, name=mode.name, prompt=mode.prompt, order=mode_order)


def models_in_use() -> list[str]:
    """A line for each model that assistants answer with: where it is, and whether text leaves the school."""
    rows = (
        Agent.objects.filter(is_active=True)
        .order_by("provider__kind", "model")
        .values_list("provider__kind", "provider__base_url", "provider__is_local", "model")
        .distinct()
    )
    return [_describe(*row) for row in rows]


def _describe(kind: str, base_url: str, is_local: bool, model: str) -> str:
    if kind == Provider.Kind.DEMO:
        return "Assistants answer from the built-in demo model, an offline stand-in. For a real one see the README."
    place = "in your own network" if is_local else "outside your network"
    return f"Assistants answer from {model} at {base_url} ({place})."
