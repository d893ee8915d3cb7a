"""Builds the search index anew from the entries, and says whether it was as it should be."""

from django.core.management.base import BaseCommand

from chat.memory.recall.entries import reindex
from chat.models import Owner, RecallEntry, SearchIndex


class Command(BaseCommand):
    help = "Builds every owner's search index anew and compares it with what there was."
    requires_system_checks: list[str] = []

    def handle(self, **options: object) -> None:
        owners = set(RecallEntry.objects.values_list("tenant_id", "user_id").distinct())
        owners |= set(SearchIndex.objects.values_list("tenant_id", "user_id"))
        differing = [owner for owner in sorted(owners) if not reindex(Owner(*owner))]
        for tenant_id, user_id in differing:
            self.stdout.write(f"The index of user {user_id} in {tenant_id} was not as it should be; it is now.")
        self.stdout.write(f"{len(owners)} indexes built, {len(differing)} differed")
