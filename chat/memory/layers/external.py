"""A memory backend outside this program, in the place of recall (DESIGN §5, Backends)."""

from chat.memory.base import Lease, Segment, SegmentName, Turn
from chat.memory.external import deliver, tell
from chat.models import Thread


class ExternalLayer:
    name = "external"
    segment: SegmentName = "external"
    priority = 4

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        return tell.segment(turn, budget_tokens)

    def catch_up(self, thread: Thread, lease: Lease) -> None:
        deliver.catch_up(thread, lease)
