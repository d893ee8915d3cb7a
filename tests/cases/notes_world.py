"""What the cases of notes share: a model that calls tools as it is told, and the stores of the teacher."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from chat.memory.notes import store
from chat.memory.notes.base import Place
from chat.models import NoteTarget, Owner
from tests.cases.model_server import Call, Reply
from tests.cases.world import Case

Wish = tuple[str, Mapping[str, Any]]  # the name of a tool, and its arguments


class NotesCase(Case):
    """The scripted model obeys whatever `wish` says of a request, and otherwise answers."""

    @pytest.fixture(autouse=True)
    def folder(self, settings: LazySettings, tmp_path: Path) -> None:
        settings.DATA_DIR = tmp_path

    def setUp(self) -> None:
        super().setUp()
        self.owner = Owner(self.school.pk, self.user.pk, self.agent.pk)
        self.wish: Callable[[Call], Wish | None] = lambda _call: None
        self.model.answer = self.answer

    def answer(self, call: Call) -> Reply:
        """One call of a tool, then the answer."""
        if call.purpose != "answer" or call.body["messages"][-1]["role"] == "tool":
            return Reply()
        wish = self.wish(call)
        return Reply(tokens=(), calls=[(wish[0], json.dumps(wish[1], ensure_ascii=False))]) if wish else Reply()

    def results(self) -> list[dict[str, Any]]:
        """What tools have answered to the model, as it was told."""
        last = [call.body["messages"][-1] for call in self.model.of("answer")]
        return [json.loads(message["content"]) for message in last if message["role"] == "tool"]

    def place(self, target: str = "memory") -> Place:
        return Place(self.owner, NoteTarget(target))

    def entries(self, target: str = "memory") -> list[str]:
        return list(store.look(self.place(target)).entries)

    def by_hand(self, text: str, target: str = "memory") -> None:
        """Edits the file itself, as a person with a text editor does."""
        folder = self.tmp / "notes" / self.school.pk / str(self.user.pk)
        path = folder / "USER.md" if target == "user" else folder / self.agent.pk / "MEMORY.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @pytest.fixture(autouse=True)
    def temporary(self, tmp_path: Path) -> None:
        self.tmp = tmp_path
