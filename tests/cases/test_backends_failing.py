"""PR-09 and a model service in trouble, with a memory server: the same for the teacher, and of a failed turn nothing gets there."""

import pytest
from asgiref.sync import sync_to_async

from chat.jobs.worker import Worker
from chat.models import Run
from tests.cases import test_faults, test_pr09
from tests.cases.backends import OnOpenViking
from tests.cases.test_pr09 import QUESTIONS, TRACES


class OneBadTurnAtAServer(OnOpenViking, test_pr09.OneBadTurn):
    async def test_of_failed_turns_nothing_gets_to_the_server(self) -> None:
        runs = await self.six_turns()
        await self.settle()
        whole = [run for run in runs if run.status == "completed"]
        assert self.server.state.messages() == [text for run in whole for text in (run.input, run.output)]
        assert not [text for text in self.server.state.messages() if TRACES.search(text) or text in QUESTIONS[1:4]]


@pytest.mark.long
class FaultsAtAServer(OnOpenViking, test_faults.Faults):
    async def test_both_away_at_once_are_each_said(self) -> None:
        self.server.stop()
        run = await self.send_by_form("我喜欢表格。")
        assert (run.status, bool(run.backend_code)) == ("completed", True)
        await sync_to_async(Worker("w").drain)()
        self.server.start()
        await self.settle()
        assert self.server.state.messages() == [run.input, run.output]
        assert await Run.objects.filter(pk=run.pk, status="completed").aexists()
