"""Which facts go into a prompt, and what is noted of their use (seed 000 §4, DESIGN §5 L2)."""

from functools import lru_cache
from typing import Final

from django.db.models import F
from django.db.models.functions import Coalesce, Greatest

from chat.memory.core.keep import REFUSED_KINDS
from chat.memory.core.propose import EVENTS_MOST, keep_newest
from chat.memory.core.wording import topics
from chat.memory.ledger import blank
from chat.models import CoreEvent, Fact, Owner, Run, RunLedger
from chat.text.boundary import clean
from chat.text.redlines import find

QUESTION_CHARS = 2_000  # what a longer question is about shows in its head and tail


# As plain SQL: asked for each message, and building it by the ORM takes six times as long as the query.
CONFIRMED: Final = """
SELECT id, text, normal, agent_id, is_pinned, confirmed_at, last_used_at FROM chat_fact
WHERE tenant_id = %s AND user_id = %s AND status = %s AND (agent_id = %s OR agent_id IS NULL) ORDER BY agent_id NULLS FIRST, id"""


def facts_for(owner: Owner, question: str) -> list[Fact]:
    """The confirmed facts of the scope, shared ones included, in the order in which they are needed.

    Pinned ones first, then those that speak of what the question is about, then the most recently used ones. Of equal
    ones, such as a bulk of confirmed ones, always the same come first.
    """
    known: dict[str, Fact] = {}
    for fact in Fact.objects.raw(CONFIRMED, [owner.tenant_id, owner.user_id, Fact.Status.CONFIRMED, owner.agent_id]):
        known.setdefault(fact.normal, fact)
    if not known:
        return []
    facts = [fact for fact in known.values() if _is_safe(fact.text)]
    ends = question if len(question) <= 2 * QUESTION_CHARS else f"{question[:QUESTION_CHARS]}\n{question[-QUESTION_CHARS:]}"
    asked = topics(ends)

    def need(fact: Fact) -> tuple[bool, float, float]:
        about = _topics_of(fact.text)
        recency = max(fact.last_used_at or fact.confirmed_at, fact.confirmed_at)
        return fact.is_pinned, len(about & asked) / max(1, len(about)), recency.timestamp()

    return sorted(facts, key=need, reverse=True)


# Facts are told again and again: what follows from their wording alone is worked out once (18 ms for sixty of them, then 2.5).
@lru_cache(maxsize=4_096)
def _topics_of(text: str) -> frozenset[str]:
    return frozenset(topics(text))


@lru_cache(maxsize=4_096)
def _is_safe(text: str) -> bool:
    """A last look: what may never be kept is not told either, whatever way it came into the database."""
    return not any(hit.kind in REFUSED_KINDS for hit in find(text))


@lru_cache(maxsize=4_096)
def line_of(text: str) -> str:
    """The wording of a fact as a line of the prompt."""
    return f"- {' '.join(clean(text).split())}"


def touch(owner: Owner, run: Run) -> None:
    """Notes for the facts that the run's ledger names that they were used; once for each run.

    A fact that was deleted while the run was being started is blanked in its ledger now. To be called inside a
    transaction that holds the owner.
    """
    segments = RunLedger.objects.filter(pk=run.pk).values_list("segments", flat=True).first() or []
    ids = {one for segment in segments if segment["name"] == "core" for one in segment["source_ids"]}
    if not ids:
        return
    facts = Fact.objects.filter(pk__in=ids, tenant_id=owner.tenant_id, user_id=owner.user_id)
    there = dict(facts.values_list("pk", "status"))
    blank(owner.user_id, [one for one in ids if there.get(one) in (None, Fact.Status.DELETED)])
    told = CoreEvent.objects.filter(fact__in=ids, verb="used")
    noted = set(told.filter(after__run=run.pk).values_list("fact_id", flat=True))
    for key, status in there.items():
        events = told.filter(fact_id=key)
        if key in noted or status == Fact.Status.DELETED or _is_long_ago(key, run):
            continue
        Fact.objects.filter(pk=key).update(
            uses=F("uses") + 1, last_used_at=Greatest(Coalesce(F("last_used_at"), run.created_at), run.created_at)
        )
        CoreEvent.objects.create(
            tenant_id=owner.tenant_id, user_id=owner.user_id, fact_id=key, verb="used", after={"run": run.pk}, created_at=run.created_at
        )
        keep_newest(events)


def _is_long_ago(fact_id: str, run: Run) -> bool:
    """Whether the run is older than all uses that are still noted, so that its own may have been noted and dropped."""
    noted = CoreEvent.objects.filter(fact_id=fact_id, verb="used").order_by("created_at")
    times = list(noted.values_list("created_at", flat=True)[:EVENTS_MOST])
    return len(times) >= EVENTS_MOST and run.created_at < times[0]
