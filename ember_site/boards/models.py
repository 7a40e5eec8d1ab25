"""Evaluations and their slots. Entries are not stored: they follow from the runs.

What is stored beside is a list of whose runs changed, so that a board that is kept in memory knows.
"""

from __future__ import annotations

from django.db import models


class EvaluationKind(models.TextChoices):
    """Whether the seeds of the schedule are public from the start."""

    OPEN = "open", "open"
    SEALED = "sealed", "sealed"


class EvaluationState(models.TextChoices):
    """Where an evaluation stands in its life."""

    DRAFT = "draft", "draft"
    OPEN = "open", "open"
    CLOSED = "closed", "closed"


class Evaluation(models.Model):
    """A suite, a simulator version, an observation version and a seed schedule."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    suite = models.ForeignKey("catalog.Suite", on_delete=models.PROTECT, related_name="evaluations")
    simulator_version = models.CharField(max_length=20)
    observation_version = models.CharField(max_length=20)
    kind = models.CharField(max_length=8, choices=EvaluationKind)
    state = models.CharField(max_length=8, choices=EvaluationState, default=EvaluationState.DRAFT)
    schedule_salt = models.CharField(max_length=64, blank=True)
    commitment = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "slug"]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_open_kind(self) -> bool:
        """Whether seeds, runs and records are public throughout."""
        return self.kind == EvaluationKind.OPEN

    @property
    def shows_slots(self) -> bool:
        """Whether seeds and single runs may be shown: always if open, after closing if sealed."""
        return self.is_open_kind or self.state == EvaluationState.CLOSED


class Slot(models.Model):
    """One (scenario, seed) that every entry of the evaluation has to run."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="slots")
    scenario = models.ForeignKey("catalog.Scenario", on_delete=models.PROTECT, related_name="+")
    seed = models.CharField(max_length=20)
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "scenario", "seed"], name="boards_slot_once"),
            models.UniqueConstraint(fields=["evaluation", "position"], name="boards_slot_position"),
        ]

    def __str__(self) -> str:
        # The seed stays out: it may be sealed.
        return f"slot {self.position} of {self.evaluation_id}"


class Change(models.Model):
    """
    A note that what counts of an agent changed. The database writes it, in the transaction of the change.

    `mark` is the number of that transaction on PostgreSQL and 0 on SQLite; see `boards.changes`.
    """

    agent_id = models.BigIntegerField()
    mark = models.BigIntegerField(db_index=True)

    def __str__(self) -> str:
        return f"change {self.pk} of agent {self.agent_id}"
