"""Documents in the admin site: the school's with their state, a teacher's only as a number, the words of none."""

from django.contrib.auth.models import Permission

from chat.admin.overview import overview
from chat.models import Document, Membership, Work
from tests import builders
from tests.admin.conftest import SECRET
from tests.admin.test_pages import listing, page


def test_the_schools_documents_are_listed_with_state_and_error(at_school, own):
    document = own.rows[Document]
    Document.objects.filter(pk=document.pk).update(state="failed", error_code="scanned")
    html = at_school.get(listing(Document)).content.decode()
    assert document.name in html
    assert "scanned" in html
    for address in (listing(Document), page(document)):
        assert SECRET not in at_school.get(address).content.decode()


def test_a_teachers_own_documents_are_only_a_number(at_school, own, administrator):
    administrator.user_permissions.add(Permission.objects.get(codename="view_content"))
    for text in "一二":
        private = builders.document(own.teacher, [text], name=f"私人{text}.md")
    assert "私人" not in at_school.get(listing(Document)).content.decode()
    assert at_school.get(page(private)).status_code != 200
    rows = {row.user_id: row.documents for row in at_school.get(listing(Membership)).context["cl"].queryset}
    assert rows == {own.teacher.pk: 2, administrator.pk: None}


def test_documents_that_wait_count_as_work_of_their_school(at_school, rf, own, foreign, administrator):
    Work.objects.all().delete()
    for school in (own, foreign):
        Work.objects.mark("document", school.rows[Document].pk)
    request = rf.get("/admin/")
    request.user = administrator
    assert overview(request).backlog == 1
    assert [row.subject_id for row in at_school.get(listing(Work)).context["cl"].queryset] == [own.rows[Document].pk]
