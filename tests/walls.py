"""The rules of the walls between teachers and schools, and a world with somebody on each side (tests/test_walls.py).

A new model or address has no rule here, and the tests fail until it gets one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from chat.models import (
    Agent,
    ApiToken,
    Candidate,
    Consent,
    CoreEvent,
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
    SearchIndex,
    Summary,
    Thread,
    VectorBlock,
    Work,
    WorkerBeat,
)
from tests import builders

# Models


@dataclass(frozen=True)
class Personal:
    """A person's rows. `owner` leads from the row to the user; `alone` says who reads it where no `for_user` guards it.

    `is_key`: what it leads to is the user's key as a plain text, for rows that outlive the user.
    """

    owner: str
    alone: str = ""
    is_key: bool = False

    def of(self, user: User) -> dict[str, object]:
        """The lookup of the user's rows."""
        return {self.owner: str(user.pk) if self.is_key else user}


@dataclass(frozen=True)
class OfSchool:
    """A school's rows, which its members may see. `tenant` leads from the row to the school."""

    tenant: str
    alone: str = ""


@dataclass(frozen=True)
class NotPersonal:
    """Nobody's rows."""

    why: str


Rule = Personal | OfSchool | NotPersonal

MODELS: dict[str, Rule] = {
    "Tenant": OfSchool("pk"),
    "Provider": OfSchool("tenant", alone="read with an assistant, and in the administration"),
    "Agent": OfSchool("tenant"),
    "AgentMode": OfSchool("agent__tenant"),
    "Membership": Personal("user", alone="read for the user of the request, by chat.middleware"),
    "Preference": Personal("user", alone="read for the user of the request, by chat.middleware"),
    "ApiToken": Personal("user"),
    "Thread": Personal("user"),
    "Summary": Personal("thread__user"),
    "SearchText": Personal("thread__user"),
    "RecallEntry": Personal("user"),
    "Document": Personal("user", alone="read for an owner, by chat.library.shelves and chat.memory.knowledge"),
    "DocumentFile": Personal("document__user", alone="read with its document"),
    "Passage": Personal("document__user", alone="read with its document, and by chat.library.sources for the user of a run"),
    "SearchIndex": Personal("user", alone="read for the owner of a turn, by chat.search.query"),
    "SearchTerm": Personal("index__user", alone="read with its index"),
    "VectorBlock": Personal("index__user", alone="read with its index"),
    "Consent": Personal("user", alone="read for the owner of a turn, by chat.memory.consent, and for the user by chat.consents"),
    "SearchBlock": Personal("index__user", alone="read with its index"),
    "LayerState": Personal("thread__user"),
    "Run": Personal("user"),
    "RunLedger": Personal("run__user"),
    "Fact": Personal("user"),
    "Candidate": Personal("user"),
    "Decision": Personal("user"),
    "CoreEvent": Personal("user"),
    "RedlineRecord": Personal("user"),
    "NoteText": Personal("user"),
    "NoteOp": Personal("user"),
    "NoteReview": Personal("user"),
    "NoteGuard": Personal("thread__user"),
    "NoteSnapshot": Personal("thread__user"),
    "Notice": Personal("user"),
    "MemoryOp": Personal("user", alone="read by the worker, in sums by the metrics, and in the administration"),
    "RemoteScope": Personal("user_key", alone="read for an owner, by chat.memory.external and chat.panel.external", is_key=True),
    "RemoteSession": Personal("scope__user_key", alone="read with its scope, and by the thread's key", is_key=True),
    "RemoteGap": Personal("session__scope__user_key", alone="read with its scope, by chat.panel.external", is_key=True),
    "RemoteFigure": NotPersonal("sums over everybody, for the metrics"),
    "Work": NotPersonal("ids and states for the worker"),
    "WorkerBeat": NotPersonal("signs of life of processes"),
}
# Their rows are Django's or a library's own; our pages read them only for the user of the request.
OTHER_APPS = {"admin", "auth", "axes", "contenttypes", "sessions"}


def chat_models() -> dict[str, type[Model]]:
    return {model.__name__: model for model in apps.get_app_config("chat").get_models()}


def has_for_user(model: type[Model]) -> bool:
    return hasattr(model._default_manager.all(), "for_user")


def rows(found: QuerySet[Any]) -> list[dict[str, Any]]:
    return list(found.order_by("pk").values())


def all_rows() -> dict[str, list[dict[str, Any]]]:
    """Everything that is stored of chat, to show that nothing has changed."""
    return {name: rows(model._default_manager.all()) for name, model in chat_models().items()}


def rows_of(user: User) -> dict[str, list[dict[str, Any]]]:
    """Everything personal of one user."""
    models = chat_models()
    personal = {name: rule for name, rule in MODELS.items() if isinstance(rule, Personal)}
    return {name: rows(models[name]._default_manager.filter(**rule.of(user))) for name, rule in personal.items()}


# Addresses

OPEN = {"/favicon.ico", "login", "logout", "set-language", "api-healthz", "api-readyz", "api-metrics", "api-openapi", "api-unknown"}
# Without an id in the address: what they show and change is the caller's.
OWN = {"home", "settings", "settings-preferences", "settings-password", "settings-tokens", "tenant-switch", "api-agents"}
OWN |= {
    "settings-memory",
    "settings-topics",
    "memory",
    "memory-drawer",
    "memory-add",
    "memory-bulk",
    "memory-undo",
    "memory-export",
    "memory-import",
    "memory-backend",
    "memory-forget",
}
OWN |= {"consent-answer", "search", "knowledge", "knowledge-news", "knowledge-upload"}
OWN |= {"notes", "notes-save", "notes-upload", "notes-download"}
# What a form says that would change something of the caller's own.
VERBS = {"memory-candidate": "confirm", "memory-fact": "delete", "memory-bulk": "reject", "note-op": "reject", "notes-save": "save"}


@dataclass(frozen=True)
class Route:
    name: str
    template: str  # with {name} for each id
    ids: tuple[str, ...]

    def path(self, values: dict[str, str]) -> str:
        return self.template.format(**values)

    @property
    def is_api(self) -> bool:
        return self.name.startswith("api-")


def routes() -> list[Route]:
    """All addresses but those of the administration, which has rules and tests of its own."""
    return list(_walk(get_resolver().url_patterns, "/"))


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[Route]:
    for one in patterns:
        if isinstance(one, URLResolver):
            if one.namespace != "admin":
                yield from _walk(one.url_patterns, prefix + str(one.pattern))
            continue
        template = prefix + str(one.pattern)
        for name, converter in one.pattern.converters.items():
            kind = type(converter).__name__.removesuffix("Converter").lower()
            template = template.replace(f"<{kind}:{name}>", "{" + name + "}").replace(f"<{name}>", "{" + name + "}")
        yield Route(one.name or template, template, tuple(one.pattern.converters))


# The world

FOREIGN: dict[str, Callable[["World", User], str]] = {
    "agent_id": lambda world, caller: world.agent.pk if caller == world.stranger else world.strange_agent.pk,
    "thread_id": lambda world, caller: world.thread.pk,
    "run_id": lambda world, caller: world.run.pk,
    "token_id": lambda world, caller: world.token.pk,
    "candidate_id": lambda world, caller: world.candidate.pk,
    "fact_id": lambda world, caller: world.fact.pk,
    "document_id": lambda world, caller: world.document.pk,
    "passage_id": lambda world, caller: world.passage.pk,
    "op_id": lambda world, caller: world.waiting_op.pk,
}
MISSING = {"agent_id": "ag_", "thread_id": "th_", "run_id": "run_", "token_id": "tok_", "candidate_id": "cand_", "fact_id": "fact_"}
MISSING |= {"document_id": "doc_", "passage_id": "psg_", "op_id": "nop_"}


class World:
    """The owner of everything, a colleague at the same school, a stranger at another; each has a conversation."""

    def __init__(self) -> None:
        school, strange_school = builders.tenant("第一秘密中学"), builders.tenant("第二中学")
        self.owner = builders.teacher(school, "owner-secret")
        self.colleague = builders.teacher(school, "colleague")
        self.stranger = builders.teacher(strange_school, "stranger")
        self.agent = self._agent(school, "秘密助手")
        self.strange_agent = self._agent(strange_school, "外校助手")
        builders.mode(self.agent)
        self.thread = self._thread(self.owner, self.agent, "秘密标题")
        self.run = Run.objects.filter(thread=self.thread, is_latest=True).get()
        self.token, _ = ApiToken.objects.issue(self.owner, "秘密令牌")
        self._background()
        self.fact, self.candidate = self._remembered(self.owner, self.run, "秘密")
        self.document = builders.document(self.owner, ["秘密段落"], name="秘密资料.txt", agents=[self.agent])
        self.passage = self.document.passages.get()
        self.own = {user.pk: self._own(user) for user in (self.colleague, self.stranger)}
        self.secrets = ["秘密标题", "秘密问题", "秘密回答", "秘密摘要", "秘密前情", "秘密令牌", self.owner.username]
        self.secrets += [self.thread.pk, self.run.pk, self.token.pk, self.fact.pk, self.candidate.pk]
        self.secrets += ["秘密事实", "秘密候选", "秘密原话", "秘密节录", "秘密段落", "秘密资料", self.document.pk]
        self.secrets += ["秘密笔记", self.note_op.pk, self.waiting_op.pk]

    def _agent(self, school: Any, name: str) -> Agent:
        service = builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1")
        return builders.agent(school, name=name, provider=service)

    def _thread(self, user: User, agent: Agent, title: str) -> Thread:
        word = title[:2]
        thread = builders.thread(user, agent, title=title, rolling_summary=f"{word}摘要", summary_upto_slot=0)
        first = builders.run(thread, f"{word}问题", f"{word}回答", status="failed", error_code="stream_broken")
        again = builders.run(thread, f"{word}问题", f"{word}回答", replaces=first)
        RunLedger.objects.create(run=again, segments=[], tools=[])
        return thread

    def _remembered(self, user: User, run: Run, word: str) -> tuple[Fact, Candidate]:
        """Something confirmed, something that waits, and something that was stopped."""
        source = {"source_run": run, "quote": f"{word}原话"}
        fact = builders.fact(user, f"{word}事实", **source)
        candidate = builders.candidate(user, f"{word}候选", thread=run.thread, **source)
        owner = {"tenant_id": run.tenant_id, "user": user}
        CoreEvent.objects.create(**owner, fact=fact, decision=fact.decision, verb="confirm", after={"text": fact.text})
        RedlineRecord.objects.create(**owner, layer="core", kind="phone", rule="mobile number", excerpt=f"{word}节录")
        return fact, candidate

    def _own(self, user: User) -> dict[str, str]:
        agent = self.agent if user == self.colleague else self.strange_agent
        thread = self._thread(user, agent, "自己的标题")
        token, _ = ApiToken.objects.issue(user, "own")
        run = Run.objects.get(thread=thread, is_latest=True)
        fact, candidate = self._remembered(user, run, "自己的")
        ids = {"agent_id": agent.pk, "thread_id": thread.pk, "run_id": run.pk, "token_id": token.pk}
        document = builders.document(user, ["自己的段落"], agents=[agent])
        ids |= {"document_id": document.pk, "passage_id": document.passages.get().pk}
        note = {"tenant": agent.tenant, "user": user, "agent": agent, "target": "memory", "thread": thread, "run": run}
        waiting = NoteOp.objects.create(**note, action="add", origin="tool", state="staged", request={"content": "自己的笔记"})
        return ids | {"fact_id": fact.pk, "candidate_id": candidate.pk, "op_id": waiting.pk}

    def _background(self) -> None:
        now = timezone.now()
        Preference.objects.create(user=self.owner, language="en", tenant=self.agent.tenant, agent=self.agent)
        Summary.objects.create(thread=self.thread, upto_slot=1, upto_at=now, text="秘密前情")
        LayerState.objects.create(thread=self.thread, layer="thread")
        builders.recalled(self.run)
        index = SearchIndex.objects.get(user=self.owner, kind="recall")
        VectorBlock.objects.create(index=index, block=0, model="bge-m3", dimension=1, made=bytes(16), packed=b"")
        Consent.objects.create(tenant=self.agent.tenant, user=self.owner, provider=self.agent.provider, purpose="recall", is_agreed=False)
        self._notes()
        self._outside()
        MemoryOp.objects.create(tenant=self.agent.tenant, user=self.owner, thread=self.thread, kind="summary", outcome="done")
        Work.objects.mark("thread", self.thread.pk)
        WorkerBeat.objects.create(worker="w1", beat_at=now)

    def _outside(self) -> None:
        """What is known of a memory backend; one round was not captured there."""
        keys = {"tenant_key": self.agent.tenant_id, "user_key": str(self.owner.pk), "agent_key": self.agent.pk}
        scope = RemoteScope.objects.create(backend="openviking", **keys)
        session = RemoteSession.objects.create(scope=scope, thread_key=self.thread.pk)
        RemoteGap.objects.create(session=session, run_key=self.run.pk, outcome="failed")

    def _notes(self) -> None:
        own = {"tenant": self.agent.tenant, "user": self.owner}
        note = own | {"agent": self.agent, "target": "memory"}
        NoteText.objects.create(**note, text="秘密笔记")
        review = NoteReview.objects.create(**own, agent=self.agent, thread=self.thread, total=10)
        changes = [{"place": 0, "old": None, "new": "秘密笔记"}]
        self.note_op = NoteOp.objects.create(
            **note, action="add", origin="tool", changes=changes, thread=self.thread, run=self.run, review=review
        )
        self.waiting_op = NoteOp.objects.create(
            **note,
            action="add",
            origin="tool",
            state="staged",
            changes=changes,
            request={"content": "秘密笔记"},
            thread=self.thread,
            run=self.run,
        )
        NoteGuard.objects.create(subject_id=self.run.pk, thread=self.thread)
        NoteSnapshot.objects.create(thread=self.thread, text="秘密笔记", digest="0" * 64)
        Notice.objects.create(**own, thread=self.thread, code="review", review=review)

    def foreign(self, route: Route, caller: User) -> dict[str, str]:
        return {name: FOREIGN[name](self, caller) for name in route.ids}

    def missing(self, route: Route) -> dict[str, str]:
        return {name: MISSING[name] + "a" * 20 for name in route.ids}
