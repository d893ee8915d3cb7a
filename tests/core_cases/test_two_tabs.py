"""Every two actions on the same thing, one after the other as from two tabs: nothing breaks, and nothing is claimed."""

from itertools import product

import pytest

from chat.memory.core import decide
from chat.models import Candidate, Decision, Fact
from tests import builders

pytestmark = pytest.mark.django_db

ON_CANDIDATES = ("confirm", "replace", "edit", "reject", "later", "allow", "bulk-confirm", "bulk-reject", "bulk-later", "undo")
ON_FACTS = ("edit", "pin", "unpin", "delete", "restore", "allow", "undo")
HTMX = {"HX-Request": "true"}


@pytest.fixture
def teacher():
    return builders.teacher()


@pytest.fixture
def page(client, teacher):
    client.force_login(teacher)
    return client


def state() -> tuple[object, ...]:
    facts = Fact.objects.order_by("pk").values_list("pk", "text", "status", "is_pinned", "agent_id")
    candidates = Candidate.objects.order_by("pk").values_list("pk", "text", "status", "later_until")
    return (*facts, *candidates)


def act(page, address: str, verb: str, headers: dict[str, str], **fields: str):
    """As a page does it that knows nothing of the other one; says whether a decision was made, and whether anything changed."""
    before, decisions = state(), Decision.objects.count()
    if verb.startswith("bulk-"):
        response = page.post("/memory/bulk/", {"verb": verb.removeprefix("bulk-"), "id": address.split("/")[3]}, headers=headers)
    elif verb == "undo":
        response = page.post("/memory/undo/", {"decision": ""}, headers=headers)
    else:
        response = page.post(address, {"verb": verb} | fields, headers=headers)
    assert response.status_code in (200, 303, 422), (verb, response.status_code)
    is_decided, is_changed = Decision.objects.count() > decisions, state() != before
    assert is_decided == is_changed, (verb, is_decided, is_changed)


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_any_two_actions_on_a_candidate(page, teacher, headers):
    for number, (first, second) in enumerate(product(ON_CANDIDATES, repeat=2)):
        old = builders.fact(teacher, f"旧事实{number}")
        row = builders.candidate(teacher, f"新事实{number}", contradicts=old)
        address = f"/memory/candidates/{row.pk}/"
        for verb in (first, second, "confirm"):
            act(page, address, verb, headers, replaces=old.pk)
        Fact.objects.all().delete()
        Candidate.objects.all().delete()
        Decision.objects.all().delete()


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_any_two_actions_on_a_fact(page, teacher, headers):
    school = builders.school_of(teacher).pk
    for number, (start, first, second) in enumerate(product(("confirmed", "archived", "deleted"), ON_FACTS, ON_FACTS)):
        key = decide.add(teacher, school, f"事实{number}").fact_id
        if start == "deleted":
            decide.delete(teacher, [key])
        elif start == "archived":
            Fact.objects.filter(pk=key).update(status=start)
        for verb in (first, second):
            if Fact.objects.filter(pk=key).exists() or verb == "undo":
                act(page, f"/memory/facts/{key}/", verb, headers, text=f"新事实{number}")
            else:
                assert page.post(f"/memory/facts/{key}/", {"verb": verb}, headers=headers).status_code == 404
        Fact.objects.all().delete()
        Decision.objects.all().delete()


def test_looking_decides_nothing(page, teacher):
    row, fact = builders.candidate(teacher, "我教高二"), builders.fact(teacher, "我教高三")
    before, decisions = state(), Decision.objects.count()
    for address in (f"/memory/candidates/{row.pk}/", f"/memory/facts/{fact.pk}/"):
        for query in ("?verb=confirm", "?verb=delete", "?part=edit", "?part=history", "?in=drawer"):
            assert page.get(address + query).status_code == 200
        assert page.head(address).status_code == 405
        assert page.put(address, "verb=confirm").status_code == 405
    for name in ("add", "bulk", "undo", "import"):
        assert page.get(f"/memory/{name}/?verb=confirm&id={row.pk}").status_code == 405
    assert (state(), Decision.objects.count()) == (before, decisions)


def test_a_deleted_wording_is_not_shown_any_more(page, teacher):
    key = decide.add(teacher, builders.school_of(teacher).pk, "暗号青竹七号").fact_id
    decide.edit(teacher, key, "暗号赤松五号")
    decide.delete(teacher, [key])
    for address in (f"/memory/facts/{key}/", f"/memory/facts/{key}/?part=history"):
        body = page.get(address, headers=HTMX if "part" in address else {}).content.decode()
        assert "青竹七号" not in body
