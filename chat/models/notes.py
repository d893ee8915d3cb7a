"""Notes: the rows around the two bounded texts MEMORY.md and USER.md (seed 003, DESIGN §5 Notes).

The texts themselves are files, or NoteText rows (settings.NOTES_STORAGE). What was done to them is a NoteOp in either case:
the lines in the chat, the history with undo, and what waits for a yes are read from there, never from what a model says.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from chat.models.agent import Agent
from chat.models.core import OwnedQuerySet
from chat.models.ids import id_field
from chat.models.run import Run
from chat.models.tenancy import Tenant
from chat.models.thread import Thread


class NoteTarget(models.TextChoices):
    """The two stores: what an assistant notes for its work, and who the teacher is."""

    MEMORY = "memory", _("notes of the assistant (MEMORY.md)")
    USER = "user", _("about me (USER.md)")


class NoteText(models.Model):
    """The text of one store where notes are kept in the database. `agent` is None for USER.md, of which a teacher has one."""

    id = id_field("nt")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="note_texts", verbose_name=_("teacher"))
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("assistant"))
    target = models.CharField(_("store"), max_length=6, choices=NoteTarget.choices)
    text = models.TextField(_("text"), blank=True, default="")
    revision = models.PositiveIntegerField(default=0)
    # What stood here and did not look like ours: dicts of `name`, `text` and `kept_at`, the newest first.
    backups = models.JSONField(default=list, blank=True)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("note text")
        verbose_name_plural = _("note texts")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "agent"], name="note_text_once"),
            models.UniqueConstraint(fields=["tenant", "user"], condition=Q(agent=None), name="profile_text_once"),
            models.CheckConstraint(
                condition=Q(target="memory", agent__isnull=False) | Q(target="user", agent=None), name="note_text_target"
            ),
        ]

    def __str__(self) -> str:
        return self.pk


class NoteReview(models.Model):
    """One background review of a conversation: a due trigger, and what became of it (specs/notes_memory.md §3.2).

    `total` is the number of counted messages that made it due. It looks at the messages of the slots after `since_slot` up
    to `upto_slot`.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("skipped")

    id = id_field("rev")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="note_reviews", verbose_name=_("teacher"))
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="note_reviews", verbose_name=_("assistant"))
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="note_reviews", verbose_name=_("thread"))
    total = models.PositiveIntegerField(_("messages counted"))
    since_slot = models.PositiveIntegerField(default=0)
    upto_slot = models.PositiveIntegerField(default=0)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    error_code = models.CharField(_("reason"), max_length=40, blank=True, default="")
    steps = models.PositiveSmallIntegerField(_("model calls"), default=0)
    created_at = models.DateTimeField(_("due at"), default=timezone.now, editable=False)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("review of notes")
        verbose_name_plural = _("reviews of notes")
        indexes = [models.Index(fields=["tenant", "-created_at"], name="note_review_by_tenant")]
        constraints = [
            models.UniqueConstraint(fields=["thread", "total"], name="note_review_trigger_once"),
            models.UniqueConstraint(fields=["thread"], condition=Q(state__in=["queued", "running"]), name="note_review_one_a_thread"),
            models.UniqueConstraint(fields=["user"], condition=Q(state="running"), name="note_review_one_a_teacher"),
            models.CheckConstraint(condition=Q(state__in=["queued", "running", "done", "failed", "skipped"]), name="note_review_state"),
        ]

    def __str__(self) -> str:
        return self.pk


class NoteOp(models.Model):
    """One operation on a store: applied, or waiting for the teacher. The log that lines in the chat, history and undo read.

    `changes` are the whole entries that it touched, in order: dicts of `place` (0-based, at that moment), `old` and `new`
    (None where there was or is none). `request` is what was asked, as tools say it (`content`, `old_text`, `operations`); what
    waits is applied from it, with all checks again. `agent` is that of the store (None for USER.md); `thread` says where it came from.
    """

    class Action(models.TextChoices):
        ADD = "add", pgettext_lazy("note", "added")
        REPLACE = "replace", pgettext_lazy("note", "changed")
        REMOVE = "remove", pgettext_lazy("note", "removed")
        BATCH = "batch", pgettext_lazy("note", "changed together")
        EDIT = "edit", pgettext_lazy("note", "edited as a whole")
        UNDO = "undo", pgettext_lazy("note", "undone")

    class Origin(models.TextChoices):
        TOOL = "tool", pgettext_lazy("origin of a note", "in a conversation")
        SHORTCUT = "shortcut", pgettext_lazy("origin of a note", "with “Remember:”")
        REVIEW = "review", pgettext_lazy("origin of a note", "background review")
        PANEL = "panel", pgettext_lazy("origin of a note", "in the memory pages")
        UPLOAD = "upload", pgettext_lazy("origin of a note", "from a file")

    class State(models.TextChoices):
        APPLIED = "applied", pgettext_lazy("note", "written")
        STAGED = "staged", pgettext_lazy("note", "waiting")
        REJECTED = "rejected", pgettext_lazy("note", "not wanted")
        UNDONE = "undone", pgettext_lazy("note", "taken back")

    id = id_field("nop")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="note_ops", verbose_name=_("teacher"))
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="note_ops", verbose_name=_("assistant"))
    target = models.CharField(_("store"), max_length=6, choices=NoteTarget.choices)
    action = models.CharField(_("action"), max_length=10, choices=Action.choices)
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.APPLIED)
    changes = models.JSONField(default=list)
    request = models.JSONField(default=dict, blank=True)
    reason = models.CharField(_("why"), max_length=200, blank=True, default="")
    thread = models.ForeignKey(Thread, on_delete=models.SET_NULL, null=True, blank=True, related_name="note_ops", verbose_name=_("thread"))
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="note_ops", verbose_name=_("run"))
    review = models.ForeignKey(NoteReview, on_delete=models.SET_NULL, null=True, blank=True, related_name="ops", verbose_name=_("review"))
    undoes = models.OneToOneField("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="undone_by")
    created_at = models.DateTimeField(_("at"), default=timezone.now, editable=False)
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("note operation")
        verbose_name_plural = _("note operations")
        indexes = [
            models.Index(fields=["user", "tenant", "-created_at"], name="note_op_by_user"),
            models.Index(fields=["run"], name="note_op_by_run"),
            models.Index(fields=["user", "tenant"], name="note_op_waiting", condition=Q(state="staged")),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["applied", "staged", "rejected", "undone"]), name="note_op_state"),
            models.CheckConstraint(condition=Q(target="memory", agent__isnull=False) | Q(target="user", agent=None), name="note_op_target"),
        ]

    def __str__(self) -> str:
        return self.pk


class NoteGuard(models.Model):
    """The loop protection of one run or review (specs/notes_memory.md §1.7): what its writing tools have met so far.

    `subject_id` is the run's or the review's key; `failed` are hashes of calls that failed, `states` hashes of the stores' states.
    """

    subject_id = models.CharField(max_length=40, primary_key=True)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="+")
    failures = models.PositiveSmallIntegerField(default=0)
    writes = models.PositiveSmallIntegerField(default=0)
    is_terminal = models.BooleanField(default=False)
    last_reason = models.CharField(max_length=300, blank=True, default="")
    failed = models.JSONField(default=list)
    states = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("loop protection of notes")
        verbose_name_plural = _("loop protection of notes")
        indexes = [models.Index(fields=["thread", "-created_at"], name="note_guard_by_thread")]

    def __str__(self) -> str:
        return self.pk


class NoteSnapshot(models.Model):
    """What a conversation's system prompt says of the notes, byte for byte the same until somebody refreshes it.

    `digests` are those of the live texts at that moment, by store, to see whether they have changed since; `counts` the numbers
    of entries and characters by store. `has_guide`: the first-use guide is part of the text.
    """

    thread = models.OneToOneField(
        Thread, on_delete=models.CASCADE, primary_key=True, related_name="note_snapshot", verbose_name=_("thread")
    )
    text = models.TextField(_("text"), blank=True, default="")
    digest = models.CharField(_("digest"), max_length=64)
    digests = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    has_guide = models.BooleanField(_("with the first-use guide"), default=False)
    is_guide_skipped = models.BooleanField(_("guide skipped"), default=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    refreshed_at = models.DateTimeField(_("refreshed at"), null=True, blank=True)

    class Meta:
        verbose_name = _("frozen notes")
        verbose_name_plural = _("frozen notes")

    def __str__(self) -> str:
        return self.thread_id


class Notice(models.Model):
    """A line in a conversation that is no message: never counted, never part of a prompt. Its words are made when it is shown.

    It stands behind the round of `after_slot`. `code` is `review` (what `review` has written or put forward), or why a
    memory tool gave up.
    """

    id = id_field("ntc")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices", verbose_name=_("teacher"))
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="notices", verbose_name=_("thread"))
    after_slot = models.PositiveIntegerField(default=0)
    code = models.CharField(_("code"), max_length=40)
    review = models.ForeignKey(NoteReview, on_delete=models.CASCADE, null=True, blank=True, related_name="notices")
    is_verbose = models.BooleanField(default=False)
    created_at = models.DateTimeField(_("at"), default=timezone.now, editable=False)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        indexes = [models.Index(fields=["thread", "after_slot"], name="notice_by_thread")]

    def __str__(self) -> str:
        return self.pk
