"""Frames: what a page's socket is told, as JSON text (RUNTIME 7).

Offsets count code points of a run's output. A frame says from where (`at`) to where (`to`) it brings the page; a page
that is not at `at` asks for a new start. What a frame shows may lag behind `to`: an unfinished formula is held back.
"""

import json
from dataclasses import dataclass
from html import escape

from chat.presentation import answer_html, shown_end, tail_html
from chat.runs.events import ReasoningAdded, TextAdded


def frame(kind: str, **fields: str | int) -> str:
    return json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))


class Gap(Exception):
    """The viewer lacks text before this event and must be told from the start."""


@dataclass(slots=True)
class Told:
    """How far one viewer has been told of a run that goes.

    `open_text` is `output[closed:told]`, of which the first `visible` are shown.
    """

    closed: int
    open_text: str
    visible: int
    reasoning: int

    @classmethod
    def of(cls, text: str, closed: int, reasoning: int) -> "Told":
        open_text = text[closed:]
        return cls(closed, open_text, shown_end(open_text), reasoning)

    @property
    def end(self) -> int:
        return self.closed + len(self.open_text)

    def add(self, event: TextAdded, language: str) -> str:
        """The frame that brings the viewer up to `event`, "" when it is there already; raises Gap.

        All viewers who stand at the event's start are told the same, so the frame is made once and kept on the event.
        """
        at, closed = self.end, self.closed
        if event.end <= at:
            return ""
        if event.start > at:
            raise Gap
        whole = self.open_text + event.text[at - event.start :]
        split = max(event.closed - closed, 0)
        shown_before = 0 if split else self.visible
        self.closed, self.open_text = closed + split, whole[split:]
        self.visible = max(shown_end(self.open_text), shown_before)

        def make(_event: TextAdded) -> str:
            html = tail_html(self.open_text, shown_before, self.visible)
            if not split:
                return frame("delta", run=event.run_id, at=at, to=self.end, html=html)
            return frame("block", run=event.run_id, at=at, to=self.end, html=answer_html(whole[:split]), tail=html)

        is_shared = at == event.start and closed == event.closed_before
        name = f"frame:block:{language}" if split else f"frame:delta:{shown_before}"
        return event.formatted(name, make) if is_shared else make(event)

    def think(self, event: ReasoningAdded) -> str:
        """As `add`, for the model's reasoning."""
        at, end = self.reasoning, event.start + len(event.text)
        if end <= at:
            return ""
        if event.start > at:
            raise Gap
        self.reasoning = end

        def make(_event: ReasoningAdded) -> str:
            return frame("reasoning", run=event.run_id, at=at, to=end, html=escape(event.text[at - event.start :]))

        return event.formatted("frame:reasoning", make) if at == event.start else make(event)
