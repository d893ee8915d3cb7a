"""Core memory (L2): what waits for the teacher, what they have confirmed, and who decided what (seed 000 §4, DESIGN §5).

A candidate or a fact has one `normal` form of its wording; the same thing is known once per owner, whatever became of it.
Nothing is confirmed without a Decision of a person: the database refuses it.
"""

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from chat.models.agent import Agent
from chat.models.ids import id_field
from chat.models.run import Run
from chat.models.tenancy import Tenant
from chat.models.thread import Thread

FACT_MAX_CHARS = 200


class Kind(models.TextChoices):
    """What a fact is about."""

    PROFILE = "profile", _("about me")
    PREFERENCE = "preference", pgettext_lazy("kind of memory", "preference")
    TEACHING = "teaching", _("teaching")
    INSTRUCTION = "instruction", _("standing request")


class OwnedQuerySet(models.QuerySet):
    """Rows of one teacher in one school."""

    def for_user(self, user: AbstractBaseUser) -> "OwnedQuerySet":
        return self.filter(user_id=user.pk, tenant__memberships__user_id=user.pk)


class Decision(models.Model):
    """One action of a person on core memory. A click on several items is one decision; undoing it is another one."""

    class Verb(models.TextChoices):
        CONFIRM = "confirm", _("confirmed")
        REPLACE = "replace", _("confirmed in place of another")
        EDIT = "edit", _("edited")
        ADD = "add", _("added by hand")
        REJECT = "reject", _("rejected")
        LATER = "later", _("put off")
        PIN = "pin", _("pinned")
        UNPIN = "unpin", _("unpinned")
        DELETE = "delete", _("deleted")
        RESTORE = "restore", _("brought back")
        ALLOW = "allow", _("allowed again")
        UNDO = "undo", _("undone")

    id = id_field("dec")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="decisions", verbose_name=_("decided by"))
    verb = models.CharField(_("action"), max_length=10, choices=Verb.choices)
    undoes = models.OneToOneField("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="undone_by")
    created_at = models.DateTimeField(_("at"), default=timezone.now, editable=False)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        indexes = [models.Index(fields=["user", "-created_at"], name="decision_by_user")]

    def __str__(self) -> str:
        return f"{self.verb} {self.pk}"


class Fact(models.Model):
    """Something that a teacher has confirmed. `agent` None: for all their assistants in the school.

    `archived` was evicted (with undo), `deleted` is kept as a normal form only, so that it is not proposed again; its
    text and quote are then empty.
    """

    class Status(models.TextChoices):
        CONFIRMED = "confirmed", _("confirmed")
        ARCHIVED = "archived", _("archived")
        DELETED = "deleted", _("deleted")

    id = id_field("fact")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="facts", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="facts", verbose_name=_("teacher"))
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="facts", verbose_name=_("assistant"))
    text = models.CharField(_("wording"), max_length=FACT_MAX_CHARS, blank=True)
    normal = models.CharField(max_length=FACT_MAX_CHARS, editable=False)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices, default=Kind.PROFILE)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.CONFIRMED)
    is_pinned = models.BooleanField(_("pinned"), default=False)
    decision = models.ForeignKey(Decision, on_delete=models.RESTRICT, null=True, related_name="facts", verbose_name=_("confirmed by"))
    source_run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="facts")
    quote = models.CharField(_("source sentence"), max_length=400, blank=True, default="")
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    uses = models.PositiveIntegerField(_("times used"), default=0, editable=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    confirmed_at = models.DateTimeField(_("confirmed at"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("fact")
        verbose_name_plural = _("facts")
        indexes = [models.Index(fields=["user", "tenant", "status", "agent"], name="fact_by_owner")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "agent", "normal"], name="fact_once"),
            models.UniqueConstraint(fields=["tenant", "user", "normal"], condition=Q(agent=None), name="shared_fact_once"),
            models.CheckConstraint(condition=~Q(status="confirmed") | Q(decision__isnull=False), name="fact_confirmed_by_a_person"),
            models.CheckConstraint(condition=Q(status__in=["confirmed", "archived", "deleted"]), name="fact_status"),
        ]

    def __str__(self) -> str:
        return self.pk


class Candidate(models.Model):
    """Something that was extracted or imported and waits for the teacher. Never part of a prompt.

    `seen` counts how often it was learnt. A rejected one stays, so that it is not proposed again. `contradicts` is the
    confirmed fact that it would replace. `later_until` hides it from the head of the list, never from the list.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("waiting")
        CONFIRMED = "confirmed", _("confirmed")
        REJECTED = "rejected", _("rejected")

    class Origin(models.TextChoices):
        EXTRACTION = "extraction", _("from a conversation")
        IMPORT = "import", _("imported")

    id = id_field("cand")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="candidates", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="candidates", verbose_name=_("teacher"))
    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="candidates", verbose_name=_("assistant")
    )
    text = models.CharField(_("wording"), max_length=FACT_MAX_CHARS)
    normal = models.CharField(max_length=FACT_MAX_CHARS, editable=False)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices, default=Kind.PROFILE)
    confidence = models.FloatField(_("confidence"), default=0.5, validators=[MinValueValidator(0), MaxValueValidator(1)])
    reason = models.CharField(_("why"), max_length=200, blank=True, default="")
    quote = models.CharField(_("source sentence"), max_length=400, blank=True, default="")
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices, default=Origin.EXTRACTION)
    source_run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="candidates")
    thread = models.ForeignKey(Thread, on_delete=models.SET_NULL, null=True, blank=True, related_name="candidates")
    seen = models.PositiveIntegerField(_("times seen"), default=1)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.PENDING)
    contradicts = models.ForeignKey(Fact, on_delete=models.SET_NULL, null=True, blank=True, related_name="challengers")
    later_until = models.DateTimeField(null=True, blank=True)
    decision = models.ForeignKey(Decision, on_delete=models.RESTRICT, null=True, blank=True, related_name="candidates")
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("candidate")
        verbose_name_plural = _("candidates")
        indexes = [models.Index(fields=["user", "tenant", "status", "-created_at"], name="candidate_by_owner")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "normal"], name="candidate_once"),
            models.CheckConstraint(condition=Q(status="pending") | Q(decision__isnull=False), name="candidate_decided_by_a_person"),
            models.CheckConstraint(condition=Q(status__in=["pending", "confirmed", "rejected"]), name="candidate_status"),
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="candidate_confidence"),
        ]

    def __str__(self) -> str:
        return self.pk


class CoreEvent(models.Model):
    """One line of the history of a fact or candidate, with its wording before and after; undo reads it."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="core_events")
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, null=True, blank=True, related_name="events")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, null=True, blank=True, related_name="events")
    candidate = models.ForeignKey(Candidate, on_delete=models.CASCADE, null=True, blank=True, related_name="events")
    verb = models.CharField(max_length=12)  # proposed, seen, evicted, used, or a Decision.Verb
    before = models.JSONField(default=dict, blank=True)  # the fields that changed, as they were
    after = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("history of core memory")
        verbose_name_plural = _("history of core memory")
        indexes = [
            models.Index(fields=["fact", "created_at"], name="core_event_by_fact"),
            models.Index(fields=["candidate", "created_at"], name="core_event_by_candidate"),
            models.Index(fields=["created_at"], name="core_event_of_removed", condition=Q(fact=None, candidate=None)),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.fact_id or self.candidate_id}"


class RedlineRecord(models.Model):
    """Something that the filter stopped, without anything to reconstruct it from: hit, digits and the person are █."""

    id = id_field("red")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="redline_records", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="redline_records", verbose_name=_("teacher"))
    layer = models.CharField(_("layer"), max_length=20)
    kind = models.CharField(_("kind"), max_length=20)
    rule = models.CharField(_("rule"), max_length=60)
    source_id = models.CharField(_("source"), max_length=40, blank=True, default="")
    excerpt = models.CharField(_("excerpt"), max_length=200, blank=True, default="")
    created_at = models.DateTimeField(_("at"), default=timezone.now, editable=False)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("red line")
        verbose_name_plural = _("red lines")
        indexes = [models.Index(fields=["tenant", "kind", "rule"], name="redline_by_rule")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
