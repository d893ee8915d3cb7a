"""The socket of a page whose user has logged out or lost the right to read: it closes, and takes no more messages."""

from collections.abc import Callable

from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session

from chat import consumers
from chat.models import Run
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


class LogOutTests(SocketCase):
    async def test_message_after_the_log_out_is_not_taken_and_closes_the_socket(self) -> None:
        communicator, accepted, _code = await self.connect(f"/ws/threads/{self.thread.pk}/")
        assert accepted and await communicator.receive_nothing(0.05)
        await sync_to_async(Session.objects.all().delete)()
        await communicator.send_json_to({"action": "send", "key": "k1", "input": "出一份试卷", "mode": ""})
        assert await communicator.receive_output(5) == {"type": "websocket.close", "code": consumers.ANONYMOUS}
        assert not await Run.objects.aexists()
