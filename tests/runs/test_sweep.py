"""When a run counts as dead: an old heartbeat, and a sweeper that was awake to see it stand still."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from chat.models import Run, Work
from chat.runs.sweep import AWAY, LOOKS_APART_SECONDS, RunSweeper
from tests import builders

pytestmark = pytest.mark.django_db

STALE = timedelta(seconds=16)
NIGHT = timedelta(hours=8)


@pytest.fixture(autouse=True)
def fifteen_seconds(settings):
    settings.HEARTBEAT_STALE_SECONDS = 15


class Clock:
    """Seconds in which the computer was awake."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sweeper(clock) -> RunSweeper:
    return RunSweeper(clock)


def going(age: timedelta = STALE, status: str = "running") -> Run:
    return builders.run(
        builders.thread(builders.teacher()), "出题", "写到", status=status, heartbeat_at=timezone.now() - age, finished_at=None
    )


def beat(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now())


def test_runs_whose_heartbeat_stands_still_are_ended_with_their_text(sweeper, clock):
    dead, alive = [going(status=status) for status in ("queued", "running")], going(timedelta(0))
    assert sweeper.sweep() == 0 and sweeper.has_suspects
    clock.seconds += LOOKS_APART_SECONDS
    assert sweeper.sweep() == 2 and not sweeper.has_suspects
    for run in dead:
        run.refresh_from_db()
        assert (run.status, run.error_code, run.output) == ("failed", "interrupted", "写到")
        assert Work.objects.filter(subject_id=run.thread_id).exists()
    alive.refresh_from_db()
    assert alive.status == "running"


def test_a_sweeper_that_has_looked_all_the_time_ends_a_run_as_soon_as_it_is_stale(sweeper, clock):
    run = going(timedelta(seconds=5))
    assert sweeper.sweep() == 0 and not sweeper.has_suspects
    clock.seconds += 11
    with patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(seconds=11)):
        assert sweeper.sweep() == 1
    run.refresh_from_db()
    assert run.error_code == "interrupted"


@pytest.mark.parametrize("looks_before", [0, 1, 3])
@pytest.mark.parametrize("does_clock_count_sleep", [False, True])
def test_a_run_of_a_computer_that_wakes_goes_on(sweeper, clock, looks_before, does_clock_count_sleep):
    run = going(timedelta(0))
    for _ in range(looks_before):
        assert sweeper.sweep() == 0
        clock.seconds += 0.3
    morning = timezone.now() + NIGHT
    clock.seconds += NIGHT.total_seconds() if does_clock_count_sleep else 0.5
    with patch("django.utils.timezone.now", return_value=morning):
        assert sweeper.sweep() == 0
        clock.seconds += 1
        beat(run)
    for number in range(1, 4):
        clock.seconds += 5
        with patch("django.utils.timezone.now", return_value=morning + timedelta(seconds=5 * number)):
            assert sweeper.sweep() == 0
            beat(run)
    run.refresh_from_db()
    assert run.status == "running"


def test_a_run_that_died_in_the_night_is_ended_by_the_second_look(sweeper, clock):
    going(timedelta(0))
    assert sweeper.sweep() == 0
    clock.seconds += NIGHT.total_seconds()
    morning = timezone.now() + NIGHT
    with patch("django.utils.timezone.now", return_value=morning):
        assert sweeper.sweep() == 0
    clock.seconds += 5
    with patch("django.utils.timezone.now", return_value=morning + timedelta(seconds=5)):
        assert sweeper.sweep() == 1


def test_two_looks_in_one_moment_are_one_look(sweeper):
    going()
    assert [sweeper.sweep() for _ in range(5)] == [0] * 5


def test_a_sign_of_life_between_look_and_end_saves_the_run(sweeper, clock):
    run = going()
    sweeper.sweep()
    clock.seconds += AWAY.total_seconds() / 2
    beat(run)
    assert sweeper.sweep() == 0
    run.refresh_from_db()
    assert run.status == "running"
