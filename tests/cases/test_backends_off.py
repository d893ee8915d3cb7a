"""PR-04 with a memory server: while memory is off it is neither asked nor told anything, then or later."""

from typing import Any

from chat.models import Fact, Run
from tests import test_off_means_off
from tests.cases.backends import OnOpenViking
from tests.fakes import scripted


class OffAtAServer(OnOpenViking, test_off_means_off.OffMeansOff):
    async def check_off(self, tab: Any, fact: Fact, said: str) -> None:  # noqa: ANN401
        before = len(self.server.seen)
        await super().check_off(tab, fact, said)
        assert self.asked(before) == []

    async def test_what_was_said_while_it_was_off_is_not_learnt_later_either(self) -> None:
        await self.browser.aforce_login(self.user)
        with scripted(self.model):
            await self.switch("off")
            await self.send_in_new_thread("关着时说的，我喜欢蓝笔。")
            await self.switch("on")
            await self.work()
            await self.send_in_new_thread("我喜欢新教材。")
            await self.work()
        of_runs = [text for text in self.server.state.messages() if not text.startswith("我们决定")]
        assert of_runs[0] == "我喜欢新教材。" and "关着" not in str(of_runs)
        assert "- 我喜欢新教材。" in self.server.state.memories()
        assert self.model.asked == []  # and nothing is extracted here
        assert await Run.objects.filter(input__startswith="关着", backend="").aexists()
