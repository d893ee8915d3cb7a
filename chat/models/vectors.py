"""Search by meaning: the vectors of one owner's index, packed in small blocks.

`chat.search.vectors` alone writes and unpacks them.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.postings import SearchIndex


class VectorBlock(models.Model):
    """Vectors of 128 records by number, made with one model; few enough that one more record rewrites little.

    `made` has a bit for each record that is done, also for one that the service has no vector for; it stands before the
    vectors, so that it can be read without them. Behind the bits is a random stamp of 16 bytes that each writing makes anew (none
    in blocks of before). The index says which service made them.
    """

    index = models.ForeignKey(SearchIndex, on_delete=models.CASCADE, related_name="vector_blocks")
    block = models.PositiveIntegerField()
    model = models.CharField(_("embedding model"), max_length=200)
    dimension = models.PositiveIntegerField(_("numbers in a vector"))
    made = models.BinaryField()
    packed = models.BinaryField()

    class Meta:
        verbose_name = _("block of vectors")
        verbose_name_plural = _("blocks of vectors")
        constraints = [models.UniqueConstraint(fields=["index", "block"], name="vector_block_once")]

    def __str__(self) -> str:
        return f"{self.index_id} {self.block}"
