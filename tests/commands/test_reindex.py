"""`manage.py reindex` makes what is searched as it should be, and says what was not."""

import io

from django.core.management import call_command
from django.test import TestCase

from chat.models import SearchIndex, SearchText, Thread
from tests import builders


def reindexed() -> str:
    out = io.StringIO()
    call_command("reindex", stdout=out)
    return out.getvalue()


class ReindexTests(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        cls.user = builders.teacher()
        cls.thread = builders.thread(cls.user, title="Ｃ语言")
        builders.recalled(builders.run(cls.thread, "讲讲ＡＢＣ", "好"))
        builders.run(cls.thread, "还在写", "写到一半", status="running")
        builders.run(builders.thread(cls.user, is_incognito=True), "悄悄话")

    def test_what_is_right_stays(self) -> None:
        kept = set(SearchText.objects.values_list())
        assert reindexed() == "1 indexes built, 0 differed\n2 conversations read, 0 differed\n"
        assert set(SearchText.objects.values_list()) == kept

    def test_what_is_missing_wrong_or_too_much_is_mended(self) -> None:
        kept = set(SearchText.objects.values_list())
        SearchText.objects.filter(part="title").delete()
        SearchText.objects.filter(part="output").update(text="别的")
        secret = Thread.objects.get(is_incognito=True)
        SearchText.objects.create(key=f"{secret.pk}.title", thread=secret, part="title", text="悄悄话")
        assert reindexed().endswith("2 conversations read, 2 differed\n")
        assert set(SearchText.objects.values_list()) == kept

    def test_index_that_differs_is_named(self) -> None:
        SearchIndex.objects.update(records=7)
        school = builders.school_of(self.user)
        assert f"The index of user {self.user.pk} in {school.pk} was not as it should be; it is now." in reindexed()
        assert reindexed().startswith("1 indexes built, 0 differed")

    def test_index_of_a_school_is_built_too(self) -> None:
        school = builders.school_of(self.user)
        SearchIndex.objects.create(tenant=school, kind=SearchIndex.Kind.KNOWLEDGE, records=7)
        assert f"The index of the documents of school {school.pk} was not as it should be" in reindexed()
