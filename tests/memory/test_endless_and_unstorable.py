"""Answers to memory's own questions that never end, or that no database can hold."""

import asyncio
from unittest.mock import patch

import pytest

from chat.memory import model, summary
from chat.memory.summary import extract
from chat.models import MemoryOp
from chat.providers.base import MOST_CHARS, Delta, ProviderTimeout, StreamBroken
from chat.text.redlines import redact
from chat.text.tokens import count_tokens
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.memory.answering import AnsweringProvider, FreeLease, long_thread, settle

pytestmark = pytest.mark.django_db


def test_call_that_hangs_for_ever_ends_and_is_on_the_bill() -> None:
    thread = long_thread()
    silent = ScriptedProvider(["摘要", asyncio.Event()])
    with patch.object(model, "CALL_MAX_SECONDS", 0.05), scripted(silent), pytest.raises(ProviderTimeout):
        summary.catch_up(thread, FreeLease())
    assert MemoryOp.objects.get().error_code == "provider_timeout"


def test_answer_without_end_is_broken_off() -> None:
    thread = long_thread()
    endless = ScriptedProvider([Delta(text="摘" * 50_000)] * 100)
    with scripted(endless), pytest.raises(StreamBroken):
        summary.catch_up(thread, FreeLease())
    assert endless.closed == 1
    assert 0 < MemoryOp.objects.get().output_tokens < MOST_CHARS * 2


def test_summary_with_characters_that_cannot_be_stored_is_stored_without_them() -> None:
    thread = long_thread()
    settle(thread, AnsweringProvider(lambda request: "教师在出\x00试卷，\ud800共五题。"))
    assert thread.rolling_summary == "教师在出试卷，\ufffd共五题。"


def test_summary_without_a_model_says_something_of_the_newest_round_however_small_it_is() -> None:
    thread = long_thread(0)
    rounds = [builders.run(thread, "请出一份关于" + "数据结构与算法" * 20, "好的，这是" + "第一题" * 40) for _ in range(2)]
    text = extract("", rounds, 100, redact)
    assert text.startswith("请出一份关于") and count_tokens(text) <= 100
