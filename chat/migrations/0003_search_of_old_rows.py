"""What was said before becomes searchable, and the worker is told to bring recall up to date."""

from django.db import migrations
from django.db.models import F
from django.utils import timezone

from chat.text.fold import fold

ROWS_AT_ONCE = 500


def fill(apps, schema_editor):
    search_text = apps.get_model("chat", "SearchText").objects.using(schema_editor.connection.alias)
    threads = apps.get_model("chat", "Thread").objects.using(schema_editor.connection.alias).filter(is_incognito=False)
    runs = apps.get_model("chat", "Run").objects.using(schema_editor.connection.alias).filter(thread__is_incognito=False)
    rows = []

    def keep(at_least):
        if len(rows) >= at_least:
            search_text.bulk_create(rows, ignore_conflicts=True)
            rows.clear()

    def row(**values):
        rows.append(search_text.model(key=f"{values.get('run_id') or values['thread_id']}.{values['part']}", **values))

    for thread_id, title in threads.values_list("pk", "title").iterator(ROWS_AT_ONCE):
        row(thread_id=thread_id, part="title", text=fold(title))
        keep(ROWS_AT_ONCE)
    values = runs.values_list("pk", "thread_id", "status", "input", "output")
    for run_id, thread_id, status, said, answered in values.iterator(ROWS_AT_ONCE):
        row(thread_id=thread_id, run_id=run_id, part="input", text=fold(said))
        if answered and status not in ("queued", "running"):
            row(thread_id=thread_id, run_id=run_id, part="output", text=fold(answered))
        keep(ROWS_AT_ONCE)
    keep(1)


def wake(apps, schema_editor):
    """Marks every conversation that can be recalled: recall starts behind its cursor, which is 0, and the rest finds nothing to do."""
    work = apps.get_model("chat", "Work").objects.using(schema_editor.connection.alias)
    runs = apps.get_model("chat", "Run").objects.using(schema_editor.connection.alias)
    kept = runs.filter(thread__is_incognito=False, status="completed", is_latest=True, has_memory=True)
    now = timezone.now()
    work.filter(kind="thread").update(marks=F("marks") + 1)  # also where a worker is about to end
    rows = (work.model(kind="thread", subject_id=pk, due_at=now) for pk in kept.order_by().values_list("thread_id", flat=True).distinct())
    work.bulk_create(rows, batch_size=ROWS_AT_ONCE, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("chat", "0002_recall_and_knowledge")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(wake, migrations.RunPython.noop),
    ]
