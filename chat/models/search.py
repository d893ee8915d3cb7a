"""What people search: titles and messages in their folded form."""

from collections.abc import Collection, Iterable
from typing import Final

from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.expressions import Value
from django.db.models.functions import StrIndex
from django.utils.translation import gettext_lazy as _

from chat.models.run import Run
from chat.models.thread import Thread
from chat.models.writing import insert
from chat.text.fold import fold

REPLACE: Final = "ON CONFLICT (key) DO UPDATE SET text = EXCLUDED.text"
_SAID = ("id", "thread_id", "status", "input", "output")


class SearchTextQuerySet(models.QuerySet["SearchText"]):
    def for_user(self, user: AbstractBaseUser) -> "SearchTextQuerySet":
        """What stands in the user's own threads, in the schools they are a member of."""
        return self.filter(thread__user_id=user.pk, thread__tenant__memberships__user_id=user.pk)

    def holding(self, words: list[str]) -> "SearchTextQuerySet":
        """The texts in which each of the folded words occurs."""
        found = self
        for index, word in enumerate(words):
            if word[0].isascii():
                # SQLite looks for an ASCII letter with strcspn here: 60 ms where INSTR takes 180, over 100 MB.
                found = found.filter(text__contains=word)
            else:
                name = f"place_{index}"
                found = found.alias(**{name: StrIndex("text", Value(word))}).filter(**{f"{name}__gt": 0})
        return found

    def on_path(self) -> "SearchTextQuerySet":
        """Without the messages that have been tried again since."""
        return self.filter(Q(run=None) | Q(run__is_latest=True))

    def keep_title(self, thread: Thread) -> None:
        """To be called in the transaction that writes the title."""
        self._keep(self._of_title(thread))

    def keep_run(self, run: Run) -> None:
        """Takes the question of a run that has been stored, or the answer of one that has ended; to be called in the
        transaction that writes it, with the run's thread at hand."""
        if not run.thread.is_incognito:
            insert(self._of_runs([run])[-1], REPLACE)

    def keep_runs(self, run_ids: Collection[str]) -> None:
        """As `keep_run`, for runs that are not at hand."""
        self._keep(self._of_runs(Run.objects.filter(pk__in=run_ids, thread__is_incognito=False).only(*_SAID)))

    def renew(self, thread_id: str) -> bool:
        """Takes anew what a thread and its runs say; returns whether that was there already."""
        if self._differing(thread_id) is None:
            return True
        with transaction.atomic():
            # Whoever writes in the thread takes its row first; once more, then, without them.
            Thread.objects.filter(pk=thread_id).update(last_position=F("last_position"))
            rows = self._differing(thread_id)
            if rows is None:
                return True
            self.filter(thread_id=thread_id).delete()
            self._keep(rows)
        return False

    def _differing(self, thread_id: str) -> "list[SearchText] | None":
        """The rows as they should be; None when they are."""
        thread = Thread.objects.only("title", "is_incognito").filter(pk=thread_id, is_incognito=False).first()
        rows = self._of_title(thread) + self._of_runs(Run.objects.filter(thread_id=thread_id).only(*_SAID)) if thread is not None else []
        kept = self.filter(thread_id=thread_id).values_list("key", "part", "run_id", "text")
        return None if {(row.key, row.part, row.run_id, row.text) for row in rows} == set(kept) else rows

    def _of_title(self, thread: Thread) -> "list[SearchText]":
        if thread.is_incognito:
            return []
        return [self.model(key=f"{thread.pk}.title", thread=thread, part=SearchText.Part.TITLE, text=fold(thread.title))]

    def _of_runs(self, runs: Iterable[Run]) -> "list[SearchText]":
        """An answer counts once it has ended: it is not folded again with each checkpoint."""
        return [
            self.model(key=f"{run.pk}.{part}", thread_id=run.thread_id, run_id=run.pk, part=part, text=fold(text))
            for run in runs
            for part, text in ((SearchText.Part.INPUT, run.input), (SearchText.Part.OUTPUT, "" if run.is_going else run.output))
            if text
        ]

    def _keep(self, rows: "list[SearchText]") -> None:
        if rows:
            self.bulk_create(rows, update_conflicts=True, unique_fields=["key"], update_fields=["text"])


class SearchText(models.Model):
    """One title or message of a thread that is not incognito, folded (chat.text.fold).

    Rows of their own, not columns of Run: a search that finds nothing reads all of a teacher's text, and should read
    nothing besides; and no other query should read the text twice.
    """

    class Part(models.TextChoices):
        TITLE = "title", _("title")
        INPUT = "input", _("question")
        OUTPUT = "output", _("answer")

    key = models.CharField(max_length=50, primary_key=True)  # the id of thread or run, and the part
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="search_texts", verbose_name=_("thread"))
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="search_texts", verbose_name=_("run"))
    part = models.CharField(max_length=6, choices=Part.choices)
    text = models.TextField()

    objects = SearchTextQuerySet.as_manager()

    class Meta:
        verbose_name = _("searched text")
        verbose_name_plural = _("searched texts")
        constraints = [
            models.CheckConstraint(
                condition=Q(part="title", run=None) | Q(part__in=["input", "output"], run__isnull=False), name="search_text_part"
            )
        ]

    def __str__(self) -> str:
        return self.key
