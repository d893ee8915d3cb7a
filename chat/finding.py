"""Finding: what a user has said and been told, by the words in it, as plain values for pages.

Exactly the titles and messages in which all words occur (chat.text.fold), on the active path, of threads that are not
incognito, in one school. The newest threads come first, and in each its newest messages.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date

from chat.models import Agent, Run, SearchText, Thread
from chat.models.search import SearchTextQuerySet
from chat.sidebar import after_cursor, cursor_of
from chat.text.fold import Piece, excerpt, marked, plain, words_of

QUERY_CHARS = 200
PAGE_THREADS = 20
COUNTED_THREADS = 100  # further ones are "more than"
PLACES_EACH = 3
PAGE_PLACES = 50  # of one thread, when it is looked through alone
_NEWEST_FIRST = ("-run__slot", "-part")  # "output" stands behind "input"


@dataclass(frozen=True, slots=True)
class Quest:
    """What is looked for: words and filters, in the form in which they stand in the address."""

    q: str = ""
    agent: str = ""
    thread: str = ""
    since: date | None = None
    until: date | None = None

    @classmethod
    def of(cls, query: QueryDict) -> "Quest":
        """Takes what can be understood, and leaves out the rest."""

        def text(name: str, most_chars: int) -> str:
            return query.get(name, "").replace("\0", "")[:most_chars]

        return cls(text("q", QUERY_CHARS), text("agent", 40), text("thread", 40), _day(text("from", 10)), _day(text("to", 10)))

    @property
    def words(self) -> list[str]:
        return words_of(self.q)

    @property
    def is_narrow(self) -> bool:
        return bool(self.agent or self.thread or self.since or self.until)

    @property
    def address(self) -> str:
        """The part of the address behind the question mark."""
        values = {
            "q": self.q,
            "agent": self.agent,
            "from": self.since.isoformat() if self.since else "",
            "to": self.until.isoformat() if self.until else "",
        }
        query = QueryDict(mutable=True)
        query.update({name: value for name, value in values.items() if value})
        return query.urlencode()


@dataclass(frozen=True, slots=True)
class Place:
    """One message, with the words around what was found in it."""

    run_id: str
    part: str
    at: datetime
    pieces: list[Piece]


@dataclass(slots=True)
class FoundThread:
    """A thread with its newest places; `more` counts the messages that are not among them."""

    id: str
    title: list[Piece]
    agent_name: str
    updated_at: datetime
    is_archived: bool
    places: list[Place] = field(default_factory=list)
    more: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """One page. `count` threads were found behind the cursor, or more than that; `more` is the next page's cursor or ""."""

    threads: list[FoundThread] = field(default_factory=list)
    count: int = 0
    is_more_than: bool = False
    more: str = ""


def find(user: AbstractBaseUser, tenant_id: str, quest: Quest, after: str = "") -> Findings:
    """One page of threads; `after` is the `more` of the page before. Three queries, one when nothing is found."""
    words = quest.words
    if not words:
        return Findings()
    fits = SearchText.objects.filter(_within(quest)).holding(words).on_path()
    threads = Thread.objects.for_user(user).filter(tenant_id=tenant_id)
    if quest.agent:
        threads = threads.filter(agent_id=quest.agent)
    found = _with_any(threads, fits).order_by("-updated_at", "-id")
    values = after_cursor(found, after).values_list("id", "title", "agent__name", "updated_at", "status")
    rows = list(values[: COUNTED_THREADS + 1])
    shown = [
        FoundThread(id_, marked(title, words), agent_name, at, status == Thread.Status.ARCHIVED)
        for id_, title, agent_name, at, status in rows[:PAGE_THREADS]
    ]
    if shown:
        _add_places(user, shown, fits, words)
    more = cursor_of(shown[-1].updated_at, shown[-1].id) if len(rows) > PAGE_THREADS else ""
    return Findings(shown, min(len(rows), COUNTED_THREADS), len(rows) > COUNTED_THREADS, more)


def holding(threads: QuerySet[Thread], q: str) -> QuerySet[Thread]:
    """Those of the threads in which the words of a query stand; all of them for one without words."""
    words = words_of(q)
    return _with_any(threads, SearchText.objects.holding(words).on_path()) if words else threads


def _with_any(threads: QuerySet[Thread], fits: SearchTextQuerySet) -> QuerySet[Thread]:
    return threads.filter(Exists(fits.filter(thread=OuterRef("pk"))), is_incognito=False)


def assistants_talked_to(user: AbstractBaseUser, tenant_id: str) -> list[Agent]:
    """The assistants with which the user has conversations, also those that are no longer offered."""
    own = Thread.objects.for_user(user).filter(tenant_id=tenant_id, is_incognito=False, agent=OuterRef("pk"))
    return list(Agent.objects.filter(Exists(own), tenant_id=tenant_id).order_by("order", "name", "id"))


def own(user: AbstractBaseUser, tenant_id: str, quest: Quest) -> Quest:
    """The quest without a thread that is not the user's: nothing of such an address is shown again."""
    threads = Thread.objects.for_user(user).filter(tenant_id=tenant_id, is_incognito=False, pk=quest.thread)
    return quest if not quest.thread or threads.exists() else replace(quest, thread="")


def find_in_thread(user: AbstractBaseUser, tenant_id: str, quest: Quest, after: str = "") -> Findings:
    """One page of all the places in one thread; `after` is the `more` of the page before."""
    words = quest.words
    threads = Thread.objects.for_user(user).filter(tenant_id=tenant_id, is_incognito=False, pk=quest.thread)
    thread = threads.select_related("agent").first() if words else None
    if thread is None:
        return Findings()
    fits = SearchText.objects.filter(_within(quest), thread=thread).holding(words).on_path()
    has_title = fits.filter(run=None).exists()
    fits = fits.exclude(run=None)
    slot, _separator, part = after.partition("~")
    if slot.isascii() and slot.isdigit() and len(slot) < 10:
        fits = fits.filter(Q(run__slot__lt=int(slot)) | Q(run__slot=int(slot), part__lt=part.replace("\0", "")))
    rows = list(fits.order_by(*_NEWEST_FIRST).values_list("run_id", "part", "run__slot")[: PAGE_PLACES + 1])
    if not rows and not has_title:
        return Findings()
    is_archived = thread.status == Thread.Status.ARCHIVED
    one = FoundThread(thread.pk, marked(thread.title, words), thread.agent.name, thread.updated_at, is_archived)
    kept = rows[:PAGE_PLACES]
    one.places = _places(user, [(run_id, part) for run_id, part, _slot in kept], words)
    return Findings([one], 1, more=f"{kept[-1][2]}~{kept[-1][1]}" if len(rows) > PAGE_PLACES else "")


def _add_places(user: AbstractBaseUser, threads: list[FoundThread], fits: SearchTextQuerySet, words: list[str]) -> None:
    by_id = {thread.id: thread for thread in threads}
    picked: dict[str, list[tuple[str, str]]] = {key: [] for key in by_id}
    rows = fits.filter(thread__in=list(by_id)).exclude(run=None).order_by("thread_id", *_NEWEST_FIRST)
    for thread_id, run_id, part in rows.values_list("thread_id", "run_id", "part"):
        if len(picked[thread_id]) < PLACES_EACH:
            picked[thread_id].append((run_id, part))
        else:
            by_id[thread_id].more += 1
    wanted = [one for places in picked.values() for one in places]
    shown = {(place.run_id, place.part): place for place in _places(user, wanted, words)}
    for thread_id, places in picked.items():
        by_id[thread_id].places = [shown[one] for one in places if one in shown]


def _places(user: AbstractBaseUser, wanted: list[tuple[str, str]], words: list[str]) -> list[Place]:
    """The places in the order in which they are wanted, without those that went meanwhile."""
    runs = Run.objects.for_user(user).filter(pk__in={run_id for run_id, _part in wanted}).only("id", "input", "output", "created_at")
    by_id = {run.pk: run for run in runs}
    return [
        Place(
            run_id, part, run.created_at, plain(excerpt(run.output, words)) if part == SearchText.Part.OUTPUT else excerpt(run.input, words)
        )
        for run_id, part in wanted
        if (run := by_id.get(run_id)) is not None
    ]


def _within(quest: Quest) -> Q:
    """The days, in the user's time zone and both included. A message is of the day it was sent, a title of the thread's last."""
    bounds = []
    if quest.since:
        bounds.append(("gte", _midnight(quest.since)))
    if quest.until:
        bounds.append(("lt", _midnight(quest.until + timedelta(days=1))))
    return Q(_all("run__created_at", bounds), run__isnull=False) | Q(_all("thread__updated_at", bounds), run=None) if bounds else Q()


def _all(name: str, bounds: Iterable[tuple[str, datetime]]) -> Q:
    return Q(**{f"{name}__{lookup}": at for lookup, at in bounds})


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def _day(text: str) -> date | None:
    try:
        day = parse_date(text)
    except ValueError:
        return None
    # At the ends of the calendar there is no midnight in every time zone.
    return day if day is not None and 1 < day.year < 9999 else None
