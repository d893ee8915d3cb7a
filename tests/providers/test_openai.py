"""The event stream of compatible servers, from small payloads."""

import gzip
import json

import httpx
import pytest

from chat.providers.base import (
    ContextTooLong,
    EmptyAnswer,
    ProviderOverloaded,
    ProviderRateLimited,
    StreamBroken,
    ToolCall,
    ToolSpec,
    Usage,
    complete,
)
from chat.providers.openai import OpenAI
from tests.providers.builders import Pieces, chunk, collect, endpoint, event, event_stream, merged, network, ok, request

HELLO = [chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"), chunk("stop")]
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}


async def answer_to(body, **more):
    return await complete(OpenAI(network(body)), endpoint(), request(**more))


async def test_a_stream_becomes_text_with_usage_and_a_finish():
    answer = await answer_to(event_stream(*HELLO, USAGE))
    assert (answer.text, answer.finish, answer.usage) == ("Hello", "stop", Usage(7, 2))


async def test_events_of_one_network_read_come_as_one_delta():
    deltas, error = await collect(OpenAI(network(event_stream(*HELLO))))
    assert error is None
    assert [delta.text for delta in deltas] == ["Hello", ""]


async def test_usage_beside_the_content_counts_too():
    answer = await answer_to(event_stream({**HELLO[1], "usage": None}, {**chunk("stop", content="!"), "usage": USAGE["usage"]}))
    assert answer.usage == Usage(7, 2)


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
async def test_every_line_end_of_the_standard_is_understood(eol):
    body = "".join(event(value, eol=eol) for value in [*HELLO[:3], chunk(content="\u2028你"), HELLO[3]])
    answer = await answer_to(bytes([byte]) for byte in body.encode())
    assert answer.text == "Hello\u2028你"


async def test_comments_other_fields_and_data_without_a_space_do_not_matter():
    body = ": hi\n\nid: 1\nevent: message\nretry: 5\ndata:" + json.dumps(HELLO[1]) + "\n\n: ping\n\n" + event_stream(*HELLO[2:])
    assert (await answer_to(body)).text == "Hello"


async def test_null_content_and_odd_chunks_are_no_text():
    odd = [chunk(content=None), {"choices": None}, {}, {"choices": [{"delta": None}]}, {"choices": [{"index": 0}]}, {"choices": ["x"]}]
    assert (await answer_to(event_stream(*odd, *HELLO))).text == "Hello"


async def test_an_end_with_a_reason_needs_no_end_mark():
    assert (await answer_to(event_stream(*HELLO, done=False))).text == "Hello"


async def test_an_end_mark_needs_no_reason():
    assert (await answer_to(event_stream(*HELLO[:3]))).finish == "stop"


async def test_a_last_line_without_a_line_end_is_read():
    body = event_stream(*HELLO[:3], done=False) + event(HELLO[3]).rstrip("\n")
    assert (await answer_to(body)).text == "Hello"


async def test_an_end_with_neither_is_broken_after_the_text_was_given():
    deltas, error = await collect(OpenAI(network(event_stream(*HELLO[:3], done=False))))
    assert isinstance(error, StreamBroken)
    assert merged(deltas).text == "Hello"


async def test_a_lost_connection_after_the_reason_is_a_whole_answer():
    body = Pieces([event_stream(*HELLO, done=False).encode()], httpx.ReadError("reset"))
    deltas, error = await collect(OpenAI(network(httpx.Response(200, stream=body))))
    assert error is None
    assert (merged(deltas).text, merged(deltas).finish) == ("Hello", "stop")


async def test_up_to_three_broken_lines_are_skipped(caplog):
    broken = 'data: {"choices": [{"delta": {"content": "bro\n\n'
    assert (await answer_to(event_stream(HELLO[1], done=False) + broken * 3 + event_stream(*HELLO[2:]))).text == "Hello"
    assert "3 broken lines" in caplog.text
    assert "bro\\n" not in caplog.text


async def test_a_fourth_broken_line_breaks_the_stream():
    deltas, error = await collect(OpenAI(network(event_stream(*HELLO[:3], done=False) + "data: {oops\n\n" * 4)))
    assert isinstance(error, StreamBroken)
    assert merged(deltas).text == "Hello"


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"message": "boom", "type": "server_error", "code": 502}, ProviderOverloaded, 502),
        ({"message": "slow down", "code": "429"}, ProviderRateLimited, 429),
        ({"message": "Rate limit reached", "code": "rate_limit_exceeded"}, ProviderRateLimited, None),
        ({"message": "too big", "code": "context_length_exceeded"}, ContextTooLong, None),
        ("the engine died", ProviderOverloaded, None),
    ],
)
async def test_an_error_in_mid_stream_is_mapped_after_the_text_was_given(error, kind, status):
    deltas, failure = await collect(OpenAI(network(event_stream(*HELLO[:3], {"error": error}))))
    assert type(failure) is kind
    assert failure.status == status
    assert merged(deltas).text == "Hello"


@pytest.mark.parametrize("indent", [None, 2])
async def test_a_whole_completion_is_accepted(indent):
    message = {"role": "assistant", "content": "Hello", "reasoning_content": "hm", "tool_calls": None}
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE["usage"]}
    answer = await answer_to(json.dumps(whole, indent=indent))
    assert (answer.text, answer.reasoning, answer.usage) == ("Hello", "hm", Usage(7, 2))


@pytest.mark.parametrize("body", ["<!doctype html>\n<title>Log in</title>", '{"choices": [', '{"ok": true}', "plain", ""])
async def test_a_body_that_is_neither_is_broken(body):
    deltas, error = await collect(OpenAI(network(body)))
    assert isinstance(error, StreamBroken)
    assert deltas == []


async def test_an_error_object_with_status_200_is_mapped():
    _, error = await collect(OpenAI(network('{"error": {"message": "quota", "code": 429}}')))
    assert isinstance(error, ProviderRateLimited)


@pytest.mark.parametrize("contents", [[], [None], [""], [" \n"]])
async def test_an_answer_without_text_is_empty(contents):
    _, error = await collect(OpenAI(network(event_stream(*[chunk(content=c) for c in contents], chunk("stop")))))
    assert isinstance(error, EmptyAnswer)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_stays_apart(field):
    answer = await answer_to(event_stream(chunk(**{field: "let me "}), chunk(**{field: "see"}), *HELLO))
    assert (answer.reasoning, answer.text) == ("let me see", "Hello")


@pytest.mark.parametrize("size", [1, 3, 100])
async def test_think_tags_split_anywhere_are_reasoning(size):
    text = "\n<think>\nif a < b </thin> then</think>\n\nHello <think>x</think>"
    chunks = [chunk(content=text[i : i + size]) for i in range(0, len(text), size)]
    answer = await answer_to(event_stream(*chunks, chunk("stop")))
    assert (answer.reasoning, answer.text) == ("if a < b </thin> then", "Hello <think>x</think>")


async def test_what_only_began_like_a_tag_is_text_even_when_the_stream_breaks():
    deltas, error = await collect(OpenAI(network(event_stream(chunk(content="<thi"), done=False))))
    assert isinstance(error, StreamBroken)
    assert merged(deltas).text == "<thi"


def call_piece(index=None, call_id=None, name=None, arguments=None):
    piece = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return {**{key: value for key, value in piece.items() if value is not None}}


async def test_tool_calls_split_over_many_chunks_come_whole():
    pieces = [
        call_piece(0, "c0", "thread_read", ""),
        call_piece(0, arguments='{"run_'),
        call_piece(1, "c1", "memory_add"),
        call_piece(0, arguments='id": "run_9"}'),
    ]
    deltas, error = await collect(OpenAI(network(event_stream(*[chunk(tool_calls=[p]) for p in pieces], chunk("tool_calls")))))
    assert error is None
    assert deltas[-1].tool_calls == (ToolCall("c0", "thread_read", '{"run_id": "run_9"}'), ToolCall("c1", "memory_add", "{}"))
    assert deltas[-1].finish == "tool_calls"


async def test_calls_without_ids_or_indexes_get_ids_of_their_own():
    pieces = [call_piece(name="a", arguments='{"x":'), call_piece(arguments="1}"), call_piece(name="b", arguments={"y": 2})]
    answer = await answer_to(event_stream(*[chunk(tool_calls=[p]) for p in pieces], chunk("stop")))
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("a", '{"x":1}'), ("b", '{"y": 2}')]
    assert len({call.id for call in answer.tool_calls}) == 2
    assert answer.finish == "tool_calls"


async def test_whole_calls_that_share_an_index_are_two():
    calls = [call_piece(0, "c0", "a", "{}"), call_piece(0, "c1", "b", "{}")]
    answer = await answer_to(event_stream(chunk(tool_calls=calls), chunk("stop")))
    assert [call.id for call in answer.tool_calls] == ["c0", "c1"]


async def test_a_compressed_stream_is_read():
    body = gzip.compress(event_stream(*HELLO).encode())
    pieces = Pieces([body[:20], body[20:]])
    answer = await complete(
        OpenAI(network(httpx.Response(200, headers={"content-encoding": "gzip"}, stream=pieces))), endpoint(), request()
    )
    assert answer.text == "Hello"


async def test_a_damaged_compressed_stream_is_broken():
    response = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Pieces([b"not gzip at all"]))
    _, error = await collect(OpenAI(network(response)))
    assert isinstance(error, StreamBroken)


async def test_a_line_without_end_is_broken():
    _, error = await collect(OpenAI(network(b"data: " + b"x" * 1024 * 1024 for _ in range(6))))
    assert isinstance(error, StreamBroken)


async def sent_by(asked, to):
    seen = []

    def respond(message):
        seen.append(message)
        return ok(event_stream(*HELLO))

    await complete(OpenAI(network(respond)), to, asked)
    return seen[0]


async def test_the_request_says_what_was_asked(monkeypatch):
    monkeypatch.setenv("TEST_MODEL_KEY", " secret-key\n")
    tool = ToolSpec("thread_read", "Reads.", {"type": "object"})
    message = await sent_by(request(max_tokens=50, temperature=0.2, tools=(tool,), purpose="summary"), endpoint(key_env="TEST_MODEL_KEY"))
    body = json.loads(message.content)
    assert (body["model"], body["stream"], body["stream_options"]) == ("mock", True, {"include_usage": True})
    assert (body["max_tokens"], body["temperature"], body["messages"][1]["role"]) == (50, 0.2, "user")
    assert body["tools"] == [
        {"type": "function", "function": {"name": "thread_read", "description": "Reads.", "parameters": {"type": "object"}}}
    ]
    headers = {name: message.headers[name] for name in ("x-purpose", "x-run-id", "x-thread-id", "authorization")}
    assert headers == {"x-purpose": "summary", "x-run-id": "run_1", "x-thread-id": "th_1", "authorization": "Bearer secret-key"}
    assert message.headers["user-agent"].startswith("memoryapp/")


async def test_what_was_not_asked_is_not_sent():
    message = await sent_by(request(run_id="", thread_id=""), endpoint(has_usage=False))
    assert set(json.loads(message.content)) == {"model", "messages", "stream"}
    assert not {"x-run-id", "x-thread-id", "authorization"} & set(message.headers)


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://model.test", "http://model.test/v1/chat/completions"),
        ("http://model.test/", "http://model.test/v1/chat/completions"),
        ("http://model.test/v1", "http://model.test/v1/chat/completions"),
        ("https://model.test/compatible-mode/v1/", "https://model.test/compatible-mode/v1/chat/completions"),
        ("https://model.test/openai?api-version=1", "https://model.test/openai/chat/completions?api-version=1"),
    ],
)
async def test_base_urls_are_taken_with_and_without_path_and_slash(base_url, url):
    assert str((await sent_by(request(), endpoint(base_url))).url) == url


async def test_openai_itself_gets_the_new_name_of_the_limit():
    message = await sent_by(request(max_tokens=50), endpoint("https://api.openai.com/v1"))
    assert json.loads(message.content)["max_completion_tokens"] == 50


async def test_models_are_listed():
    listing = {"object": "list", "data": [{"id": "b"}, {"id": "a"}, {"no": 1}]}
    assert await OpenAI(network(json.dumps(listing))).list_models(endpoint()) == ["a", "b"]
