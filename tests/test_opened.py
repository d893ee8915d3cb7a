"""A thread with its relations, in one query."""

import pytest

from chat.models import NoteSnapshot, Thread
from chat.models.opened import opened_thread
from tests import builders

pytestmark = pytest.mark.django_db
RELATED = ("agent__provider", "agent__tenant", "note_snapshot")


def plain(row: object) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_frozen", [True, False])
def test_everything_is_as_the_orm_has_it_and_is_not_asked_again(is_frozen, django_assert_num_queries):
    user = builders.teacher()
    thread = builders.thread(user, builders.agent(builders.school_of(user)))
    if is_frozen:
        NoteSnapshot.objects.create(thread=thread, text="笔记", digest="d", digests={"user": "a"}, counts={"user": [1, 2]})
    expected = Thread.objects.select_related(*RELATED).get(pk=thread.pk)
    with django_assert_num_queries(1):
        opened = opened_thread(user.pk, thread.pk)
        assert opened is not None
        pairs = [(opened, expected), (opened.agent, expected.agent)]
        pairs += [(opened.agent.provider, expected.agent.provider), (opened.agent.tenant, expected.agent.tenant)]
        assert hasattr(opened, "note_snapshot") == is_frozen
    if is_frozen:
        pairs.append((opened.note_snapshot, expected.note_snapshot))
    assert all(plain(mine) == plain(theirs) for mine, theirs in pairs)


def test_thread_of_a_colleague_or_of_a_school_that_was_left_is_none():
    user = builders.teacher()
    school = builders.school_of(user)
    thread, colleague = builders.thread(user, builders.agent(school)), builders.teacher(school)
    assert opened_thread(colleague.pk, thread.pk) is None
    school.memberships.filter(user=user).delete()
    assert opened_thread(user.pk, thread.pk) is None
