"""Notes: they are told with the system part, not here; after a run this looks whether a review of them is due."""

from chat.memory.base import Lease, Segment, SegmentName, Turn
from chat.memory.notes.review_due import note_end
from chat.models import Thread


class NotesLayer:
    name = "notes"
    segment: SegmentName = "system"
    priority = 0

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        return None

    def catch_up(self, thread: Thread, lease: Lease) -> None:
        note_end(thread, lease)
