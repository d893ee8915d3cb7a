"""The ledger: all segments of a request, equal byte for byte to what was sent (DESIGN §4)."""

from dataclasses import asdict, dataclass, field

from chat.memory.base import Segment
from chat.models import RunLedger
from chat.providers.base import Message
from chat.text.tokens import is_exact


@dataclass(slots=True)
class Ledger:
    """The segments in the order of the prompt, the memory's shared budget, and the names of the tools offered."""

    segments: list[Segment]
    shared_budget_tokens: int
    tools: list[str] = field(default_factory=list)

    @property
    def total_tokens(self) -> int:
        return sum(segment.tokens for segment in self.segments)

    @property
    def shared_tokens(self) -> int:
        """What the segments of memory take of their shared budget."""
        return sum(segment.tokens for segment in self.segments if segment.priority)

    def messages(self) -> list[Message]:
        """One system and one user message; the text of a role's segments is joined by a line break."""
        return [
            {"role": role, "content": "\n".join(one.text for one in self.segments if one.role == role and one.text)}
            for role in ("system", "user")
        ]


def to_row(run_id: str, ledger: Ledger) -> RunLedger:
    """The row that stores the ledger; not saved yet."""
    return RunLedger(
        run_id=run_id,
        segments=[asdict(segment) for segment in ledger.segments],
        tools=ledger.tools,
        total_tokens=ledger.total_tokens,
        shared_tokens=ledger.shared_tokens,
        shared_budget_tokens=ledger.shared_budget_tokens,
        is_estimate=not is_exact(),
    )


def from_row(row: RunLedger) -> Ledger:
    return Ledger([Segment(**one) for one in row.segments], row.shared_budget_tokens, list(row.tools))
