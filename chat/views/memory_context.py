"""What the templates of the memory panel get."""

from collections.abc import Sequence

from django.urls import Resolver404, resolve
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.memory.core.room import FACTS_MOST
from chat.memory.switches import off_by
from chat.middleware import PageRequest
from chat.models import Agent, Candidate, NoteOp, Owner, Thread
from chat.models.core import FACT_MAX_CHARS, Kind
from chat.panel.badge import badge_of
from chat.panel.cards import CandidateCard, FactCard, candidate_card
from chat.panel.external import forgetting_of, gaps_of, outside_of
from chat.panel.last_action import LastAction, last_action
from chat.panel.lists import Filters, confirmed_groups, counts_of, shelf_page
from chat.panel.note_ops import NoteOpCard, note_op_card
from chat.panel.notes import usages_of
from chat.panel.twins import twins_of
from chat.panel.waiting import waiting_page
from chat.sidebar import agents_of, last_agent
from chat.views.chat import frame_context

DRAWER_CARDS = 5

SHELVES: dict[str, tuple[Promise, Promise]] = {
    "archived": (_("Archive"), _("These were remembered once and made room for others. They are not used; bring back what should be.")),
    "rejected": (_("Not kept"), _("You have turned these down, so they are not proposed again. Allow what may be proposed once more.")),
    "deleted": (_("Deleted"), _("Only what is needed to recognise these is left, so that they are not proposed again.")),
    "stopped": (
        _("Held back"),
        _("The filter for private matters stopped these before anything was stored. What it hid cannot be shown again."),
    ),
}


def tenant_of(page: PageRequest) -> str:
    return page.tenant.pk if page.tenant is not None else ""


def frame(page: PageRequest) -> dict[str, object]:
    """The sidebar, with the assistant that was used last."""
    agent = last_agent(page.user, page.preference, page.tenant.pk) if page.tenant is not None else None
    return frame_context(page, agent)


def panel_context(page: PageRequest, filters: Filters, *, after: str = "", has_pending: bool = True) -> dict[str, object]:
    """Both lists and what stands around them. Without `has_pending` the cards of what waits are left out."""
    tenant_id = tenant_of(page)
    groups = confirmed_groups(page.user, tenant_id, filters)
    agents = agents_of(page.user, tenant_id)
    context: dict[str, object] = {
        "filters": filters,
        "back": filters.query,
        "place": "panel",
        "kinds": Kind.choices,
        "agents": agents,
        "outside": outside_of(agents, preferred_id=page.preference.agent_id),
        "counts": counts_of(page.user, tenant_id),
        "groups": groups,
        "facts_most": FACTS_MOST,
        "text_max": FACT_MAX_CHARS,
        "badge": badge_of(page.user, tenant_id),
        "off_by": off_by(Owner(tenant_id, page.user.pk)) if tenant_id else "",
        "undoable": undoable(page),
    }
    if has_pending:
        found = waiting_page(page.user, tenant_id, filters, after)
        context |= {"cards": cards_of(page, found.rows), "more": found.more}
    return context


def page_context(page: PageRequest, filters: Filters, *, after: str = "") -> dict[str, object]:
    """The whole page: also the rounds that a memory backend did not capture, and how far forgetting everything is.

    What is remembered there is not asked for here: the page loads it.
    """
    context = frame(page) | panel_context(page, filters, after=after)
    tenant_id = tenant_of(page)
    gaps = gaps_of(page.user, tenant_id) if context["outside"] is not None else []
    return context | {"gaps": gaps, "forgetting": forgetting_of(page.user, tenant_id)}


def cards_of(page: PageRequest, rows: Sequence[NoteOp | Candidate]) -> list[NoteOpCard | CandidateCard]:
    """The cards of what waits; candidates with what looks like them."""
    candidates = [row for row in rows if isinstance(row, Candidate)]
    tenant_id = candidates[0].tenant_id if candidates else tenant_of(page)
    twins = twins_of(page.user, tenant_id, candidates)
    cards = [waiting_card(row) for row in rows]
    for card in cards:
        if isinstance(card, CandidateCard):
            card.twins = twins.get(card.row.pk, [])
    return cards


def waiting_card(row: NoteOp | Candidate) -> NoteOpCard | CandidateCard:
    return candidate_card(row) if isinstance(row, Candidate) else note_op_card(row)


def shelf_context(page: PageRequest, name: str, after: str) -> dict[str, object]:
    title, lead = SHELVES[name]
    q = page.GET.get("q", "").replace("\0", "").strip()[:100]
    found = shelf_page(page.user, tenant_of(page), name, q=q, after=after)
    return {
        "shelf": name,
        "title": title,
        "lead": lead,
        "q": q,
        "rows": found.rows,
        "more": found.more,
        "back": f"list={name}",
        "counts": counts_of(page.user, tenant_of(page)),
        "badge": badge_of(page.user, tenant_of(page)),
        "undoable": undoable(page),
    }


def drawer_context(
    page: PageRequest, *, words: str = "", is_done: bool = False, card: CandidateCard | FactCard | NoteOpCard | None = None
) -> dict[str, object]:
    """The first of what waits, how much is confirmed and how full the notes are; `card` stands in for the one of the same row."""
    tenant_id = tenant_of(page)
    found = waiting_page(page.user, tenant_id, Filters(), size=DRAWER_CARDS)
    cards = [card if card is not None and card.row.pk == row.pk else waiting_card(row) for row in found.rows]
    noting = noting_agent(page)
    return {
        "noting": noting,
        "usages": usages_of(Owner(tenant_id, page.user.pk, noting.pk if noting is not None else None)) if tenant_id else [],
        "cards": cards,
        "place": "drawer",
        "back": "",
        "counts": counts_of(page.user, tenant_id),
        "badge": badge_of(page.user, tenant_id),
        "text_max": FACT_MAX_CHARS,
    } | notice_context(page, words, is_done=is_done)


def notice_context(page: PageRequest, words: str, *, is_done: bool) -> dict[str, object]:
    """What has just happened, and what can be undone."""
    tenant_id = tenant_of(page)
    return {
        "words": words,
        "is_done": is_done,
        "is_oob": True,
        "undoable": undoable(page),
        "badge": badge_of(page.user, tenant_id),
        "counts": counts_of(page.user, tenant_id),
    }


def undoable(page: PageRequest) -> LastAction | None:
    """The user's last decision that has not been taken back."""
    return last_action(page.user, tenant_of(page))


def noting_agent(page: PageRequest) -> Agent | None:
    """The assistant whose notes the drawer names: that of the page beside it, else the one used last."""
    agents = agents_of(page.user, tenant_of(page))
    agent_id = _agent_beside(page)
    found = next((one for one in agents if one.pk == agent_id), None)
    return found or last_agent(page.user, page.preference, tenant_of(page))


def _agent_beside(page: PageRequest) -> str:
    """The assistant of the page that asks for the drawer, by its address; "" when it has none."""
    try:
        beside = resolve((page.htmx.current_url_abs_path or "/").partition("?")[0])
    except Resolver404:
        return ""
    if beside.url_name == "thread":
        found = Thread.objects.for_user(page.user).filter(pk=beside.kwargs["thread_id"])
        return found.values_list("agent_id", flat=True).first() or ""
    return str(beside.kwargs.get("agent_id", ""))
