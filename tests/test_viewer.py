"""What a page's socket tells of the memory: the badge, in the right school."""

from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.test import TestCase

from chat.models import Membership, Preference, Thread
from chat.models.tenancy import ping
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


class LiveSummaryTests(SocketCase):
    async def test_page_hears_where_the_summary_ends_and_that_it_is_gone(self) -> None:
        with patch("chat.runs.beat.BEAT_SECONDS", 0.01):
            async with self.page() as page:
                await page.join()
                for fields, mark in (
                    ({"rolling_summary": "出过一份试卷。", "summary_upto_slot": 5}, 'data-upto="5">'),
                    ({"rolling_summary": "", "summary_upto_slot": 0}, 'data-upto="0" hidden>'),
                ):
                    await Thread.objects.filter(pk=self.thread.pk).aupdate(**fields)
                    await sync_to_async(ping)(self.user.pk)
                    assert mark in (await page.hear("fragment", target="summary-line"))["html"]
