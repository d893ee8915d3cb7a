"""What a thread knows of the notes, with real web processes: two over one data folder, a kill and a new start."""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat.text.note_frame import MEMORY_TITLE, blocks_in
from tests.processes.test_web import Web, World

pytestmark = [pytest.mark.process, pytest.mark.mock]


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


def test_every_process_and_every_restart_tells_a_thread_the_same_bytes(
    tmp_path: Path, mock_model: Any, stack: contextlib.ExitStack
) -> None:
    mock_model.state.script = mock_model.state.script.__class__([{"match": "", "reply": "好。"}])
    world = World(tmp_path, mock_model.url, stack)
    webs = [world.web(), world.web()]
    agent_id = webs[0].agent()

    def ask(web: Web, **body: str) -> tuple[str, str]:
        """The thread, and the system part of what the model was told."""
        answer = web.post(f"/agents/{agent_id}/run", **body).json()
        assert answer["status"] == "completed"
        return answer["thread_id"], mock_model.chats[-1]["messages"][0]["content"]

    file = tmp_path / "notes" / teacher_of(world) / agent_id / "MEMORY.md"  # edited as with a text editor
    file.parent.mkdir(mode=0o700, parents=True)
    file.write_text("第一版的笔记")
    thread_id, first = ask(webs[0], input="出一份试卷")
    assert blocks_in(first)[MEMORY_TITLE] == ["第一版的笔记"]
    for number in range(6):
        file.write_text(f"后来的笔记{number}")
        if number == 2:
            webs[0].process.send_signal(signal.SIGKILL)
            webs[0].process.wait()
            webs[0] = world.web()
        assert ask(webs[number % 2], input=f"第{number}问", thread_id=thread_id)[1] == first
    assert blocks_in(ask(webs[1], input="新的会话")[1])[MEMORY_TITLE] == ["后来的笔记5"]


def teacher_of(world: World) -> str:
    """The folder of the demo school's teacher."""
    code = "from django.contrib.auth.models import User; u = User.objects.get(username='teacher'); "
    return world.manage("shell", "-c", f"{code}print(f'{{u.memberships.get().tenant_id}}/{{u.pk}}')").split()[-1]
