"""One teacher's memory never reaches another (PR-01): prompts, searches and lists, for a colleague and another school."""

import json
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, TransactionTestCase

from chat.jobs.worker import Worker
from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Write
from chat.models import Agent, ApiToken, Candidate, NoteOp, NoteTarget, Owner, Run
from chat.providers.base import Delta, ToolCall
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.memory.core.talking import Learner, answer

PLANTED = ("青竹七号", "蓝鲸九号", "白桦十一号", "紫藤六号", "石榴二号")
NOTED = {NoteTarget.USER: "我教高二，暗号紫藤六号", NoteTarget.MEMORY: "命题用反向工作流，暗号石榴二号"}
QUESTION = "你知道我教哪个班吗？暗号是什么？上次我们聊了什么？"


class Isolation(TransactionTestCase):
    """With the built-in backend; tests/cases/test_backends_isolation.py has the others."""

    PURPOSES = {"answer", "extraction"}

    def setUp(self) -> None:
        self.school, strange = builders.tenant(), builders.tenant()
        self.owner, self.colleague = builders.teacher(self.school), builders.teacher(self.school)
        self.stranger = builders.teacher(strange)
        self.agents = {school.pk: self._agent(school) for school in (self.school, strange)}
        builders.fact(self.owner, "我教高二(3)班，暗号青竹七号")
        thread = builders.thread(self.owner, self.agents[self.school.pk], title="白桦十一号")
        run = builders.run(thread, "白桦十一号", "白桦十一号")
        self.remember(run)
        builders.candidate(self.owner, "暗号蓝鲸九号", thread=thread, source_run=run)
        owner = Owner(self.school.pk, self.owner.pk, self.agents[self.school.pk].pk)
        for target, text in NOTED.items():
            assert store.write(Place(owner, target), Write("add", text), Author(NoteOp.Origin.PANEL)).is_done
        self.model = Learner(answer("老师的暗号是红松三号"))

    def remember(self, run: Run) -> None:
        """Lets the backend know what was said in a run."""
        builders.recalled(run)

    def _agent(self, school: Any) -> Agent:  # noqa: ANN401
        return builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1"))

    def _token(self, user: User) -> tuple[Agent, dict[str, str]]:
        school = builders.school_of(user)
        return self.agents[school.pk], {"Authorization": f"Bearer {ApiToken.objects.issue(user, 'test')[1]}"}

    async def ask(self, user: User, **more: object) -> None:
        agent, headers = await sync_to_async(self._token)(user)
        with scripted(self.model):
            path = f"/agents/{agent.pk}/run"
            response = await AsyncClient().post(path, {"input": QUESTION} | more, content_type="application/json", headers=headers)
            assert response.status_code == 200, response.content
            await sync_to_async(Worker("w").drain)()

    async def test_no_prompt_of_another_teacher_holds_a_word_of_it(self) -> None:
        for user in (self.colleague, self.stranger):
            await self.ask(user)
        assert {request.purpose for request in self.model.requests} == self.PURPOSES
        told = str([request.messages for request in self.model.requests])
        assert not [word for word in PLANTED if word in told]

    async def test_what_was_talked_about_is_recalled_for_the_owner_alone(self) -> None:
        asked = {}
        for user in (self.colleague, self.stranger, self.owner):
            before = len(self.model.requests)
            await self.ask(user, input="白桦十一号在哪里")
            asked[user] = str(self.model.requests[before].messages)
        assert [asked[user].count("白桦十一号") for user in (self.colleague, self.stranger)] == [1, 1]
        assert asked[self.owner].count("白桦十一号") > 1

    async def test_the_owner_is_told_what_is_confirmed_and_nothing_else(self) -> None:
        await self.ask(self.owner)
        told = str(self.model.requests[0].messages)
        assert [word for word in PLANTED if word in told] == ["青竹七号", "紫藤六号", "石榴二号"]

    async def test_what_colleagues_note_is_theirs_and_the_assistants_notes_are_each_teachers_own(self) -> None:
        owners = {user: Owner(self.school.pk, user.pk, self.agents[self.school.pk].pk) for user in (self.owner, self.colleague)}
        call = ToolCall("c1", "memory_add", json.dumps({"content": "暗号红松三号"}))
        model = ScriptedProvider([Delta(tool_calls=(call,), finish="tool_calls")], ["好的。"])
        agent, headers = await sync_to_async(self._token)(self.colleague)
        with scripted(model):
            await AsyncClient().post(
                f"/agents/{agent.pk}/run", {"input": "记住：暗号红松三号"}, content_type="application/json", headers=headers
            )
        look = sync_to_async(store.look)
        assert (await look(Place(owners[self.colleague], NoteTarget.MEMORY))).entries == ("暗号红松三号",)
        for target, text in NOTED.items():
            assert (await look(Place(owners[self.owner], target))).entries == (text,)
        assert not [word for word in PLANTED if word in str([request.messages for request in model.requests])]

    async def test_what_others_learn_is_theirs(self) -> None:
        self.model.reply = answer("老师教高三，暗号红松三号", quote="我教高三，暗号红松三号", kind="profile")
        await self.ask(self.colleague, input="我教高三，暗号红松三号")
        learnt = await Candidate.objects.aget(text__contains="红松三号")
        assert (learnt.user_id, learnt.tenant_id) == (self.colleague.pk, self.school.pk)

    async def test_no_search_and_no_list_finds_it(self) -> None:
        for user in (self.colleague, self.stranger):
            agent, headers = await sync_to_async(self._token)(user)
            browser = AsyncClient()
            await browser.aforce_login(user)
            for address in ("/memory/", f"/chat/{agent.pk}/", "/memory/export.json"):
                html = (await browser.get(address)).content.decode()
                assert not [word for word in PLANTED if word in html], address
            for word in PLANTED:
                found = (await browser.get(f"/agents/{agent.pk}/threads", {"q": word}, headers=headers)).json()
                assert found["threads"] == []
                html = (await browser.get("/memory/", {"q": word})).content.decode()  # the word stands in the search box
                assert "data-fact" not in html and "data-candidate" not in html
            html = (await browser.get("/memory/", {"q": "暗号"})).content.decode()
            assert not [word for word in PLANTED if word in html]
