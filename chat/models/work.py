"""What the worker has to do, and how far each layer is."""

from datetime import datetime
from typing import Final

from django.db import connection, models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.ids import id_field
from chat.models.thread import Thread
from chat.models.writing import insert

# As plain SQL: each end of a run marks.
MARK: Final = "UPDATE chat_work SET marks = marks + 1, due_at = %s WHERE kind = %s AND subject_id = %s"


class WorkQuerySet(models.QuerySet["Work"]):
    def mark(self, kind: str, subject_id: str) -> None:
        """Says that there is work; to be called inside the transaction that made it necessary. Idempotent."""
        now = timezone.now()
        # Ends with an update in every case: it is the update that a worker, which holds the row already, notices.
        while not self._mark_again(kind, subject_id, now):
            insert(self.model(kind=kind, subject_id=subject_id, marks=0, due_at=now), "ON CONFLICT DO NOTHING")

    def _mark_again(self, kind: str, subject_id: str, now: datetime) -> int:
        with connection.cursor() as cursor:
            cursor.execute(MARK, [connection.ops.adapt_datetimefield_value(now), kind, subject_id])
            changed: int = cursor.rowcount
            return changed

    def claimable(self, now: datetime) -> "WorkQuerySet":
        """Due and held by nobody, longest waiting first."""
        return self.filter(Q(lease_until=None) | Q(lease_until__lt=now), due_at__lte=now).order_by("due_at", "id")


class Work(models.Model):
    """A dirty mark: something in the background is behind (DESIGN §3.6, §3.10).

    The row is the truth, so a lost wake-up is harmless. `marks` grows with each new mark, and the row is deleted only
    when it has not grown while the work was done. A worker holds it by `lease` until `lease_until`.
    """

    class Kind(models.TextChoices):
        THREAD = "thread", _("a thread's memory")
        DOCUMENT = "document", _("a document")
        VECTORS = "vectors", _("vectors of a search index")
        REVIEW = "review", _("a review of notes")
        REMOTE = "remote", _("a conversation at a memory backend")
        FORGET = "forget", _("forgetting at a memory backend")

    id = id_field("wk")
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    subject_id = models.CharField(_("subject"), max_length=40)
    marks = models.PositiveIntegerField(default=1)
    due_at = models.DateTimeField(_("due at"))
    lease = models.CharField(max_length=40, blank=True, default="")
    lease_until = models.DateTimeField(_("held until"), null=True)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    created_at = models.DateTimeField(_("waiting since"), default=timezone.now, editable=False)

    objects = WorkQuerySet.as_manager()

    class Meta:
        verbose_name = _("background work")
        verbose_name_plural = _("background work")
        indexes = [models.Index(fields=["due_at"], name="work_due")]
        constraints = [models.UniqueConstraint(fields=["kind", "subject_id"], name="work_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_id}"


class LayerState(models.Model):
    """How far a memory layer is in a thread, and whether it is in trouble.

    `upto_slot` is the layer's cursor; thread memory keeps its own on the thread (DESIGN §3.6).
    """

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="layer_states")
    layer = models.CharField(_("layer"), max_length=20)
    upto_slot = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(_("failed attempts"), default=0)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    retry_at = models.DateTimeField(_("tried again at"), null=True)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    class Meta:
        verbose_name = _("layer state")
        verbose_name_plural = _("layer states")
        constraints = [models.UniqueConstraint(fields=["thread", "layer"], name="layer_state_once")]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.layer}"


def rewind_layers(thread_id: str, slot: int) -> None:
    """Takes the cursors of all layers that keep theirs here back to before `slot`; for the change of the active path there."""
    LayerState.objects.filter(thread_id=thread_id, upto_slot__gte=slot).update(upto_slot=slot - 1)


class WorkerBeat(models.Model):
    """The last sign of life of each worker process; `readyz` and the pages' status read it."""

    worker = models.CharField(_("worker"), max_length=80, primary_key=True)
    beat_at = models.DateTimeField(_("last seen"), default=timezone.now)

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return self.worker
