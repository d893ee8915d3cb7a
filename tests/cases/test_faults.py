"""A model service in trouble: the page, the form and the API say what happened, keep what came, and tell nothing of the service."""

import json
import os
from dataclasses import dataclass
from unittest.mock import patch

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Agent, MemoryOp, Run, Thread
from chat.presentation import TROUBLES
from chat.providers.base import ProviderError
from tests import builders
from tests.cases.model_server import Reply
from tests.cases.world import EN, ZH, Case, article, part, words

KEY_ENV, KEY = "STUB_API_KEY", "sk-stub-4711"
# What the service says besides: none of it is anybody's business.
SECRETS = ("机密堆栈", "inner-host", "req-header-4711", KEY)
BODY = f'{{"error": {{"message": "机密堆栈 at inner-host, key {KEY}", "type": "t", "code": "c"}}}}'
HEADERS = {"x-request-id": "req-header-4711"}
PART = ("第一题", "，", "第二题")

rare = pytest.mark.process  # no processes, but all faults together take some seconds

KEPT = {EN: "Your question is kept.", ZH: "问题已保留。"}
PART_KEPT = {EN: "The question and the part that had arrived are kept.", ZH: "问题和已收到的部分都保留了。"}
LATER = {EN: "Try again in a moment, or use another assistant.", ZH: "请稍后再试，或换一个助手。"}
ADMINISTRATOR = {EN: "please tell your school's administrator.", ZH: "请告诉本校管理员。"}
AGAIN = {EN: "Try again.", ZH: "请再试一次。"}


@dataclass(frozen=True)
class Fault:
    """What the service does, and what the teacher is told: code, what happened in both languages, what can be done."""

    reply: Reply
    code: str
    what: dict[str, str]
    advice: dict[str, str]

    @property
    def text(self) -> str:
        """What had arrived before the trouble."""
        return "" if self.reply.status != 200 or self.reply.body and self.reply.end != "error" else "".join(self.reply.tokens)

    def said(self, language: str) -> list[str]:
        return [self.what[language], (PART_KEPT if self.text.strip() else KEPT)[language], self.advice[language]]


def status(number: int, body: str = BODY, **headers: str) -> Reply:
    return Reply(status=number, body=body, headers=HEADERS | headers)


class Faults(Case):
    def setUp(self) -> None:
        super().setUp()
        self.enterContext(patch.dict(os.environ, {KEY_ENV: KEY}))
        self.change(key_env=KEY_ENV)

    def change(self, **fields: object) -> None:
        """Changes the model service."""
        for name, value in fields.items():
            setattr(self.provider, name, value)
        self.provider.save()

    # The ways in.

    async def by_api(self, fault: Fault) -> None:
        response = await self.post("run", EN, input="接口问")
        answer = response.json()
        assert (response.status_code, answer["status"], answer["output"]) == (200, "failed", fault.text)
        assert answer["error"]["code"] == fault.code
        self.check_words(answer["error"]["message"], fault, EN)
        self.check_silence(response.content.decode())
        self.thread_id = answer["thread_id"]

    async def by_stream_api(self, fault: Fault) -> None:
        response = await self.post("run/stream", ZH, input="流式问", thread_id=self.thread_id)
        events = "".join([chunk.decode() async for chunk in response.streaming_content])
        name, _line, data = events.strip().split("\n\n")[-1].partition("\ndata: ")
        assert name == "event: failed"
        self.check_words(json.loads(data)["error"]["message"], fault, ZH)
        assert json.loads(data)["output"] == fault.text
        self.check_silence(events)

    async def by_form(self, fault: Fault) -> Run:
        run = await self.send_by_form("表单问", self.thread_id)
        assert (run.status, run.error_code, run.output) == ("failed", fault.code, fault.text)
        for language in (ZH, EN):
            page = await self.get(f"/chat/t/{self.thread_id}/", language)
            self.check_round(article(page, run.pk), fault, language, "表单问")
            self.check_silence(page)
        return run

    async def by_socket(self, fault: Fault, language: str) -> str:
        async with self.socket(self.thread_id, language) as page:
            end = await page.send("socket", "页面问")
        self.check_round(end["html"], fault, language, "页面问")
        self.check_silence(page.text)
        return end["run"]

    # What must hold.

    def check_words(self, said: str, fault: Fault, language: str) -> None:
        for sentence in fault.said(language):
            assert sentence in said, said

    def check_round(self, markup: str, fault: Fault, language: str, question: str) -> None:
        assert 'data-status="failed"' in markup and 'data-action="retry"' in markup
        assert part(markup, "input") == question
        assert part(markup, "output") == fault.text.strip()
        self.check_words(words(markup), fault, language)

    def check_silence(self, text: str) -> None:
        for secret in (*SECRETS, self.model.address, KEY_ENV):
            assert secret not in text, secret

    async def check(self, fault: Fault) -> None:
        """The whole of it, for one fault: each way in, then trying again each way, then what is left behind."""
        self.model.answer = lambda _call: fault.reply
        await self.by_api(fault)
        await self.by_stream_api(fault)
        by_form = await self.by_form(fault)
        by_socket = await self.by_socket(fault, EN)

        self.model.answer = lambda _call: Reply()
        await sync_to_async(self.change)(base_url=f"http://{self.model.address}/v1", key_env=KEY_ENV, read_timeout_seconds=60)
        again = await self.retry_by_form(by_form)
        assert (again.status, again.output, again.slot) == ("completed", "好的。", by_form.slot)
        async with self.socket(self.thread_id) as page:
            end = await page.send("again", "页面问", replaces=by_socket)
        assert 'data-status="completed"' in end["html"] and part(end["html"], "output") == "好的。"
        answer = (await self.post("run", input="接口再问", thread_id=self.thread_id)).json()
        assert (answer["status"], answer["output"]) == ("completed", "好的。")
        assert self.model.refused == []
        await self.check_what_is_left(again)

    async def check_what_is_left(self, again: Run) -> None:
        """Rows, log, and the pages that show earlier tries or are the administrator's."""
        self.check_silence(await self.stored())
        self.check_silence(self.log.text)
        self.check_silence(await self.get(f"/runs/{again.pk}/tries/"))
        self.check_silence(json.dumps(await self.api(f"/threads/{self.thread_id}/runs"), ensure_ascii=False))
        self.check_silence(await sync_to_async(admin_page)(f"/admin/chat/run/{again.replaces_id}/change/"))

    # The faults.

    async def test_service_is_down(self) -> None:
        address = self.model.address.replace("127.0.0.1", "127.0.0.9")  # nobody listens there
        await sync_to_async(self.change)(base_url=f"http://{address}/inner-host/v1")
        await self.check(
            Fault(Reply(status=0), "provider_unreachable", {EN: "The model service cannot be reached.", ZH: "连接不上模型服务。"}, LATER)
        )

    @rare
    async def test_service_does_not_begin_to_answer(self) -> None:
        await sync_to_async(self.change)(read_timeout_seconds=0.1)
        await self.check(Fault(Reply(status=0), "provider_timeout", TIMEOUT, LATER))

    async def test_service_falls_silent_in_mid_answer(self) -> None:
        await sync_to_async(self.change)(read_timeout_seconds=0.1)
        await self.check(Fault(Reply(PART, end="silence"), "provider_timeout", TIMEOUT, LATER))

    @rare
    async def test_key_is_refused(self) -> None:
        await self.check(Fault(status(401), "provider_auth", REFUSED_KEY, ADMINISTRATOR))

    @rare
    async def test_access_is_forbidden(self) -> None:
        await self.check(Fault(status(403), "provider_auth", REFUSED_KEY, ADMINISTRATOR))

    async def test_key_is_not_set(self) -> None:
        await sync_to_async(self.change)(key_env="MISSING_API_KEY")
        what = {EN: "The key of the model service is not set up on the server.", ZH: "服务器上没有设置模型服务的密钥。"}
        await self.check(Fault(Reply(status=0), "provider_key_missing", what, ADMINISTRATOR))

    @rare
    async def test_model_is_not_there(self) -> None:
        what = {EN: "The model service does not have this model.", ZH: "模型服务没有这个模型。"}
        await self.check(Fault(status(404), "model_not_found", what, ADMINISTRATOR))

    @rare
    async def test_service_asks_to_wait(self) -> None:
        what = {EN: "The model service is receiving too many requests.", ZH: "模型服务收到的请求太多。"}
        advice = {EN: "Wait a little, then try again.", ZH: "请稍等片刻再试。"}
        await self.check(Fault(status(429, **{"retry-after": "1"}), "provider_rate_limited", what, advice))
        assert len(self.model.calls) > 4 * 2  # it was tried again before anybody was told

    async def test_service_fails(self) -> None:
        await self.check(Fault(status(500), "provider_overloaded", TROUBLE, LATER))

    @rare
    async def test_proxy_answers_with_a_page(self) -> None:
        page = f"<html><h1>502 Bad Gateway</h1>机密堆栈 inner-host {KEY}</html>"
        await self.check(Fault(status(502, page), "provider_overloaded", TROUBLE, LATER))

    @rare
    async def test_request_does_not_fit_the_model(self) -> None:
        body = BODY.replace('"c"', '"context_length_exceeded"')
        what = {
            EN: "The question and what belongs to it do not fit the model's window.",
            ZH: "问题连同所需的内容超出了模型的窗口。",
        }
        advice = {EN: "Shorten the question, or start a new conversation.", ZH: "请缩短问题，或新建会话。"}
        await self.check(Fault(status(400, body), "context_too_long", what, advice))

    @rare
    async def test_request_is_refused(self) -> None:
        what = {EN: "The model service did not accept the request.", ZH: "模型服务没有接受这次请求。"}
        await self.check(Fault(status(400), "provider_rejected", what, ADMINISTRATOR))

    async def test_connection_breaks(self) -> None:
        await self.check(Fault(Reply(PART, end="hang_up"), "stream_broken", BROKEN, AGAIN))

    @rare
    async def test_answer_ends_early(self) -> None:
        await self.check(Fault(Reply(PART, end="cut"), "stream_broken", BROKEN, AGAIN))

    @rare
    async def test_error_comes_in_mid_answer(self) -> None:
        await self.check(Fault(Reply(PART, end="error", body=f"机密堆栈 inner-host {KEY}"), "provider_overloaded", TROUBLE, LATER))

    @rare
    async def test_answer_is_garbage(self) -> None:
        await self.check(Fault(status(200, "<!doctype html><title>机密堆栈 inner-host</title>"), "stream_broken", BROKEN, AGAIN))

    @rare
    async def test_answer_is_empty(self) -> None:
        what = {EN: "The model service answered with nothing.", ZH: "模型服务的回答是空的。"}
        await self.check(Fault(Reply(tokens=()), "empty_answer", what, AGAIN))

    @rare
    async def test_answer_is_blank(self) -> None:
        what = {EN: "The model service answered with nothing.", ZH: "模型服务的回答是空的。"}
        await self.check(Fault(Reply(tokens=("\n", "  ")), "empty_answer", what, AGAIN))

    async def test_summary_fails(self) -> None:
        """The conversation goes on; the administrator sees a code and nothing else."""
        self.model.answer = lambda call: status(401) if call.purpose == "summary" else Reply()
        self.thread_id = await sync_to_async(lambda: long_thread(self.user, self.agent).pk)()
        assert (await self.send_by_form("还在吗？", self.thread_id)).status == "completed"
        await self.settle()
        assert (await self.send_by_form("第二问", self.thread_id)).status == "completed"
        op = await MemoryOp.objects.aget(kind="summary")
        assert (op.outcome, op.error_code, op.cost) == ("failed", "provider_auth", 0)
        pages = [await sync_to_async(admin_page)(f"/admin/{path}") for path in ("", "chat/layerstate/", "chat/work/", "chat/memoryop/")]
        assert all("provider_auth" in page for page in pages)
        health = [(await self.browser()).get(path) for path in ("/readyz", "/metrics")]
        pages += [(await response).content.decode() for response in health]
        for text in (*pages, await self.get(f"/chat/t/{self.thread_id}/"), await self.stored(), self.log.text):
            self.check_silence(text)


def long_thread(user: User, agent: Agent) -> Thread:
    """A thread whose summary is due after one more round."""
    thread = builders.thread(user, agent)
    for _number in range(agent.compress_over_rounds):
        builders.run(thread)
    return thread


def test_every_failure_of_a_service_has_words_of_its_own():
    def codes(kind: type[ProviderError]) -> set[str]:
        return {kind.code}.union(*map(codes, kind.__subclasses__()))

    assert codes(ProviderError) <= set(TROUBLES)


TIMEOUT = {EN: "The model service did not answer in time.", ZH: "模型服务没有在时限内回应。"}
TROUBLE = {EN: "The model service is in trouble.", ZH: "模型服务出现故障。"}
REFUSED_KEY = {EN: "The model service refused the school's key.", ZH: "模型服务不接受学校的密钥。"}
BROKEN = {
    EN: "The connection to the model service broke in the middle of the answer.",
    ZH: "回答到一半，与模型服务的连接断开了。",
}


def admin_page(path: str) -> str:
    client = Client()
    client.force_login(User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("root"))
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()
