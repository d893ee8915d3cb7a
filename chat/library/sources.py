"""Sources: what the `[n]` marks of an answer lead to (DESIGN §5 L4). `[n]` is the n-th of `Run.citations`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.models import Passage, Run
from chat.text.markdown import Mark


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that stood in the prompt. Without `document_id` it is gone: deleted, or of a version that was replaced."""

    number: int
    passage_id: str
    document_id: str = ""
    name: str = ""
    page: int | None = None
    heading: str = ""

    @property
    def address(self) -> str:
        return reverse("passage", args=[self.passage_id]) if self.document_id else ""

    @property
    def place(self) -> str:
        """Where in the document it stands, "" where that is not known."""
        parts = [_("page %(number)d") % {"number": self.page} if self.page else "", self.heading]
        return " · ".join(part for part in parts if part)

    @property
    def mark(self) -> Mark:
        return Mark(self.address, " · ".join(part for part in (self.name, self.place) if part))


def sources_of(runs: Iterable[Run]) -> dict[str, list[Source]]:
    """The sources of each run that has any, by its id; one query for all of them, none when no run has any.

    The runs are of one user, and what they may not see is told as gone.
    """
    cited = [run for run in runs if run.citations]
    if not cited:
        return {}
    found = _passages(cited)
    return {
        run.pk: [replace(found.get(passage_id, Source(0, passage_id)), number=number) for number, passage_id in enumerate(run.citations, 1)]
        for run in cited
    }


def _passages(runs: list[Run]) -> dict[str, Source]:
    ids = {passage_id for run in runs for passage_id in run.citations}
    may_see = Q(document__user_id=runs[0].user_id) | Q(document__user=None)
    rows = Passage.objects.filter(may_see, pk__in=ids, document__tenant__memberships__user_id=runs[0].user_id)
    values = rows.values_list("pk", "document_id", "document__name", "page", "heading")
    return {passage_id: Source(0, passage_id, document_id, name, page, heading) for passage_id, document_id, name, page, heading in values}
