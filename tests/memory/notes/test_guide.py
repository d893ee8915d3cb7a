"""The first-use guide: asked while nothing is known of the teacher, frozen with the thread, skipped for one thread (DESIGN §5)."""

import pytest
from django.utils import timezone

from chat.memory.notes import guide, snapshot
from chat.memory.notes.guide import GUIDE
from chat.models import NoteSnapshot, Run, Thread
from chat.runs.start import Order, start_run


def ask(world, **order) -> tuple[str, Thread]:
    """The system part of the prompt, and the thread."""
    started = start_run(Order(user_id=world.user.pk, agent_id=world.agent.pk, input="你好", **order))
    Run.objects.filter(pk=started.run_id).update(status="completed", output="好的。", finished_at=timezone.now())
    return started.prepared.request.messages[0]["content"], Thread.objects.get(pk=started.thread_id)


def test_a_new_thread_asks_while_the_profile_is_empty_and_keeps_its_bytes(world):
    first, thread = ask(world)
    assert first.count(GUIDE) == 1 and thread.note_snapshot.has_guide
    world.put("我教高二", world.profile)
    assert ask(world, thread_id=thread.pk)[0] == first


def test_a_filled_profile_asks_nothing_and_an_emptied_one_asks_again(world):
    world.put("我教高二", world.profile)
    assert GUIDE not in ask(world)[0]
    world.put("", world.profile)
    assert GUIDE in ask(world)[0]


def test_notes_of_the_assistant_alone_say_nothing_of_the_teacher(world):
    world.put("文档任务用反向工作流")
    text, _ = ask(world)
    assert GUIDE in text and text.index("反向工作流") < text.index(GUIDE)


def test_a_profile_that_cannot_be_read_is_not_taken_for_empty(files):
    files.put(b"\xff\xfe", files.profile)
    assert GUIDE not in ask(files)[0]


def test_skipping_hides_the_card_of_this_thread_and_changes_no_prompt(world):
    first, thread = ask(world)
    _, other = ask(world)
    assert guide.skip(thread) and not guide.skip(thread)
    assert ask(world, thread_id=thread.pk)[0] == first
    assert list(NoteSnapshot.objects.filter(is_guide_skipped=True)) == [thread.note_snapshot]
    assert not NoteSnapshot.objects.get(thread=other).is_guide_skipped


def test_skipped_before_the_first_message_nothing_is_asked_there_but_in_the_next_thread(world):
    text, thread = ask(world, skips_guide=True)
    assert GUIDE not in text and not thread.note_snapshot.has_guide
    assert GUIDE in ask(world)[0]


def test_there_is_nothing_to_skip_without_it(world):
    world.put("我教高二", world.profile)
    assert not guide.skip(ask(world)[1])


@pytest.mark.parametrize(("profile", "has_guide"), [("我教高二", False), ("", True)])
def test_refreshing_takes_it_away_when_something_is_known(world, profile, has_guide):
    _, thread = ask(world)
    world.put(profile, world.profile)
    assert (GUIDE in snapshot.refresh(thread).text) is has_guide


def test_refreshing_never_brings_it_into_a_thread_that_began_without(world):
    world.put("我教高二", world.profile)
    _, thread = ask(world)
    world.put("", world.profile)
    assert GUIDE not in snapshot.refresh(thread).text
