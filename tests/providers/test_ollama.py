"""Ollama's lines, from small payloads."""

import json

import pytest

from chat.providers.base import (
    ContextTooLong,
    EmptyAnswer,
    ModelNotFound,
    ProviderOverloaded,
    ProviderUnreachable,
    StreamBroken,
    ToolSpec,
    Usage,
    complete,
)
from chat.providers.ollama import Ollama
from chat.text.tokens import count_tokens
from tests.providers.builders import collect, endpoint, merged, network, ok, request

BASE = "http://ollama.test:11434"


def line(done=False, **message):
    value = {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": done}
    if done:
        value |= {"done_reason": "stop", "prompt_eval_count": 7, "eval_count": 2}
    return json.dumps(value, ensure_ascii=False) + "\n"


HELLO = line(content="你") + line(content="好") + line(done=True)


async def answer_to(body, to=None, asked=None):
    return await complete(Ollama(network(body)), to or endpoint(BASE), asked or request())


async def test_lines_become_text_with_usage_and_a_finish():
    answer = await answer_to(HELLO)
    assert (answer.text, answer.finish, answer.usage) == ("你好", "stop", Usage(7, 2))


async def test_characters_may_be_split_over_reads():
    assert (await answer_to(bytes([byte]) for byte in HELLO.encode())).text == "你好"


async def test_a_reply_at_its_limit_says_so():
    body = line(content="x") + json.dumps({"message": {"content": ""}, "done": True, "done_reason": "length"})
    answer = await answer_to(body)
    assert (answer.finish, answer.usage) == ("length", None)


async def test_thinking_stays_apart_in_its_field_and_in_tags():
    answer = await answer_to(line(thinking="let me ") + line(content="<think>see</think>\n") + HELLO)
    assert (answer.reasoning, answer.text) == ("let me see", "你好")


async def test_tool_calls_get_ids_and_their_arguments_as_text():
    call = {"function": {"name": "thread_read", "arguments": {"run_id": "run_9"}}}
    answer = await answer_to(line(tool_calls=[call]) + line(done=True))
    assert [(one.name, json.loads(one.arguments)) for one in answer.tool_calls] == [("thread_read", {"run_id": "run_9"})]
    assert answer.tool_calls[0].id
    assert answer.finish == "tool_calls"


async def test_a_broken_line_is_skipped():
    assert (
        await answer_to(line(content="你") + '{"model":"m","message":{"role":"assis\n' + line(content="好") + line(done=True))
    ).text == "你好"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("the runner stopped", ProviderOverloaded),
        ("prompt is too long for the context window", ContextTooLong),
        ("model 'x' not found", ModelNotFound),
    ],
)
async def test_an_error_line_is_mapped_after_the_text_was_given(message, kind):
    deltas, error = await collect(Ollama(network(line(content="你") + json.dumps({"error": message}))), endpoint(BASE))
    assert type(error) is kind
    assert merged(deltas).text == "你"


async def test_an_end_without_the_last_line_is_broken_after_the_text_was_given():
    deltas, error = await collect(Ollama(network(line(content="你"))), endpoint(BASE))
    assert isinstance(error, StreamBroken)
    assert merged(deltas).text == "你"


@pytest.mark.parametrize("body", ["<!doctype html>\n<p>a page</p>\n", ""])
async def test_a_body_of_another_kind_is_broken(body):
    _, error = await collect(Ollama(network(body)), endpoint(BASE))
    assert isinstance(error, StreamBroken)


async def test_an_answer_without_text_is_empty():
    _, error = await collect(Ollama(network(line(done=True))), endpoint(BASE))
    assert isinstance(error, EmptyAnswer)


async def body_sent(to, asked):
    seen = []

    def respond(message):
        seen.append(message)
        return ok(HELLO)

    await complete(Ollama(network(respond)), to, asked)
    return str(seen[0].url), json.loads(seen[0].content)


async def test_the_window_and_the_limits_are_sent_as_options():
    _, body = await body_sent(endpoint(BASE, context_tokens=8192), request(max_tokens=50, temperature=0.2))
    assert body["options"] == {"num_ctx": 8192, "num_predict": 50, "temperature": 0.2}
    assert body["stream"] is True


@pytest.mark.parametrize("characters", [10, 12_000, 40_000])
async def test_an_endpoint_without_a_window_gets_one_that_the_request_fits(characters):
    text = "教学设计与评价" * (characters // 7)
    _, body = await body_sent(endpoint(BASE), request(messages=[{"role": "user", "content": text}], max_tokens=1_000))
    assert body["options"]["num_ctx"] >= count_tokens(text) + 1_000
    assert body["options"]["num_ctx"] % 8_192 == 0


async def test_a_tool_round_is_told_in_its_words():
    call = {"id": "c1", "type": "function", "function": {"name": "thread_read", "arguments": '{"run_id": "run_9"}'}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "全文"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "the paper"},
    ]
    _, body = await body_sent(endpoint(BASE), request(messages=messages, tools=(ToolSpec("thread_read", "Reads.", {"type": "object"}),)))
    assert body["messages"] == [
        {"role": "user", "content": "全文"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "thread_read", "arguments": {"run_id": "run_9"}}}]},
        {"role": "tool", "content": "the paper", "tool_name": "thread_read"},
    ]
    assert body["tools"][0]["function"]["name"] == "thread_read"


@pytest.mark.parametrize("base_url", [BASE, BASE + "/", BASE + "/v1", BASE + "/api/"])
async def test_base_urls_of_either_interface_are_understood(base_url):
    url, _ = await body_sent(endpoint(base_url), request())
    assert url == BASE + "/api/chat"


async def test_models_are_listed():
    listing = {"models": [{"name": "qwen:1.5b"}, {"name": "llama3"}]}
    assert await Ollama(network(json.dumps(listing))).list_models(endpoint(BASE)) == ["llama3", "qwen:1.5b"]


async def test_nothing_at_the_address_is_unreachable():
    with pytest.raises(ProviderUnreachable):
        await Ollama().list_models(endpoint("http://127.0.0.1:1"))
