"""An open socket does not outlive the right to read."""

from collections.abc import Callable

from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session

from chat import consumers
from tests.test_consumers import SocketCase


class GuardTests(SocketCase):
    def setUp(self) -> None:
        super().setUp()
        self.pace, consumers.PageConsumer.guard_seconds = consumers.PageConsumer.guard_seconds, 0.01

    def tearDown(self) -> None:
        consumers.PageConsumer.guard_seconds = self.pace
        super().tearDown()

    async def assert_closed_after(self, change: Callable[[], object]) -> None:
        communicator, accepted, _code = await self.connect(f"/ws/threads/{self.thread.pk}/")
        assert accepted and await communicator.receive_nothing(0.05)
        await sync_to_async(change)()
        assert await communicator.receive_output(5) == {"type": "websocket.close", "code": consumers.ANONYMOUS}

    async def test_socket_closes_after_the_log_out(self) -> None:
        await self.assert_closed_after(lambda: Session.objects.all().delete())

    async def test_socket_closes_after_a_new_password(self) -> None:
        def change() -> None:
            self.user.set_password("another horse battery")
            self.user.save()

        await self.assert_closed_after(change)

    async def test_socket_closes_when_the_membership_ends(self) -> None:
        await self.assert_closed_after(lambda: self.user.memberships.all().delete())
