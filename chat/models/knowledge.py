"""Knowledge (L4): documents of a teacher or of a school, and the passages that answers are found in (DESIGN §5)."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.agent import Agent
from chat.models.ids import id_field
from chat.models.postings import SearchIndex
from chat.models.tenancy import Owner, Tenant


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, owner: Owner) -> "DocumentQuerySet":
        """The teacher's own documents, and those of their school."""
        return self.filter(Q(user_id=owner.user_id) | Q(user=None), tenant_id=owner.tenant_id)

    def owned_by(self, owner: Owner) -> "DocumentQuerySet":
        """The teacher's own documents."""
        return self.filter(tenant_id=owner.tenant_id, user_id=owner.user_id)

    def of(self, tenant_id: str, user_id: int | None) -> "DocumentQuerySet":
        """The documents of a teacher, or without one those of the school."""
        return self.of_school(tenant_id) if user_id is None else self.owned_by(Owner(tenant_id, user_id))

    def of_school(self, tenant_id: str) -> "DocumentQuerySet":
        return self.filter(tenant_id=tenant_id, user=None)


class Document(models.Model):
    """One version of a document. `user` None: the school's, kept by its administrators.

    A newer version is a row of its own that `replaces` this one; the passages of the older one answer until the newer one
    is ready, then they leave the search index and `is_current` moves on. The older row, its file and its passages stay as
    history, so that the marks of older answers still lead to what they cite.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        READY = "ready", _("ready")
        FAILED = "failed", _("could not be read")

    id = id_field("doc")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="documents", verbose_name=_("school"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="documents",
        verbose_name=_("teacher"),
        help_text=_("Empty: the school's."),
    )
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("uploaded by")
    )
    agents = models.ManyToManyField(Agent, blank=True, related_name="documents", verbose_name=_("assistants that use it"))
    name = models.CharField(_("file name"), max_length=200)
    format = models.CharField(_("format"), max_length=10)  # md, txt, docx, pdf
    size = models.PositiveIntegerField(_("size (bytes)"))
    sha256 = models.CharField(max_length=64, editable=False)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.WAITING)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")  # of chat.documents
    parts_done = models.PositiveIntegerField(_("pages read"), default=0)
    parts_total = models.PositiveIntegerField(_("pages"), default=0)  # 0 while it is not known
    characters = models.PositiveIntegerField(_("characters"), default=0)
    tries = models.PositiveSmallIntegerField(default=0, editable=False)  # readings that were begun; one that kills its worker counts
    passage_count = models.PositiveIntegerField(_("passages"), default=0)
    version = models.PositiveIntegerField(_("version"), default=1)
    replaces = models.OneToOneField(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="replaced_by", verbose_name=_("replaces")
    )
    is_current = models.BooleanField(_("current"), default=True)
    created_at = models.DateTimeField(_("uploaded at"), default=timezone.now, editable=False)
    ready_at = models.DateTimeField(_("ready at"), null=True, blank=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        indexes = [models.Index(fields=["tenant", "user", "-created_at"], name="document_newest")]
        constraints = [models.CheckConstraint(condition=Q(state__in=["waiting", "reading", "ready", "failed"]), name="document_state")]

    def __str__(self) -> str:
        return self.pk


class DocumentFile(models.Model):
    """The bytes of a document, in the database so that every worker can read them and one backup has all."""

    document = models.OneToOneField(Document, on_delete=models.CASCADE, primary_key=True, related_name="file")
    content = models.BinaryField()

    class Meta:
        verbose_name = _("file of a document")
        verbose_name_plural = _("files of documents")

    def __str__(self) -> str:
        return self.document_id


class Passage(models.Model):
    """A piece of a document. It answers while its document is current and ready, and stands in the search index of its owner
    (the teacher or the school) under `number`; both are None for a passage of history.
    """

    id = id_field("psg")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="passages", verbose_name=_("document"))
    position = models.PositiveIntegerField(_("position"))  # from 1
    index = models.ForeignKey(SearchIndex, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    number = models.PositiveIntegerField(null=True, editable=False)
    heading = models.CharField(_("heading"), max_length=300, blank=True, default="")
    page = models.PositiveIntegerField(_("page"), null=True, blank=True)  # from 1; None where a format has no pages
    text = models.TextField(_("text"))

    class Meta:
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        constraints = [
            models.UniqueConstraint(fields=["document", "position"], name="passage_once"),
            models.UniqueConstraint(fields=["index", "number"], name="passage_number_once"),
        ]

    def __str__(self) -> str:
        return self.pk
