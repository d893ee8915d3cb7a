"""The shortcut "记住：…" for assistants whose model has no tools of notes: the message itself is written (DESIGN §5, issue 5 part 3).

It is the teacher's own order, so no model is asked. What it became stands in the log of operations; what could not be written
leaves a notice in the conversation.
"""

import logging
import re
from typing import Final

from django.db import DatabaseError

from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Result, Write
from chat.memory.notes.storage import NoOwner
from chat.memory.notes.tools import are_offered
from chat.models import Agent, NoteOp, NoteTarget, Notice, Owner, Run
from chat.text.note_frame import SHORTCUT_MARK

log = logging.getLogger(__name__)

RULE: Final = f"老师以{SHORTCUT_MARK}开头的话由系统直接写入笔记，结果显示在这一轮下面；你简短回应即可，不要说自己已经记住或写入。"
UNCHANGED, FAILED = "unchanged", "failed"
_SHORTCUT: Final = re.compile(r"\s*(?:请)?(?:记住|remember)\s*[：:]\s*(?P<content>\S.*)", re.IGNORECASE | re.DOTALL)
# What a teacher says of themselves is about the teacher; anything else is about the work.
_OF_THE_TEACHER: Final = re.compile(
    r"(?:以后|今后)?(?:都|请)?(?:叫我|称呼我)|(?:我|本人)(?!们的?学校|的学生|的课件|校|班)|(?:i|i'm|i’m|my|call me)\b", re.IGNORECASE
)


def notice_code(code: str) -> str:
    """The code of the notice that says why "记住：…" wrote nothing: that of the refusal, or UNCHANGED."""
    return f"shortcut_{code}"


def is_in_use(agent: Agent) -> bool:
    return not are_offered(agent)


def content_of(input: str) -> str:
    """What a message that begins with "记住：" wants to be kept; "" for any other."""
    match = _SHORTCUT.match(input)
    return match["content"].strip() if match else ""


def remember(run: Run, agent: Agent) -> Result | None:
    """Writes what the message of a run that has just been stored asks for; None when it asks for nothing, or where tools do it.

    Outside of any transaction: the text is on disk at once. Whatever comes in between is told in the conversation and never
    holds up the answer: the run is stored by now, and waits for its task.
    """
    content = content_of(run.input) if run.has_memory and is_in_use(agent) else ""
    if not content:
        return None
    try:
        result = _write(run, content)
    except (OSError, DatabaseError, NoOwner) as error:
        log.warning("The note of run %s could not be written (%s)", run.pk, type(error).__name__)
        result = Result({"success": False, "code": FAILED}, FAILED)
    if not result.op_id:
        try:
            _tell(run, result.code or UNCHANGED)
        except DatabaseError as error:
            log.warning("That the note of run %s was not written could not be told (%s)", run.pk, type(error).__name__)
    return result


def _write(run: Run, content: str) -> Result:
    target = NoteTarget.USER if _OF_THE_TEACHER.match(content) else NoteTarget.MEMORY
    place = Place(Owner(run.tenant_id, run.user_id, run.agent_id), target)
    return store.write(place, Write("add", content), Author(NoteOp.Origin.SHORTCUT, thread_id=run.thread_id, run_id=run.pk))


def _tell(run: Run, code: str) -> None:
    Notice.objects.create(
        tenant_id=run.tenant_id, user_id=run.user_id, thread_id=run.thread_id, after_slot=run.slot, code=notice_code(code)
    )
