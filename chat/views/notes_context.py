"""What the templates of the notes get, and which store a form is about."""

from collections.abc import Collection

from django.http import Http404, QueryDict

from chat.memory.notes import journal, store
from chat.memory.notes.base import Live, Place
from chat.memory.switches import off_by
from chat.middleware import PageRequest
from chat.models import Agent, NoteOp, NoteTarget, Owner
from chat.panel.badge import badge_of
from chat.panel.last_action import LastAction, last_note_action
from chat.panel.lists import Page, counts_of, page_of
from chat.panel.note_ops import note_op_card, with_source
from chat.panel.notes import StoreCard, entries_of, legible, noting_agents
from chat.views.memory_context import frame, tenant_of

HISTORY_PAGE = 5
_NEWEST = ("-created_at", "-pk")


def chosen_agent(page: PageRequest, offered: list[Agent], agent_id: str) -> Agent | None:
    """The assistant of `?agent=`, else the one used last, else the first; 404 for one that the user has no notes of."""
    if agent_id:
        found = next((one for one in offered if one.pk == agent_id), None)
        if found is None:
            raise Http404
        return found
    return next((one for one in offered if one.pk == page.preference.agent_id), offered[0] if offered else None)


def place_of(page: PageRequest, fields: QueryDict) -> tuple[Place, Agent | None]:
    """The store that a form or address names, and the assistant whose page it stands on; 404 for one that is not the user's."""
    if page.tenant is None:
        raise Http404
    offered = noting_agents(page.user, page.tenant.pk)
    agent = chosen_agent(page, offered, fields.get("agent", ""))
    name = fields.get("store", "")
    if name not in NoteTarget.values or (name == NoteTarget.MEMORY and agent is None):
        raise Http404
    return place_in(page, NoteTarget(name), agent), agent


def place_in(page: PageRequest, target: NoteTarget, agent: Agent | None) -> Place:
    return Place(Owner(tenant_of(page), page.user.pk, agent.pk if agent is not None else None), target)


def store_card(page: PageRequest, place: Place, agent: Agent | None, *, after: str = "") -> StoreCard:
    """One store as it is now, with the newest of its history."""
    live = store.look(place)
    card = StoreCard(place, live, agent, entries_of(live))
    if live.trouble == "unreadable":
        card.raw = legible(place)
    card.backups = store.backups(place)
    found = history_page(page, place, after)
    card.history, card.more = [note_op_card(row, entries_now(live)) for row in found.rows], found.more
    return card


def entries_now(live: Live) -> Collection[str] | None:
    """The entries of a store; None when nobody knows them."""
    return None if live.trouble == "unreadable" else live.entries


def history_page(page: PageRequest, place: Place, after: str) -> Page[NoteOp]:
    return page_of(with_source(journal.history(page.user, place)), _NEWEST, after, HISTORY_PAGE)


def page_context(
    page: PageRequest, agent_id: str = "", *, card: StoreCard | None = None, history: tuple[str, str] = ("", "")
) -> dict[str, object]:
    """Both stores and what stands around them; `card` stands in for the one of the same store, `history` is the store whose
    history is turned to another page, and the place in it."""
    tenant_id = tenant_of(page)
    offered = noting_agents(page.user, tenant_id) if tenant_id else []
    chosen = chosen_agent(page, offered, agent_id)
    targets = ([NoteTarget.MEMORY] if chosen is not None else []) + [NoteTarget.USER] if tenant_id else []
    stores = [
        card if card is not None and card.place.target == target
        else store_card(page, place_in(page, target, chosen), chosen, after=history[1] if history[0] == target else "")
        for target in targets
    ]  # fmt: skip
    return {
        "offered": offered,
        "chosen": chosen,
        "stores": stores,
        "off_by": off_by(Owner(tenant_id, page.user.pk)) if tenant_id else "",
        "undoable": undoable(page),
        "counts": counts_of(page.user, tenant_id),
    } | {"badge": badge_of(page.user, tenant_id)}


def history_card(page: PageRequest, agent_id: str, target: NoteTarget, after: str) -> dict[str, object]:
    """A further part of the history of one store."""
    if page.tenant is None:
        raise Http404
    chosen = chosen_agent(page, noting_agents(page.user, page.tenant.pk), agent_id)
    if chosen is None and target == NoteTarget.MEMORY:
        raise Http404
    place = place_in(page, target, chosen)
    found = history_page(page, place, after)
    entries = entries_now(store.look(place))
    owner = {"name": str(target), "history": [note_op_card(row, entries) for row in found.rows], "more": found.more}
    return {"owner": owner, "chosen": chosen}


def store_context(page: PageRequest, card: StoreCard, agent: Agent | None, *, words: str = "", is_done: bool = False) -> dict[str, object]:
    """One store, and what has just happened to it."""
    return {"card": card, "chosen": agent, "words": words, "is_done": is_done, "undoable": undoable(page)}


def undoable(page: PageRequest) -> LastAction | None:
    return last_note_action(page.user, tenant_of(page))


def whole_page(page: PageRequest, context: dict[str, object]) -> dict[str, object]:
    return frame(page) | context
