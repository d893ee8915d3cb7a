"""The cases of public reports with a memory server as the backend: mixed in before a case of the built-in one."""

from collections.abc import Iterator

import pytest

from chat.memory.backends.openviking import scope
from chat.memory.external import permission
from chat.memory.external.forgetting import scope_of
from chat.models import Membership, Owner, Run
from tests.openviking_server.in_force import in_force
from tests.openviking_server.server import Server
from tests.openviking_server.state import Who

BACKEND = "openviking"


class OnOpenViking:
    """Everybody has agreed. `server` tells what came there."""

    @pytest.fixture(autouse=True)
    def memory_server(self) -> Iterator[None]:
        with Server() as self.server, in_force(self.server):
            yield

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]
        for one in Membership.objects.all():
            permission.answer(Owner(one.tenant_id, one.user_id, None), BACKEND, is_agreed=True)

    def remember(self, run: Run) -> None:
        """As if the run had gone there, and a memory had come of it."""
        whose = self.whose(Owner(run.tenant_id, run.user_id, run.agent_id))
        self.server.state.add(whose, f"of-{run.pk}", [{"role": "user", "content": f"我们决定：{run.input}"}])
        self.server.state.commit(whose, f"of-{run.pk}")

    def whose(self, owner: Owner) -> Who:
        return Who(self.server.account, scope.identity_of(self.server.account, scope_of(owner)).user)

    def asked(self, since: int = 0) -> list[str]:
        """What the server was asked with or told of texts."""
        return [one.path for one in self.server.seen[since:] if "search/find" in one.path or "messages" in one.path]
