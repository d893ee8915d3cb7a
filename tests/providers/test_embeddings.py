"""Texts into vectors: what is sent, what is accepted, and what is refused."""

import json
import traceback

import httpx
import numpy as np
import pytest

from chat.providers.base import ModelNotFound, ProviderAuthError, ProviderError, ProviderKeyMissing, ProviderOverloaded, StreamBroken
from chat.providers.embeddings import TEXTS_AT_ONCE, EmbeddingUnusable, embed
from tests.providers.builders import endpoint, network, ok

SECRET = "王小明的身份证号"


class Service:
    """Answers with vectors of two numbers: the place of the text, and one."""

    def __init__(self, change=None):
        self.requests, self.bodies = [], []
        self.change = change or (lambda answer: answer)

    def __call__(self, message):
        body = json.loads(message.content)
        self.requests.append(message)
        self.bodies.append(body)
        data = [{"index": i, "embedding": [float(i), 1.0]} for i in range(len(body["input"]))]
        answer = self.change({"data": data, "usage": {"prompt_tokens": 7}})
        return answer if isinstance(answer, httpx.Response) else ok(answer if isinstance(answer, bytes) else json.dumps(answer))


async def ask(service, *texts, kind="openai", base_url="http://model.test/v1", model="bge-m3", role="passage", **more):
    to = endpoint(base_url=base_url, model=model)
    to = type(to)(**{name: getattr(to, name) for name in to.__slots__} | {"kind": kind})
    return await embed(to, texts or ("一", "二"), role, network=network(service), **more)


async def test_a_vector_of_length_one_comes_for_each_text():
    found = await ask(Service())
    assert np.allclose(found.vectors, [[0, 1], [0.7071, 0.7071]], atol=1e-3)
    assert found.input_tokens == 7


async def test_many_texts_go_in_batches():
    service = Service()
    found = await ask(service, *[f"第{i}句" for i in range(TEXTS_AT_ONCE + 3)])
    assert [len(body["input"]) for body in service.bodies] == [TEXTS_AT_ONCE, 3]
    assert (len(found.vectors), found.input_tokens) == (TEXTS_AT_ONCE + 3, 14)


async def test_vectors_are_put_in_the_order_of_the_texts():
    found = await ask(Service(lambda answer: answer | {"data": answer["data"][::-1]}))
    assert np.allclose(found.vectors[0], [0, 1])


@pytest.mark.parametrize(
    ("kind", "base_url", "wanted"),
    [
        ("openai", "http://model.test/v1", "http://model.test/v1/embeddings"),
        ("openai", "http://model.test", "http://model.test/v1/embeddings"),
        ("openai", "http://model.test/api/v3/", "http://model.test/api/v3/embeddings"),
        ("ollama", "http://model.test:11434", "http://model.test:11434/v1/embeddings"),
        ("ollama", "http://model.test:11434/v1/", "http://model.test:11434/v1/embeddings"),
        ("ollama", "http://model.test:11434/api", "http://model.test:11434/v1/embeddings"),
    ],
)
async def test_each_kind_is_found_at_its_address(kind, base_url, wanted):
    service = Service()
    await ask(service, kind=kind, base_url=base_url)
    assert str(service.requests[0].url) == wanted


async def test_the_purpose_stands_in_a_header():
    service = Service()
    await ask(service)
    assert service.requests[0].headers["x-purpose"] == "embed"


@pytest.mark.parametrize(
    ("model", "style", "sent"),
    [
        ("intfloat/multilingual-E5-small", "by_name", {"input": ["query: 一"]}),
        ("bge-m3", "by_name", {"input": ["一"]}),
        ("bge-m3", "prefix", {"input": ["query: 一"]}),
        ("e5", "none", {"input": ["一"]}),
        ("e5", "input_type", {"input": ["一"], "input_type": "query"}),
    ],
)
async def test_a_model_is_told_what_is_a_question_as_it_wants(model, style, sent):
    service = Service()
    await ask(service, "一", model=model, role="query", style=style)
    assert {name: value for name, value in service.bodies[0].items() if name != "model"} == sent


def one(**more):
    return {"data": [{"index": 0, "embedding": [1.0, 0.0]}, {"index": 1, "embedding": [0.0, 1.0]} | more]}


@pytest.mark.parametrize(
    "answer",
    [
        {"data": one()["data"][:1]},
        {"data": [*one()["data"], *one()["data"]]},
        one(embedding=[1.0]),
        one(embedding=[]),
        one(embedding=[None, 1.0]),
        one(embedding=["x", SECRET]),
        one(embedding=[0.0, 0.0]),
        one(embedding=SECRET),
        one(embedding=None),
        one(index=0),
        one(index="1"),
        json.dumps(one(embedding=[float("nan"), 1.0])).encode(),
        json.dumps(one(embedding=[float("inf"), 1.0])).encode(),
    ],
)
async def test_vectors_that_are_none_are_refused(answer):
    with pytest.raises(EmbeddingUnusable) as caught:
        await ask(Service(lambda _: answer))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b"{}", b'{"data": 1}', b'{"data": [1, 2]}', b"[" * 100_000])
async def test_what_is_no_answer_is_refused(answer):
    with pytest.raises(StreamBroken):
        await ask(Service(lambda _: answer))


@pytest.mark.parametrize(("status", "kind"), [(401, ProviderAuthError), (404, ModelNotFound), (503, ProviderOverloaded)])
async def test_statuses_mean_the_same_as_for_answers(status, kind):
    service = Service(lambda _: httpx.Response(status, content=SECRET.encode()))
    with pytest.raises(kind) as caught:
        await ask(service, SECRET)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert len(service.requests) == (3 if status == 503 else 1)


async def test_an_error_in_a_good_answer_is_an_error():
    with pytest.raises(ProviderError):
        await ask(Service(lambda _: {"error": {"message": "overloaded"}}))


async def test_only_as_many_attempts_are_made_as_are_wanted():
    service = Service(lambda _: httpx.Response(503))
    with pytest.raises(ProviderOverloaded):
        await ask(service, attempts=1)
    assert len(service.requests) == 1


async def test_the_key_comes_from_the_environment_or_nothing_is_sent(monkeypatch):
    service = Service()
    to = endpoint(key_env="TEST_EMBEDDINGS_KEY")
    monkeypatch.delenv("TEST_EMBEDDINGS_KEY", raising=False)
    with pytest.raises(ProviderKeyMissing):
        await embed(to, ["一"], network=network(service))
    assert not service.requests
    monkeypatch.setenv("TEST_EMBEDDINGS_KEY", "sk-1")
    await embed(to, ["一"], network=network(service))
    assert service.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_no_texts_ask_nobody():
    service = Service()
    found = await embed(endpoint(), [], network=network(service))
    assert (len(found.vectors), service.requests) == (0, [])
