"""What pages show of a run: plain values and words in the viewer's language (UI.md).

A card is made from a row, and from the run's task while it goes in this process. Rendering a card touches no database,
so it may happen on the event loop. Words are chosen when the card is made: activate the viewer's language first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat.library.sources import Source
from chat.memory.external.ask import AS_WANTED
from chat.memory.external.permission import kept_at
from chat.models import Run
from chat.note_lines import NoteLine, RoundNotes
from chat.runs.live import LiveRun
from chat.text.blocks import BlockScanner, visible_end
from chat.text.claims import claims_saved
from chat.text.markdown import SafeHtml, render, render_cited, render_open

Words = str | Promise

STATUS_WORDS: dict[str, Words] = {
    "queued": gettext_lazy("Waiting"),
    "running": gettext_lazy("Answering"),
    "completed": gettext_lazy("Answered"),
    "failed": gettext_lazy("Not finished"),
    "cancelled": gettext_lazy("Stopped"),
}

TOOL_WORDS: dict[str, Words] = {
    "thread_read": gettext_lazy("Read an earlier round in full"),
    "kb_search": gettext_lazy("Searched the knowledge base"),
    "memory_add": gettext_lazy("Asked to add a note"),
    "memory_replace": gettext_lazy("Asked to change a note"),
    "memory_remove": gettext_lazy("Asked to remove a note"),
    "memory_batch": gettext_lazy("Asked to change several notes"),
    "memory_show": gettext_lazy("Looked at the notes"),
    "memory_refresh": gettext_lazy("Read the notes again"),
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an answer did not come: what happened, and what can be done about it."""

    what: Words
    advice: Words


_LATER = gettext_lazy("Try again in a moment, or use another assistant.")
_ADMINISTRATOR = gettext_lazy("Trying again will not help by itself; please tell your school's administrator.")
_SHORTER = gettext_lazy("Shorten the question, or start a new conversation.")
_AGAIN = gettext_lazy("Try again.")
_NO_VECTORS = gettext_lazy("The service answers, but not with usable vectors. Is this an embedding model?")

# One line for each code of chat.providers.base, and for what ends a run otherwise.
TROUBLES: dict[str, Trouble] = {
    "provider_error": Trouble(gettext_lazy("The model service could not answer."), _LATER),
    "provider_unreachable": Trouble(gettext_lazy("The model service cannot be reached."), _LATER),
    "provider_timeout": Trouble(gettext_lazy("The model service did not answer in time."), _LATER),
    "provider_auth": Trouble(gettext_lazy("The model service refused the school's key."), _ADMINISTRATOR),
    "provider_key_missing": Trouble(gettext_lazy("The key of the model service is not set up on the server."), _ADMINISTRATOR),
    "provider_rate_limited": Trouble(
        gettext_lazy("The model service is receiving too many requests."), gettext_lazy("Wait a little, then try again.")
    ),
    "provider_overloaded": Trouble(gettext_lazy("The model service is in trouble."), _LATER),
    "provider_rejected": Trouble(gettext_lazy("The model service did not accept the request."), _ADMINISTRATOR),
    "model_not_found": Trouble(gettext_lazy("The model service does not have this model."), _ADMINISTRATOR),
    "context_too_long": Trouble(gettext_lazy("The question and what belongs to it do not fit the model's window."), _SHORTER),
    "stream_broken": Trouble(gettext_lazy("The connection to the model service broke in the middle of the answer."), _AGAIN),
    "empty_answer": Trouble(gettext_lazy("The model service answered with nothing."), _AGAIN),
    "embedding_unusable": Trouble(_NO_VECTORS, _ADMINISTRATOR),
    "embedding_dimension": Trouble(_NO_VECTORS, _ADMINISTRATOR),
    "answer_too_long": Trouble(gettext_lazy("The answer did not come to an end and was cut off."), _AGAIN),
    "interrupted": Trouble(gettext_lazy("The answer was interrupted because the program was restarted."), _AGAIN),
    "internal_error": Trouble(
        gettext_lazy("Something went wrong inside the program."),
        gettext_lazy("Try again; if it happens once more, please tell the administrator."),
    ),
}
_UNKNOWN = Trouble(gettext_lazy("The answer could not be finished."), _AGAIN)

# Why a message was not accepted: chat.runs.errors, and what can be wrong with a frame of the socket.
REFUSALS: dict[str, Words] = {
    "thread_mismatch": gettext_lazy("This conversation no longer exists. Your text is kept in the box."),
    "incognito_mismatch": gettext_lazy("This conversation is of another kind. Reload the page; your text is kept in the box."),
    "not_found": gettext_lazy("This assistant is no longer available. Your text is kept in the box."),
    "invalid_mode": gettext_lazy("This assistant no longer has that mode. Choose another one and send again."),
    "input_empty": gettext_lazy("Write a message first."),
    "input_invalid": gettext_lazy("The message holds characters that cannot be stored. Remove them and send again."),
    "input_too_long": gettext_lazy("The message is too long for this model. Shorten it and send again."),
    "rate_limited": gettext_lazy("That was many messages in a short time. Wait a minute and send again; your text is kept."),
    "replaces_mismatch": gettext_lazy("This round has been tried again already, or is still going."),
    "idempotency_key_reused": gettext_lazy("This message was changed after it had been sent. Send it again."),
    "unavailable": gettext_lazy("The message could not be stored just now. Your text is kept; send it again in a moment."),
    "bad_frame": gettext_lazy("The page sent something that was not understood. Reload it; your text is kept."),
    "frame_too_large": gettext_lazy("The message is too large. Shorten it and send again."),
}
_NOT_ACCEPTED = gettext_lazy("The message was not accepted. Your text is kept in the box.")


def refusal_words(code: str) -> str:
    """Says why a message was refused and what to do."""
    return str(REFUSALS.get(code, _NOT_ACCEPTED))


# Why a memory backend gave nothing: the codes of chat.memory.external.ask and of the backends.
MISSED: dict[str, Words] = {
    "memory_timeout": gettext_lazy("It did not answer in time."),
    "memory_paused": gettext_lazy("It has failed several times and is left alone for a while."),
    "memory_unreachable": gettext_lazy("It cannot be reached."),
}
_MISSED = gettext_lazy("It could not be used.")


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One call of a tool, in words."""

    words: str
    is_ok: bool


def tool_lines(calls: Iterable[dict[str, Any]]) -> list[ToolLine]:
    """Says which tools were used; `calls` are dicts of `name` and `is_ok`. Arguments are the model's and stay out."""
    return [ToolLine(_tool_words(str(call.get("name", ""))), bool(call.get("is_ok"))) for call in calls]


def _tool_words(name: str) -> str:
    words = TOOL_WORDS.get(name)
    return str(words) if words else _("Used the tool “%(name)s”") % {"name": name}


@dataclass(frozen=True, slots=True)
class RunCard:
    """One round as the page shows it.

    `output_html` is rendered Markdown; while the run is going it holds the closed blocks only and `tail` what is
    visible of the open text behind them. `offset` and `reasoning_offset` say how far the card goes, in code points.
    """

    id: str
    thread_id: str
    slot: int
    key: str
    status: str
    status_words: str
    is_going: bool
    agent_name: str
    mode: str
    input: str
    output_html: SafeHtml
    tail: SafeHtml
    offset: int
    closed: int
    reasoning: str
    reasoning_offset: int
    tools: list[ToolLine]
    trouble: str
    missed: str
    facts: list[str]
    memories: str
    cited: list[Source]
    passages: str
    notes: RoundNotes
    has_output: bool
    has_earlier_tries: bool


def run_card(
    run: Run, agent_name: str, live: LiveRun | None = None, sources: Sequence[Source] = (), notes: Sequence[NoteLine] = ()
) -> RunCard:
    """Makes the card of a row; `live` is the same run while it goes. `sources` are those of an ended run, from chat.library.sources,
    and `notes` its lines so far, from chat.note_lines.

    Facts are shown of rows from `transcript.shown_runs` and of ended runs: others do not know their provider without a query.
    """
    status, output, closed, reasoning, calls = run.status, run.output, 0, run.reasoning, run.tool_calls
    if live is not None:
        status, output, closed, reasoning, calls = "running", live.text, live.closed, live.reasoning, live.tool_calls
    elif run.is_going:
        closed = BlockScanner().feed(output)
    cited: list[Source] = []
    if run.is_going:
        open_text = output[closed:]
        output_html, tail = answer_html(output[:closed]), SafeHtml(tail_html(open_text, 0, shown_end(open_text)))
    else:
        output_html, numbers = cited_html(output, sources)
        tail, cited = SafeHtml(), [sources[number - 1] for number in numbers]
    return RunCard(
        id=run.id,
        thread_id=run.thread_id,
        slot=run.slot,
        key=run.key or "",
        status=status,
        status_words=str(STATUS_WORDS[status]),
        is_going=run.is_going,
        agent_name=agent_name,
        mode=run.mode,
        input=run.input,
        output_html=output_html,
        tail=tail,
        offset=len(output),
        closed=closed,
        reasoning=reasoning,
        reasoning_offset=len(reasoning),
        tools=tool_lines(calls),
        trouble=trouble_words(run),
        missed=missed_words(run),
        facts=fact_words(run) if hasattr(run, "memory_tokens") and not run.is_going else [],
        memories=memory_words(run),
        cited=cited,
        passages=passage_words(len(sources)),
        notes=RoundNotes(run.id, list(notes), is_unsaved=not notes and not run.is_going and claims_saved(output)),
        has_output=bool(output.strip()),
        has_earlier_tries=run.replaces_id is not None,
    )


def trouble_words(run: Run) -> str:
    """Says what happened to a failed run, what was kept, and what can be done; "" for any other."""
    if run.status != Run.Status.FAILED:
        return ""
    trouble = TROUBLES.get(run.error_code, _UNKNOWN)
    kept = _("The question and the part that had arrived are kept.") if run.output.strip() else _("Your question is kept.")
    return _("%(what)s %(kept)s %(advice)s") % {"what": trouble.what, "kept": kept, "advice": trouble.advice}


def missed_words(run: Run) -> str:
    """Why memory was not available for the answer, "" when it was, or was not to be asked. Not known before the answer has ended."""
    if run.is_going or run.backend_code in AS_WANTED:
        return ""
    return str(MISSED.get(run.backend_code, _MISSED))


def fact_words(run: Run) -> list[str]:
    """The quiet line under an answer: what was in the prompt, tokens, time, model and where it stands."""
    facts: list[str] = []
    kept = kept_at(run.backend, run.backend_code)
    if number := len(getattr(run, "backend_ids", None) or ()):
        facts.append(ngettext("used %(count)d remembered item", "used %(count)d remembered items", number) % {"count": number})
    if getattr(run, "memory_tokens", 0):
        facts.append(_("with memory"))
    tokens = run.input_tokens + run.output_tokens
    if tokens:
        words = ngettext("%(count)s token", "%(count)s tokens", tokens) % {"count": f"{tokens:,}"}
        facts.append(_("about %(tokens)s") % {"tokens": words} if run.is_estimate else words)
    if run.finished_at is not None:
        facts.append(_("%(seconds)s s") % {"seconds": f"{(run.finished_at - run.created_at).total_seconds():.1f}"})
    if run.model:
        facts.append(run.model)
    if run.provider is not None and not run.provider.is_local:
        facts.append(_("sent to %(provider)s (cloud)") % {"provider": run.provider.name})
    elif run.provider is not None and run.embedder is None and kept is None:
        facts.append(_("stayed in the school"))
    if run.embedder is not None:
        facts.append(_("the question also went to %(provider)s, for search by meaning") % {"provider": run.embedder.name})
    if kept is not None:
        where = _("%(title)s (%(place)s)") % {"title": kept[0], "place": kept[1]} if kept[1] else kept[0]
        # Only what was answered goes there to be kept; a question is asked there in any case.
        is_kept = run.status == Run.Status.COMPLETED
        words = _("what is said also goes to %(where)s") if is_kept else _("the question also went to %(where)s, for memory")
        facts.append(words % {"where": where})
    return facts


def memory_words(run: Run) -> str:
    """How many memories stood in the prompt, "" for none and where it is not known."""
    ids = getattr(run, "core_ids", None) if getattr(run, "core_name", None) == "core" else None
    number = len(ids or ()) if not run.is_going else 0
    return ngettext("used %(count)d memory", "used %(count)d memories", number) % {"count": number} if number else ""


def passage_words(number: int) -> str:
    """How many passages of the knowledge base stood in the prompt, "" for none."""
    return ngettext("used %(count)d passage", "used %(count)d passages", number) % {"count": number} if number else ""


def cited_html(text: str, sources: Sequence[Source]) -> tuple[SafeHtml, list[int]]:
    """The Markdown of an ended answer, its `[n]` marks as links to their sources; and the numbers that it cites."""
    return render_cited(text, _("Copy"), [source.mark for source in sources]) if sources else (answer_html(text), [])


def answer_html(text: str) -> SafeHtml:
    """Renders Markdown of a model, with labels in the active language."""
    return render(text, copy_label=_("Copy")) if text else SafeHtml()


def run_html(card: RunCard) -> str:
    """The article of one round."""
    return render_to_string("chat/thread/_run.html", {"run": card})


def tools_html(calls: Iterable[dict[str, Any]]) -> str:
    """The list of the tools that a run has used so far."""
    return render_to_string("chat/thread/_tools.html", {"tools": tool_lines(calls)})


def tail_html(open_text: str, start: int, end: int) -> str:
    """`open_text[start:end]` of the open rest of an answer: escaped, with finished formulas set."""
    return render_open(open_text, start, end) if may_hold_formula(open_text) else escape(open_text[start:end])


def shown_end(open_text: str) -> int:
    """How much of the open rest of an answer is shown."""
    return visible_end(open_text) if may_hold_formula(open_text) else len(open_text)


def may_hold_formula(text: str) -> bool:
    # Most text does not, and this is asked for each piece of text.
    return "$" in text or "\\" in text
