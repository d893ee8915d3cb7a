"""Any sequence of operations, hand edits and crashes keeps the text readable, within its budget or untouched, and loses no entry that
no operation in the log has removed. On both storages."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from chat.memory.notes import decide, journal, rows, store
from chat.memory.notes import entries as form
from chat.memory.notes import files as files_module
from chat.models import NoteOp
from tests.memory.notes.world import Killed, MortalOs, World, replayed

LIMIT = 40
WORDS = st.sampled_from(["甲", "乙", "丙丁", "§", "…", " ", "\u3000", "\n", "\r\n", "\ufeff", "Ａ", "A", "字" * 9])
TEXT = st.lists(WORDS, max_size=6).map("".join)
OPERATION = st.fixed_dictionaries({"action": st.sampled_from(["add", "replace", "remove"]), "content": TEXT, "old_text": TEXT})


class Notes(RuleBasedStateMachine):
    """`base` are the entries after the last hand edit, `seen` the operations that the log had then."""

    patch: pytest.MonkeyPatch

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.base: list[str] = []
        self.seen = 0
        self.is_text = True

    # What is done with the store

    @rule(content=TEXT)
    def add(self, content: str) -> None:
        self._write("add", content)

    @rule(content=TEXT, old_text=TEXT, place=st.integers(0, 5))
    def replace(self, content: str, old_text: str, place: int) -> None:
        self._write("replace", content, self._piece(old_text, place))

    @rule(place=st.integers(0, 5), other=st.integers(0, 5))
    def replace_by_another(self, place: int, other: int) -> None:
        entries = self.world.entries()
        if entries:
            self._write("replace", entries[other % len(entries)], entries[place % len(entries)])

    @rule(old_text=TEXT, place=st.integers(0, 5))
    def remove(self, old_text: str, place: int) -> None:
        self._write("remove", "", self._piece(old_text, place))

    @rule(operations=st.lists(OPERATION, max_size=4))
    def batch(self, operations: list[dict[str, Any]]) -> None:
        self._write("batch", operations=operations)

    @rule(parts=st.lists(TEXT, max_size=4))
    def edit(self, parts: list[str]) -> None:
        before = self._before()
        result = self.world.edit("\n§\n".join(parts))
        self._after(before, result.is_done)

    @rule(which=st.integers(0, 30))
    def undo(self, which: int) -> None:
        ops = self.world.ops()
        if ops:
            before = self._before()
            self._after(before, decide.undo(self.world.user, ops[which % len(ops)].pk).is_done)

    @rule(content=TEXT, is_wanted=st.booleans())
    def decide(self, content: str, is_wanted: bool) -> None:
        before = self._before()
        staged = self.world.write("add", content, is_staged=True)
        assert self._before() == before
        if staged.op_id and is_wanted:
            self._after(before, decide.approve(self.world.user, staged.op_id).is_done)
        elif staged.op_id:
            assert decide.reject(self.world.user, staged.op_id)

    # What else happens to it

    @rule(parts=st.lists(TEXT, max_size=5), separator=st.sampled_from(["\n§\n", "\r\n § \r\n", "\n\n§\n\n", "\r§\r"]))
    def edit_by_hand(self, parts: list[str], separator: str) -> None:
        self.world.put(separator.join(parts))
        self._begin_anew()

    @precondition(lambda self: self.world_is_files())
    @rule(content=st.sampled_from([b"\xff\xfe", "甲".encode("gb18030"), b"\xe7\x94", b"a\0b"]))
    def spoil(self, content: bytes) -> None:
        self.world.put(content)
        self._begin_anew()
        assert not self.world.write("add", "甲").is_done and self.world.raw() == content

    @rule(content=TEXT, dies_at=st.integers(0, 30), is_edited=st.booleans())
    def crash(self, content: str, dies_at: int, is_edited: bool) -> None:
        before = self._before()
        mortal = MortalOs(dies_at)
        with self.patch.context() as patch:
            patch.setattr(files_module, "os", mortal)
            patch.setattr(journal, "keep", mortal.counted(journal.keep))
            patch.setattr(rows, "_write", mortal.counted(rows._write))
            with suppress(Killed):
                self.world.write("add", content)
        written = self.world.raw()
        with store.storage().hold(self.world.memory):  # whoever comes next
            assert self.world.raw() == written
        self._after(before, True)
        if is_edited:
            self.edit_by_hand(["手改的"], "\n§\n")

    # What is always so

    @invariant()
    def the_log_says_what_is_there(self) -> None:
        if self.is_text:
            assert list(self.world.entries()) == replayed(self._new_ops(), self.base)

    @invariant()
    def what_we_wrote_is_read_as_it_was(self) -> None:
        if self.is_text and self._new_ops():
            assert self.world.raw() == form.encode(self.world.entries())

    def world_is_files(self) -> bool:
        return isinstance(store.storage(), files_module.Files)

    def _new_ops(self) -> list[NoteOp]:
        return [op for op in self.world.ops(state__in=["applied", "undone"]) if op.pk not in self._known]

    def _begin_anew(self) -> None:
        self._known = {op.pk for op in self.world.ops(state__in=["applied", "undone"])}
        self.base = self.world.entries()
        self.is_text = self.world.look().trouble != "unreadable"

    _known: set[str] = set()

    def _piece(self, old_text: str, place: int) -> str:
        """A text that mostly names an entry."""
        entries = self.world.entries()
        return entries[place % len(entries)][: 1 + place] if entries and place else old_text

    def _before(self) -> tuple[list[str], int, bytes]:
        return self.world.entries(), self.world.look().chars, self.world.raw()

    def _write(self, verb: str, content: str = "", old_text: str = "", **more: Any) -> None:
        before = self._before()
        result = self.world.write(verb, content, old_text, **more)
        self._after(before, result.is_done)

    def _after(self, before: tuple[list[str], int, bytes], is_done: bool) -> None:
        entries, chars, raw = before
        if not is_done:
            assert self.world.raw() == raw
            return
        if self.world.raw() != raw and not self.is_text:  # a person has saved a text over bytes that were none
            self.is_text, self.base = True, []
        now = self.world.look()
        assert now.trouble != "unreadable" or self.world.raw() == raw
        assert now.chars <= LIMIT or now.chars < chars or self.world.raw() == raw
        lost = [entry for entry in entries if entry not in now.entries]
        removed = {change["old"] for op in self._new_ops() for change in op.changes}
        assert set(lost) <= removed


@pytest.fixture
def machine(world, settings, monkeypatch):
    settings.NOTES_MEMORY_CHARS = LIMIT
    return type("NotesOnStorage", (Notes,), {"patch": monkeypatch})


QUICK = settings(max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(QUICK, max_examples=100, stateful_step_count=30)


def test_nothing_is_lost(machine):
    run_state_machine_as_test(machine, settings=QUICK)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_is_lost_in_many_sequences(machine):
    run_state_machine_as_test(machine, settings=LONG)
