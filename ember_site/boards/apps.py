"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class BoardsConfig(AppConfig):
    """Evaluations and ranking."""

    name = "ember_site.boards"
    label = "boards"
    verbose_name = "Boards"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """See to it that the database notes what changes on boards, and that old notes go."""
        from ember_site.boards.changes import changes_prune, changes_watch
        from ember_site.runs.signals import queue_swept

        queue_swept.connect(changes_prune, dispatch_uid="boards.changes_prune")
        post_migrate.connect(changes_watch, sender=self, dispatch_uid="boards.changes_watch")
