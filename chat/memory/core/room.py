"""Room for facts: at most thirty confirmed in a scope (seed 000 §4, DESIGN §5)."""

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Greatest

from chat.models import Fact

FACTS_MOST = 30


class Full(Exception):
    """All facts of the scope are pinned."""


def confirmed_in_scope(fact: Fact) -> "QuerySet[Fact]":
    """The confirmed facts of the scope of `fact`: its school, its teacher, and its assistant or all of them."""
    return Fact.objects.filter(tenant_id=fact.tenant_id, user_id=fact.user_id, agent_id=fact.agent_id, status=Fact.Status.CONFIRMED)


def in_the_way(fact: Fact, *leaving: str) -> list[Fact]:
    """The facts that must go into the archive so that `fact` can be confirmed, the least recently used unpinned first.

    `leaving` are facts that go anyway. Raises Full.
    """
    recency = Greatest(Coalesce(F("last_used_at"), F("confirmed_at")), F("confirmed_at"))
    others = confirmed_in_scope(fact).exclude(pk__in=[fact.pk, *leaving]).order_by(recency, "confirmed_at", "pk")
    surplus = others.count() + 1 - FACTS_MOST
    if surplus <= 0:
        return []
    unpinned = list(others.filter(is_pinned=False)[:surplus])
    if len(unpinned) < surplus:
        raise Full
    return unpinned
