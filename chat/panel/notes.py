"""The two notes as their page shows them: entries with what is wrong with each, how full a store is, what is being edited."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from chat.memory.blocked import threat_of
from chat.memory.notes import entries as form
from chat.memory.notes import store
from chat.memory.notes.base import Live, Place
from chat.memory.notes.shown import key_of
from chat.memory.notes.storage import NAMES, Backup
from chat.models import Agent, NoteTarget, Owner
from chat.panel.note_ops import NoteOpCard
from chat.sidebar import agents_of

KEY_CHARS = 16  # of an entry's name in a form, whatever stands before it by then
SHOWN_MOST = 50_000  # characters of a text that was changed from outside; for more an editor in a page is of no use


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a store is. `percent` is rounded down and at most 100 (§1.2); of what is over says `is_over`."""

    count: int
    chars: int
    limit: int

    @property
    def percent(self) -> int:
        return form.percent(self.chars, self.limit)

    @property
    def is_over(self) -> bool:
        return self.chars > self.limit

    @property
    def is_near(self) -> bool:
        return not self.is_over and form.percent(self.chars, self.limit) >= form.NEAR_LIMIT_PERCENT

    @property
    def sizes(self) -> str:
        """“159/2,200”."""
        return form.usage_of_limit(self.chars, self.limit)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it is. `category` is that of the threat which keeps it out of prompts, "" for none; `key` names its text."""

    number: int
    text: str
    category: str
    is_too_long: bool

    @property
    def key(self) -> str:
        return key_of(self.text, KEY_CHARS)

    @property
    def chars(self) -> int:
        return len(self.text)


@dataclass(slots=True)
class StoreCard:
    """One store with what stands around it. The fields from `draft` on belong to an edit that was not kept."""

    place: Place
    live: Live
    agent: Agent | None
    entries: list[Entry]
    history: list[NoteOpCard] = field(default_factory=list)
    more: str = ""  # into `?after=` of the history's next part
    raw: str = ""  # of a store that cannot be read: what is legible of its bytes
    backups: Sequence[Backup] = ()
    draft: str | None = None
    line: str = ""  # the entry that was to be added
    error: str = ""
    error_at: str = ""  # `text`, `content` or `file`: which of the forms was refused
    accepted: str = ""
    is_conflict: bool = False

    @property
    def name(self) -> str:
        return str(self.place.target)

    @property
    def file_name(self) -> str:
        return NAMES[self.place.target]

    @property
    def usage(self) -> Usage:
        return usage_of(self.live)

    @property
    def is_readable(self) -> bool:
        return self.live.trouble != "unreadable"

    @property
    def is_drifted(self) -> bool:
        return self.live.trouble == "drift"

    @property
    def is_huge(self) -> bool:
        """Too large to be shown, so it can only be replaced by a file."""
        return len(self.live.text if self.is_readable else self.raw) > SHOWN_MOST

    @property
    def text(self) -> str:
        """What the editor holds."""
        if self.draft is not None:
            return self.draft
        if self.is_huge:
            return ""
        return self.live.text if self.is_readable else self.raw


def entries_of(live: Live) -> list[Entry]:
    """The entries as they are, each with what keeps it out of prompts; none of a text that is too large to be shown."""
    if len(live.text) > SHOWN_MOST:
        return []
    return [Entry(number, text, threat_of(text), is_too_long=len(text) > live.limit_chars) for number, text in enumerate(live.entries, 1)]


def entry_of(live: Live, key: str) -> str:
    """The text of an entry that a form has named; "" when it does not stand there any more."""
    return next((text for text in live.entries if key_of(text, KEY_CHARS) == key), "")


def legible(place: Place) -> str:
    """What can be made out of a file that is no UTF-8 text; "" when it cannot be opened."""
    return (store.raw(place) or b"").decode("utf-8", "replace")


def noting_agents(user: AbstractBaseUser, tenant_id: str) -> list[Agent]:
    """The assistants whose notes a user may look at: those that they may talk to, and those switched off that noted something."""
    offered = agents_of(user, tenant_id)
    own = Q(note_ops__user_id=user.pk) & Q(tenant_id=tenant_id, tenant__memberships__user_id=user.pk)
    others = Agent.objects.filter(own).exclude(pk__in=[one.pk for one in offered]).order_by("name", "pk").distinct()
    return [*offered, *others]


def usages_of(owner: Owner) -> list[tuple[str, Usage | None]]:
    """How full the stores are, by the names of their files; None for one that cannot be read."""
    targets = [NoteTarget.MEMORY, NoteTarget.USER] if owner.agent_id else [NoteTarget.USER]
    found = [(NAMES[target], store.look(Place(owner, target))) for target in targets]
    return [(name, None if live.trouble == "unreadable" else usage_of(live)) for name, live in found]


def usage_of(live: Live) -> Usage:
    return Usage(len(live.entries), live.chars, live.limit_chars)
