import pytest
from django.test import override_settings

from chat.memory.knowledge import keep
from chat.memory.knowledge.keep import DocumentRefused
from chat.models import Document, DocumentFile, Passage, SearchTerm, Work
from tests import builders
from tests.memory.knowledge.world import owner_of, waiting

pytestmark = pytest.mark.django_db


def refused(action, *args, **kwargs) -> str:
    with pytest.raises(DocumentRefused) as caught:
        action(*args, **kwargs)
    return caught.value.code


def test_an_upload_is_stored_and_waits_for_the_worker():
    teacher = builders.teacher()
    agent = builders.agent(builders.school_of(teacher))
    document = waiting(teacher, [agent], name="卷面 格式.MD", text="# 格式")
    assert (document.format, document.state, document.user_id) == ("md", "waiting", teacher.pk)
    assert bytes(DocumentFile.objects.get(document=document).content) == "# 格式".encode()
    assert list(document.agents.all()) == [agent]
    assert Work.objects.filter(kind="document", subject_id=document.pk).exists()


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("程序.exe", b"MZ", "unsupported"),
        ("没有结尾", b"a", "unsupported"),
        (".md", b"a", "name_invalid"),
        ("", b"a", "name_invalid"),
        ("空.txt", b"", "empty"),
        ("大.txt", b"a" * (1024 * 1024 + 1), "too_large"),
    ],
)
@override_settings(DOCUMENT_MAX_MB=1)
def test_what_can_be_seen_at_once_is_refused_at_once(name, data, code):
    assert refused(keep.add_document, owner_of(builders.teacher()), name=name, data=data) == code
    assert not Document.objects.exists()


def test_a_path_is_no_part_of_the_name():
    assert waiting(builders.teacher(), name="C:\\资料\\..\\格式\x07\u202e.md").name == "格式.md"


def test_the_same_bytes_are_kept_once_for_an_owner():
    school = builders.tenant()
    administrator, teacher = builders.teacher(school, role="admin"), builders.teacher(school)
    first = waiting(teacher)
    with pytest.raises(DocumentRefused) as caught:
        waiting(teacher, name="又一份.md")
    assert (caught.value.code, caught.value.values) == ("same_file", {"document_id": first.pk, "name": "格式.md"})
    waiting(administrator, is_school=True)
    waiting(administrator)
    assert Document.objects.count() == 3


@override_settings(DOCUMENTS_MAX=2)
def test_an_owner_keeps_so_many_documents():
    teacher = builders.teacher()
    for word in "一二":
        waiting(teacher, text=word)
    assert refused(waiting, teacher, text="三") == "too_many_documents"


@override_settings(SCHOOL_DOCUMENTS_MAX_MB=1)
def test_a_school_keeps_so_much():
    school = builders.tenant()
    waiting(builders.teacher(school), text="a" * 1024 * 700)
    assert refused(waiting, builders.teacher(school), text="b" * 1024 * 700) == "school_full"
    waiting(builders.teacher(), text="b" * 1024 * 700)


def test_only_administrators_write_the_documents_of_the_school():
    school = builders.tenant()
    teacher, administrator = builders.teacher(school), builders.teacher(school, role="admin")
    assert refused(waiting, teacher, is_school=True) == "not_administrator"
    document = waiting(administrator, is_school=True)
    assert document.user_id is None
    owner = owner_of(teacher)
    assert refused(keep.delete_document, owner, document.pk) == "not_found"
    assert refused(keep.set_agents, owner, document.pk, []) == "not_found"
    assert refused(keep.replace_document, owner, document.pk, name="新.md", data=b"x") == "not_found"
    assert refused(keep.retry_document, owner, document.pk) == "not_found"


def test_an_administrator_does_not_reach_the_documents_of_a_teacher():
    school = builders.tenant()
    document = waiting(builders.teacher(school))
    assert refused(keep.delete_document, owner_of(builders.teacher(school, role="admin")), document.pk) == "not_found"


def test_who_left_the_school_writes_nothing_there():
    teacher = builders.teacher()
    owner, document = owner_of(teacher), waiting(teacher)
    teacher.memberships.all().delete()
    assert refused(keep.delete_document, owner, document.pk) == "not_found"
    assert refused(keep.add_document, owner, name="a.md", data=b"a") == "not_found"


def test_assistants_are_those_that_the_person_can_use():
    school = builders.tenant()
    teacher = builders.teacher(school)
    agent, asleep = builders.agent(school), builders.agent(school, is_active=False)
    foreign = builders.agent(builders.tenant())
    document = waiting(teacher, [agent])
    for one in (foreign, asleep):
        assert refused(keep.set_agents, owner_of(teacher), document.pk, [one.pk]) == "agent_unknown"
        assert refused(waiting, teacher, [one], text="其他") == "agent_unknown"
    document.agents.add(asleep)
    keep.set_agents(owner_of(teacher), document.pk, [])
    assert list(document.agents.all()) == [asleep]


def test_deleting_leaves_nothing():
    teacher = builders.teacher()
    document = waiting(teacher)
    keep.delete_document(owner_of(teacher), document.pk)
    for model in (Document, DocumentFile, Passage, SearchTerm, Work):
        assert not model.objects.exists()
