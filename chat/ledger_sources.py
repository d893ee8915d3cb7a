"""What the rows are called that a ledger was made from: rounds by their conversation, the assistant by its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from chat.models import RecallEntry, Run, RunLedger
from chat.text.markdown import Mark


@dataclass(frozen=True, slots=True)
class Named:
    """A row with a name of its own, and where it can be seen ("": nowhere)."""

    id: str
    title: str
    address: str = ""

    @property
    def mark(self) -> Mark:
        return Mark(self.address, self.title)


def named_sources(run: Run, row: RunLedger) -> dict[str, Named]:
    """The rounds, by their ids, of the run's owner that the ledger names, its conversation and its assistant: two queries, three
    when it names something imported. What is gone has no name.
    """
    ids = {one for segment in row.segments for one in _ids(segment)}
    found = {run.agent_id: Named(run.agent_id, run.agent.name)}
    own = Run.objects.for_user(run.user).filter(pk__in=ids | {run.pk})
    for key, thread_id, title, slot in own.values_list("pk", "thread_id", "thread__title", "slot"):
        name = title or _("New conversation")
        if thread_id == run.thread_id:
            found[thread_id] = Named(thread_id, name, reverse("thread", args=[thread_id]))
        words = _("“%(title)s”, round %(number)d") % {"title": name, "number": slot}
        found[key] = Named(key, words, f"{reverse('thread', args=[thread_id])}?run={key}#{key}")
    imported = [one for one in ids if one.startswith("rec_")]
    if imported:
        entries = RecallEntry.objects.for_user(run.user).filter(pk__in=imported).exclude(title="")
        found |= {key: Named(key, _("“%(title)s”, imported") % {"title": title}) for key, title in entries.values_list("pk", "title")}
    return found


def _ids(segment: Mapping[str, Any]) -> set[str]:
    told = [one.get("id") for name in ("truncated", "dropped", "notes") for one in segment.get(name, [])]
    return {str(one) for one in [*segment.get("source_ids", []), *told] if one}
