"""Rows of work are held by one worker at a time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chat.jobs.lease import WorkLease, claim
from chat.memory.base import LeaseLost
from chat.models import Work

pytestmark = pytest.mark.django_db
KINDS = [Work.Kind.THREAD]


def mark(subject: str = "th_one") -> None:
    Work.objects.mark(Work.Kind.THREAD, subject)


def run_out(lease: WorkLease) -> None:
    Work.objects.filter(pk=lease.work_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_two_claims_never_give_the_same_row():
    mark()
    assert claim(KINDS) is not None
    assert claim(KINDS) is None


def test_each_row_is_claimed_once_the_longest_waiting_first():
    for subject in ("th_one", "th_two", "th_three"):
        mark(subject)
    claimed = [claim(KINDS).subject_id for _ in range(3)]
    assert claimed == ["th_one", "th_two", "th_three"]
    assert claim(KINDS) is None


def test_a_claim_whose_candidate_was_taken_meanwhile_takes_the_next(django_assert_num_queries, monkeypatch):
    mark("th_one")
    mark("th_two")
    first_token = []

    def token(size: int) -> str:
        # The other worker claims between this claim's look at the rows and its update.
        if not first_token:
            first_token.append("mine")
            first_token.append(claim(KINDS))
            return "mine"
        return f"token{len(first_token)}-{timezone.now().timestamp()}"

    monkeypatch.setattr("chat.jobs.lease.secrets.token_hex", token)
    mine = claim(KINDS)
    assert {mine.subject_id, first_token[1].subject_id} == {"th_one", "th_two"}


def test_other_kinds_are_left_alone():
    mark()
    assert claim(["document"]) is None


def test_what_is_not_due_is_not_claimed():
    mark()
    claim(KINDS).put_off(timezone.now() + timedelta(minutes=1), "provider_unreachable")
    assert claim(KINDS) is None


def test_a_lease_that_ran_out_is_taken_over():
    mark()
    lost = claim(KINDS)
    run_out(lost)
    taken = claim(KINDS)
    assert taken.work_id == lost.work_id
    assert taken.token != lost.token


@pytest.mark.parametrize("act", [WorkLease.renew, WorkLease.finish, WorkLease.release, lambda lease: lease.put_off(timezone.now(), "late")])
def test_a_lost_lease_changes_nothing(act):
    mark()
    lost = claim(KINDS)
    run_out(lost)
    claim(KINDS)
    before = Work.objects.values().get()
    with pytest.raises(LeaseLost):
        act(lost)
    assert Work.objects.values().get() == before


def test_a_lease_that_ran_out_but_was_not_taken_can_be_renewed():
    mark()
    lease = claim(KINDS)
    run_out(lease)
    lease.renew()
    assert claim(KINDS) is None


def test_finishing_removes_the_row():
    mark()
    claim(KINDS).finish()
    assert not Work.objects.exists()


def test_a_mark_that_came_during_the_work_keeps_the_row():
    mark()
    lease = claim(KINDS)
    mark()
    lease.finish()
    assert claim(KINDS).subject_id == "th_one"


def test_a_mark_that_came_during_the_work_is_not_put_off():
    mark()
    lease = claim(KINDS)
    mark()
    lease.put_off(timezone.now() + timedelta(minutes=1), "provider_timeout")
    assert claim(KINDS) is not None


def test_putting_off_says_why_and_how_often():
    mark()
    claim(KINDS).put_off(timezone.now(), "provider_timeout")
    claim(KINDS).put_off(timezone.now() + timedelta(minutes=1), "provider_overloaded")
    row = Work.objects.get()
    assert (row.attempts, row.error_code, row.lease, row.lease_until) == (2, "provider_overloaded", "", None)


def test_many_marks_are_one_row():
    for _ in range(3):
        mark()
    assert Work.objects.get().marks == 3


def test_a_claim_looks_with_one_query_when_nothing_is_due(django_assert_num_queries):
    with django_assert_num_queries(1):
        assert claim(KINDS) is None
