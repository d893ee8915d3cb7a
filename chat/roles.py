"""What a school's administrator may do in the admin site: one group, kept by every `migrate`.

Such a person is staff, in this group, and has the role `admin` in the school; the admin site then shows the rows of
that school only. Reading the texts of messages (`view_content`) is not part of it: a superuser grants that by hand.
"""

from django.apps import apps as installed_apps
from django.apps.registry import Apps

SCHOOL_ADMINISTRATORS = "school administrators"
PERMISSIONS = {
    "tenant": ("view", "change"),
    "membership": ("view", "change", "delete"),
    "provider": ("view", "add", "change", "delete"),
    "agent": ("view", "add", "change", "delete"),
    "agentmode": ("view", "add", "change", "delete"),
    "thread": ("view",),
    "summary": ("view",),
    "run": ("view",),
    "runledger": ("view",),
    "memoryop": ("view",),
    "work": ("view",),
    "layerstate": ("view",),
    "fact": ("view",),
    "candidate": ("view",),
    "decision": ("view",),
    "coreevent": ("view",),
    "redlinerecord": ("view",),
    "recallentry": ("view",),
    "document": ("view",),
    "notetext": ("view",),
    "noteop": ("view",),
    "notereview": ("view",),
    "noteguard": ("view",),
    "notesnapshot": ("view",),
    "notice": ("view",),
    "remotescope": ("view",),
    "remotesession": ("view",),
    "remotegap": ("view",),
}


def keep_school_administrators(*, using: str, apps: Apps = installed_apps, **_signal: object) -> None:
    """After a migration: makes the group and gives it what it lacks. Permissions that people added stay.

    `flush` sends the signal too, without `apps`.
    """
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=SCHOOL_ADMINISTRATORS)
    codenames = [f"{action}_{model}" for model, actions in PERMISSIONS.items() for action in actions]
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    group.permissions.add(*permissions.filter(content_type__app_label="chat", codename__in=codenames))
