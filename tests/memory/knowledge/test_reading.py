import pytest

from chat.jobs.worker import Worker
from chat.memory.base import LeaseLost
from chat.memory.knowledge import keep, passages
from chat.memory.knowledge.reading import TRIES_MOST, read_document
from chat.models import Document, DocumentFile, Passage, SearchIndex, SearchTerm, Work
from chat.search.index import contents
from tests import builders
from tests.memory.knowledge.world import Holding, book, found_by, owner_of, waiting

pytestmark = pytest.mark.django_db
by_a_worker = pytest.mark.django_db(transaction=True)  # it has a second thread


@pytest.fixture(autouse=True)
def without_rests(monkeypatch):
    monkeypatch.setattr(passages, "REST_SECONDS_MOST", 0.0)


def state_of(document: Document) -> tuple[str, str]:
    document.refresh_from_db()
    return document.state, document.error_code


@by_a_worker
def test_the_worker_reads_what_was_uploaded():
    teacher = builders.teacher()
    document = waiting(teacher, text="# 卷头\n\n写明学校和学科。\n\n# 分值\n\n选择题每题三分。")
    assert Worker("w").drain() == 0
    assert state_of(document) == ("ready", "")
    assert document.passage_count == document.passages.count() > 0
    assert document.characters and document.ready_at
    assert not Work.objects.filter(kind="document").exists()


@by_a_worker
def test_a_file_that_cannot_be_read_says_why_and_is_not_tried_again():
    document = waiting(builders.teacher(), name="假.pdf", text="没有这种格式")
    assert Worker("w").drain() == 0
    assert state_of(document) == ("failed", "not_what_it_says")
    assert not Work.objects.exists()
    assert not Passage.objects.exists()


@by_a_worker
def test_a_failed_document_is_read_again_when_asked():
    teacher = builders.teacher()
    document = waiting(teacher, name="假.pdf", text="没有这种格式")
    Worker("w").drain()
    keep.retry_document(owner_of(teacher), document.pk)
    assert state_of(document) == ("waiting", "")
    Worker("w").drain()
    assert state_of(document) == ("failed", "not_what_it_says")


class TakenAway(Holding):
    """A lease that another worker takes over after so many renewals."""

    def __init__(self, after: int) -> None:
        self.left = after

    def renew(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise LeaseLost


class TakenAwayWhenReady(Holding):
    """A lease that another worker takes over once the document is ready."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def renew(self) -> None:
        if state_of(self.document)[0] == "ready":
            raise LeaseLost


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_reading_that_ended_anywhere_is_done_over_without_a_trace(after, monkeypatch):
    monkeypatch.setattr(passages, "AT_ONCE", 3)
    teacher, other = builders.teacher(), builders.teacher()
    document, same = waiting(teacher, text=book(8)), waiting(other, text=book(8))
    with pytest.raises(LeaseLost):
        read_document(document.pk, TakenAway(after))
    assert state_of(document) == ("reading", "")
    read_document(document.pk, Holding())
    read_document(same.pk, Holding())
    assert state_of(document) == ("ready", "")
    texts = list(document.passages.order_by("position").values_list("text", flat=True))
    assert texts == list(same.passages.order_by("position").values_list("text", flat=True))
    assert passages.reindex(document.tenant_id, teacher.pk)
    assert SearchIndex.objects.get(user=teacher).records == len(texts)


def test_passages_do_not_answer_before_all_are_there(monkeypatch):
    monkeypatch.setattr(passages, "AT_ONCE", 3)
    teacher = builders.teacher()
    agent = builders.agent(builders.school_of(teacher))
    document = waiting(teacher, [agent], text=book(8))
    with pytest.raises(LeaseLost):
        read_document(document.pk, TakenAway(2))
    assert Passage.objects.exists()
    assert not found_by(teacher, agent, "第1条怎么规定密封线")
    read_document(document.pk, Holding())
    assert found_by(teacher, agent, "第1条怎么规定密封线")


def test_the_version_before_answers_until_the_new_one_is_ready():
    teacher = builders.teacher()
    agent = builders.agent(builders.school_of(teacher))
    old = waiting(teacher, [agent], text="月考试卷选择题每题三分。")
    read_document(old.pk, Holding())
    new = keep.replace_document(owner_of(teacher), old.pk, name="格式.md", data="月考试卷选择题每题四分。".encode())
    question = "月考试卷选择题每题几分"
    assert [one.text for one in found_by(teacher, agent, question)] == ["月考试卷选择题每题三分。"]
    read_document(new.pk, Holding())
    assert [one.text for one in found_by(teacher, agent, question)] == ["月考试卷选择题每题四分。"]
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.is_current, new.is_current, new.version) == (False, True, 2)
    # The one before stays as history, outside the index.
    assert old.passages.get().index is None
    assert DocumentFile.objects.filter(document=old).exists()
    assert passages.reindex(old.tenant_id, teacher.pk)


def test_a_new_version_that_cannot_be_read_leaves_the_one_before_in_place():
    teacher = builders.teacher()
    agent = builders.agent(builders.school_of(teacher))
    old = waiting(teacher, [agent], text="月考试卷选择题每题三分。")
    read_document(old.pk, Holding())
    failed = keep.replace_document(owner_of(teacher), old.pk, name="格式.pdf", data=b"nothing")
    read_document(failed.pk, Holding())
    assert state_of(failed)[0] == "failed"
    assert found_by(teacher, agent, "月考试卷选择题每题几分")
    again = keep.replace_document(owner_of(teacher), old.pk, name="格式.md", data="月考试卷选择题每题四分。".encode())
    assert not Document.objects.filter(pk=failed.pk).exists()
    read_document(again.pk, Holding())
    assert [one.text for one in found_by(teacher, agent, "月考试卷选择题每题几分")] == ["月考试卷选择题每题四分。"]


def test_what_a_replacement_left_over_is_taken_out_later():
    teacher = builders.teacher()
    old = waiting(teacher, text="月考试卷选择题每题三分。")
    read_document(old.pk, Holding())
    new = keep.replace_document(owner_of(teacher), old.pk, name="格式.md", data="月考试卷选择题每题四分。".encode())
    with pytest.raises(LeaseLost):
        read_document(new.pk, TakenAwayWhenReady(new))
    assert state_of(new) == ("ready", "")
    assert old.passages.get().index is not None
    read_document(new.pk, Holding())
    assert old.passages.get().index is None


def test_a_file_that_ends_its_worker_again_and_again_is_given_up():
    document = waiting(builders.teacher())
    Document.objects.filter(pk=document.pk).update(tries=TRIES_MOST, state="reading")
    read_document(document.pk, Holding())
    assert state_of(document) == ("failed", "broken")


def test_trouble_that_is_not_the_files_does_not_count_as_a_try():
    document = waiting(builders.teacher())
    with pytest.raises(LeaseLost):
        read_document(document.pk, TakenAway(0))
    document.refresh_from_db()
    assert document.tries == 0


@by_a_worker
def test_a_document_deleted_while_it_waits_is_no_work():
    document = waiting(builders.teacher())
    document.delete()
    assert Worker("w").drain() == 0
    assert not Work.objects.exists()


def test_deleting_takes_all_versions_and_their_places_in_the_index():
    teacher = builders.teacher()
    kept = waiting(teacher, name="别的.md", text="年级组每周一开会。")
    read_document(kept.pk, Holding())
    before = contents(SearchIndex.objects.get(user=teacher))
    old = waiting(teacher, text=book(6))
    read_document(old.pk, Holding())
    new = keep.replace_document(owner_of(teacher), old.pk, name="格式.md", data=book(7).encode())
    read_document(new.pk, Holding())
    keep.delete_document(owner_of(teacher), new.pk)
    assert list(Document.objects.all()) == [kept]
    assert contents(SearchIndex.objects.get(user=teacher)) == before
    assert not SearchTerm.objects.filter(term="密封").exists()


def test_a_version_out_of_the_middle_goes_alone():
    teacher = builders.teacher()
    owner = owner_of(teacher)
    versions = [waiting(teacher, text="第一版。")]
    read_document(versions[0].pk, Holding())
    for text in ("第二版。", "第三版。"):
        versions.append(keep.replace_document(owner, versions[-1].pk, name="格式.md", data=text.encode()))
        read_document(versions[-1].pk, Holding())
    first, middle, last = versions
    keep.delete_document(owner, middle.pk)
    assert list(keep.versions(last)) == [last, first]
    assert list(keep.versions(first)) == [last, first]
    last.refresh_from_db()
    assert (last.replaces, last.is_current) == (first, True)


def test_the_index_follows_a_teacher_who_is_erased():
    teacher = builders.teacher()
    read_document(waiting(teacher).pk, Holding())
    teacher.delete()
    for model in (Document, DocumentFile, Passage, SearchIndex, SearchTerm):
        assert not model.objects.exists()


def test_an_index_that_was_lost_is_built_from_the_documents():
    teacher = builders.teacher()
    agent = builders.agent(builders.school_of(teacher))
    document = waiting(teacher, [agent], text="月考试卷选择题每题三分。")
    read_document(document.pk, Holding())
    before = contents(SearchIndex.objects.get())
    SearchIndex.objects.all().delete()
    assert not found_by(teacher, agent, "月考试卷选择题每题几分")
    assert not passages.reindex(document.tenant_id, teacher.pk)
    assert passages.reindex(document.tenant_id, teacher.pk)
    assert contents(SearchIndex.objects.get()) == before
    assert found_by(teacher, agent, "月考试卷选择题每题几分")
