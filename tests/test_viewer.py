"""What a page's socket tells of the memory: the badge, in the right school."""

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.test import TestCase

from chat.models import Membership, Preference
from chat.runs import live
from chat.runs.events import News
from chat.viewer import find_viewer, memory_badge
from tests import builders
from tests.test_consumers import SocketCase


class BadgeTests(TestCase):
    def test_badge_counts_what_waits_in_the_school_that_was_chosen(self) -> None:
        user, other = builders.teacher(), builders.tenant()
        Membership.objects.create(tenant=other, user=user)
        builders.candidate(user, "我教高二", tenant=other)
        for chosen, count in ((None, 0), (other, 1)):
            Preference.objects.update_or_create(user=user, defaults={"tenant": chosen})
            viewer = find_viewer(user, "", "", {})
            assert viewer is not None
            assert f'data-count="{count}"' in memory_badge(user, viewer).html


class LiveBadgeTests(SocketCase):
    async def test_page_hears_of_the_new_count(self) -> None:
        async with self.page() as page:
            await page.join()
            assert any(frame.get("target") == "memory-badge" and 'data-count="0"' in frame["html"] for frame in page.frames)
            await sync_to_async(builders.candidate)(self.user, "我教高二")
            live.publish_news(News(self.user.pk, frozenset(), has_memory=True))
            told = await page.hear("fragment", target="memory-badge")
        assert 'data-count="1"' in told["html"]

    async def test_page_without_a_conversation_hears_it_too_and_nobody_hears_nothing(self) -> None:
        _refused, accepted, _code = await self.connect("/ws/", AnonymousUser())
        assert not accepted
        communicator, accepted, _code = await self.connect("/ws/")
        assert accepted
        live.publish_news(News(self.user.pk, frozenset(), has_memory=True))
        assert "memory-badge" in await communicator.receive_from(timeout=5)
        await communicator.disconnect()
