"""The search index as plain rows: packed postings of one owner's records, alike in SQLite and PostgreSQL.

`chat.search.index` alone writes and unpacks them; `chat.search.query` reads them.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.tenancy import Tenant


class SearchIndex(models.Model):
    """What one owner can find of one kind of records, and the totals that scores are made from.

    The owner is a teacher in a school; with `user` None it is the school itself. Records are known by numbers from 1, given in
    the order in which they were added and never again.
    """

    class Kind(models.TextChoices):
        RECALL = "recall", _("recall")
        KNOWLEDGE = "knowledge", _("knowledge")

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("teacher")
    )
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    last_number = models.PositiveIntegerField(default=0)
    records = models.PositiveIntegerField(default=0)
    total_terms = models.PositiveBigIntegerField(default=0)  # of all records, repeated ones counted
    # Search by meaning (chat.search.vectors): how many records are done, by which service, with which model.
    vectors = models.PositiveIntegerField(default=0)
    embedder = models.ForeignKey("chat.Provider", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    embedding_model = models.CharField(max_length=200, blank=True, default="")
    dimension = models.PositiveIntegerField(default=0)  # 0 while it is not known

    class Meta:
        verbose_name = _("search index")
        verbose_name_plural = _("search indexes")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "kind"], condition=Q(user__isnull=False), name="search_index_once"),
            models.UniqueConstraint(fields=["tenant", "kind"], condition=Q(user=None), name="search_index_of_school_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class SearchTerm(models.Model):
    """In which records of one block a term stands, and how often: `count` numbers of two bytes, then frequencies of one."""

    index = models.ForeignKey(SearchIndex, on_delete=models.CASCADE, related_name="terms")
    term = models.CharField(max_length=40)
    block = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    packed = models.BinaryField()

    class Meta:
        verbose_name = _("indexed term")
        verbose_name_plural = _("indexed terms")
        constraints = [models.UniqueConstraint(fields=["index", "term", "block"], name="search_term_once")]

    def __str__(self) -> str:
        return f"{self.index_id} {self.pk}"


class SearchBlock(models.Model):
    """What scores need to know of the records of one block: length, group and day, eight bytes a record."""

    index = models.ForeignKey(SearchIndex, on_delete=models.CASCADE, related_name="blocks")
    block = models.PositiveIntegerField()
    packed = models.BinaryField()

    class Meta:
        verbose_name = _("indexed block")
        verbose_name_plural = _("indexed blocks")
        constraints = [models.UniqueConstraint(fields=["index", "block"], name="search_block_once")]

    def __str__(self) -> str:
        return f"{self.index_id} {self.block}"
