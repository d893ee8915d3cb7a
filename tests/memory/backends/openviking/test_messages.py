"""What is sent to the server, and what never is (seed 002 §7.2)."""

import base64
from datetime import UTC, datetime
from time import perf_counter

import pytest

from chat.memory.backends.base import MemoryMessage
from chat.memory.backends.openviking.messages import (
    BATCH_MOST_CHARS,
    MESSAGE_MOST_CHARS,
    QUERY_MOST_CHARS,
    OpenVikingMessage,
    batches,
    outgoing,
    query_of,
)
from chat.text.redlines import redact
from tests.memory.backends.openviking.wire import SCOPE, World, said

PICTURE = base64.b64encode(bytes(range(256)) * 8).decode()


def texts(*messages, redact=str):
    return [message.body["content"] for message in outgoing(messages, redact)]


def message(content, role="user", **more):
    return MemoryMessage(more.pop("id", "m1"), role, content, **more)


def test_what_a_person_typed_and_the_answer_go_out_in_their_order():
    found = outgoing(said("Which chalk?", "Blue."), str)
    assert [(one.id, one.body) for one in found] == [
        ("m1", {"role": "user", "content": "Which chalk?"}),
        ("m2", {"role": "assistant", "content": "Blue."}),
    ]


@pytest.mark.parametrize("role", ["system", "tool", "developer", "function", "", "User"])
def test_no_other_role_goes_out(role):
    assert texts(message("You are helpful.", role)) == []


def test_what_no_person_sees_does_not_go_out():
    assert texts(message("(reminder of the program)", is_hidden=True), message("a step", "assistant", id="m2", is_hidden=True)) == []


@pytest.mark.parametrize("blank", ["", "  \n\t", "\0\x01"])
def test_a_blank_message_does_not_go_out(blank):
    assert texts(message(blank)) == []


def test_when_it_was_said_goes_out_with_its_time_zone():
    at = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
    assert outgoing([message("Hello", created_at=at)], str)[0].body["created_at"] == "2026-11-30T08:00:00+00:00"


def test_nothing_of_our_ids_goes_out():
    assert set(outgoing(said("Hello"), str)[0].body) == {"role", "content"}


def test_private_text_is_redacted_before_it_goes_out():
    phone = "13812345678"
    (sent,) = texts(message(f"家长电话 {phone}，下周家访"), redact=redact)
    assert phone not in sent and "家访" in sent


@pytest.mark.parametrize(
    "binary",
    [
        f"data:image/png;base64,{PICTURE}",
        PICTURE,
        "\n".join(PICTURE[at : at + 76] for at in range(0, len(PICTURE), 76)),
        "\r\n".join(PICTURE[at : at + 64] for at in range(0, len(PICTURE), 64)),
        "data:application/pdf;name=a.pdf;base64,JVBERi0xLjQ=",
    ],
)
def test_a_file_written_as_text_is_left_out(binary):
    (sent,) = texts(message(f"Look: {binary} Nice?"))
    assert (sent, len(sent) < 30) == ("Look: […] Nice?", True)


@pytest.mark.parametrize(
    "text",
    [
        "一年级语文教案 " * 200,
        "https://example.org/" + "a" * 150,
        "word " * 500,
        "x" * 300,
        "def f(a, b):\n    return a + b\n" * 50,
    ],
)
def test_long_text_that_is_no_file_stays(text):
    assert texts(message(text)) == [text]


def test_characters_that_the_server_refuses_are_left_out():
    assert texts(message("a\0b\ud83dc\x1bd\ne\tf")) == ["abcd\ne\tf"]


def test_an_endless_message_is_cut_and_looked_through_in_no_time():
    began = perf_counter()
    (sent,) = texts(message("a" * 63 + "/" * 255 + (("b" * 200) + " ") * 10_000))
    assert len(sent) <= MESSAGE_MOST_CHARS and perf_counter() - began < 2


def test_an_id_goes_out_once():
    assert texts(message("one"), message("two"), message("three", id="m3")) == ["one", "three"]


def test_a_message_without_an_id_gets_the_same_one_each_time_and_another_at_another_place():
    messages = [message("same", id=""), message("same", id=""), message("same", "assistant", id="")]
    first, again = ([one.id for one in outgoing(messages, str)] for _ in range(2))
    assert first == again and len(set(first)) == 3 and "same" not in "".join(first)


def test_batches_hold_a_hundred_messages_at_most():
    sizes = [len(batch) for batch in batches([OpenVikingMessage(str(at), {"content": "x"}) for at in range(250)])]
    assert sizes == [100, 100, 50]


def test_batches_hold_no_more_text_than_the_server_takes():
    large = [OpenVikingMessage(str(at), {"content": "x" * MESSAGE_MOST_CHARS}) for at in range(10)]
    found = list(batches(large))
    assert [one for batch in found for one in batch] == large
    assert max(sum(one.chars for one in batch) for batch in found) <= BATCH_MOST_CHARS


def test_a_query_is_redacted_in_one_line_and_short():
    asked = query_of(f"电话 13812345678\n\n怎么安排？{'长' * 9_000}", redact)
    assert "13812345678" not in asked and "\n" not in asked and len(asked) <= QUERY_MOST_CHARS


async def test_the_server_gets_nothing_of_what_never_goes_out():
    world = World()
    messages = [
        message("SYSTEM-PROMPT", "system", id="a"),
        message("TOOL-OUTPUT", "tool", id="b"),
        message("HIDDEN", id="c", is_hidden=True),
        message(f"We decided {PICTURE}", id="d"),
        message("call 13812345678", id="e"),
    ]
    await world.manager(redact=redact).add(SCOPE, "th_1", messages)
    sent = b"".join(request.content for request in world.seen).decode()
    assert "We decided" in sent
    assert not [word for word in ("SYSTEM-PROMPT", "TOOL-OUTPUT", "HIDDEN", PICTURE[:60], "13812345678") if word in sent]
