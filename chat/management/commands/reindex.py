"""Builds what is searched anew, and says whether it was as it should be."""

from django.core.management.base import BaseCommand

from chat.memory.knowledge import passages
from chat.memory.recall import entries
from chat.models import Document, Owner, RecallEntry, SearchIndex, SearchText, Thread


class Command(BaseCommand):
    help = "Builds every search index and the searched text of every conversation anew, and compares them with what there was."
    requires_system_checks: list[str] = []

    def handle(self, **options: object) -> None:
        done = [self._recall(tenant_id, user_id) for tenant_id, user_id in sorted(_recalling())]
        done += [self._knowledge(tenant_id, user_id) for tenant_id, user_id in sorted(_knowing(), key=str)]
        self.stdout.write(f"{len(done)} indexes built, {done.count(False)} differed")
        read = [SearchText.objects.renew(thread_id) for thread_id in list(Thread.objects.values_list("pk", flat=True))]
        self.stdout.write(f"{len(read)} conversations read, {read.count(False)} differed")

    def _recall(self, tenant_id: str, user_id: int) -> bool:
        is_right = entries.reindex(Owner(tenant_id, user_id))
        if not is_right:
            self.stdout.write(f"The index of user {user_id} in {tenant_id} was not as it should be; it is now.")
        return is_right

    def _knowledge(self, tenant_id: str, user_id: int | None) -> bool:
        is_right = passages.reindex(tenant_id, user_id)
        if not is_right:
            whose = f"of user {user_id} in {tenant_id}" if user_id is not None else f"of school {tenant_id}"
            self.stdout.write(f"The index of the documents {whose} was not as it should be; it is now.")
        return is_right


def _recalling() -> set[tuple[str, int]]:
    kept = RecallEntry.objects.values_list("tenant_id", "user_id").distinct()
    indexed = SearchIndex.objects.filter(kind=SearchIndex.Kind.RECALL, user__isnull=False).values_list("tenant_id", "user_id")
    return {*kept, *((tenant_id, user_id) for tenant_id, user_id in indexed if user_id is not None)}


def _knowing() -> set[tuple[str, int | None]]:
    """Teachers in schools, and schools (None), that have documents."""
    indexed = SearchIndex.objects.filter(kind=SearchIndex.Kind.KNOWLEDGE).values_list("tenant_id", "user_id")
    return {*Document.objects.values_list("tenant_id", "user_id").distinct(), *indexed}
