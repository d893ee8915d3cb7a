"""PR-01 with a memory server: what the server knows of one teacher reaches nobody else."""

import json

from tests import test_isolation
from tests.cases.backends import OnOpenViking


class IsolationAtAServer(OnOpenViking, test_isolation.Isolation):
    PURPOSES = {"answer"}  # the server extracts

    async def test_what_others_learn_is_theirs(self) -> None:
        await self.ask(self.colleague, input="我喜欢高三，暗号红松三号。")
        await self.ask(self.owner, input="我喜欢高三吗？")
        told = str(self.model.requests[-1].messages)
        assert "红松三号" not in told
        await self.ask(self.colleague, input="我喜欢高三吗？")
        assert "红松三号" in str(self.model.requests[-1].messages)

    async def test_no_request_to_the_server_tells_a_word_of_others(self) -> None:
        for user in (self.colleague, self.stranger):
            await self.ask(user)
        sent = json.dumps([one.body for one in self.server.seen], ensure_ascii=False)
        assert not [word for word in test_isolation.PLANTED if word in sent]

    async def test_nobodys_name_or_id_goes_to_the_server(self) -> None:
        for user in (self.owner, self.colleague, self.stranger):
            await self.ask(user)
        told = str([(one.path, one.headers, one.body) for one in self.server.seen])
        assert len(self.asked()) >= 6
        for user in (self.owner, self.colleague, self.stranger):
            assert user.username not in told
        for agent in self.agents.values():
            assert agent.pk not in told and agent.tenant_id not in told
