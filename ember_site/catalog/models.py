"""Suites, their scenarios and the entries that join them.

Rows are written once by `services.suite_import` and never changed afterwards: a suite or
scenario that differs in one byte has another hash and is another row.
"""

from __future__ import annotations

import re
from typing import ClassVar

from django.db import models

NUMBERED_ID = re.compile(r"(?:.*?-)?(\d{1,3})-(.+)")
"""`v1-pub-07-multiple-ignitions` has the number 07 and the name `multiple-ignitions`."""


class SuiteVisibility(models.TextChoices):
    """Whether a suite may be browsed by everybody."""

    PUBLIC = "public", "public"
    GENERATED = "generated", "generated"


class FireModel(models.TextChoices):
    """The two fire models of the scenario schema."""

    DETERMINISTIC = "deterministic", "deterministic"
    STOCHASTIC = "stochastic", "stochastic"


class Suite(models.Model):
    """One version of a suite. Its identity is the suite hash."""

    suite_id = models.CharField(max_length=64)
    version = models.CharField(max_length=32)
    suite_hash = models.CharField(max_length=64, unique=True)
    visibility = models.CharField(max_length=16, choices=SuiteVisibility)
    seed_role = models.CharField(max_length=16)
    schema_version = models.CharField(max_length=16)
    manifest = models.TextField(help_text="Canonical JSON; the suite hash is taken over it.")
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["suite_id", "version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["suite_id", "version"], name="catalog_suite_id_version_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.suite_id} {self.version}"

    @property
    def is_public(self) -> bool:
        """Whether everybody may browse this suite."""
        return self.visibility == SuiteVisibility.PUBLIC


class Scenario(models.Model):
    """One scenario, identified by its content hash. Several suites may share it."""

    content_hash = models.CharField(max_length=64, primary_key=True)
    scenario_id = models.CharField(max_length=64, db_index=True)
    schema_version = models.CharField(max_length=16)
    document = models.TextField(help_text="Canonical JSON; the content hash is taken over it.")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    population = models.PositiveIntegerField()
    exit_count = models.PositiveIntegerField()
    ignition_count = models.PositiveIntegerField()
    fire_model = models.CharField(max_length=16, choices=FireModel)
    hazard = models.CharField(max_length=64, help_text="Short notation: det/3 or sto/1 p=0.5.")
    max_steps = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar[list[str]] = ["scenario_id", "content_hash"]

    def __str__(self) -> str:
        return f"{self.scenario_id} {self.content_hash[:8]}"

    @property
    def number(self) -> str:
        """The number in the scenario ID, as `07`; empty where the ID has none."""
        found = NUMBERED_ID.fullmatch(self.scenario_id)
        return found[1] if found else ""

    @property
    def title(self) -> str:
        """The scenario ID as a heading, without its number: `Multiple ignitions`."""
        found = NUMBERED_ID.fullmatch(self.scenario_id)
        words = re.sub(r"[-_]+", " ", found[2] if found else self.scenario_id).strip()
        return words[:1].upper() + words[1:] or self.scenario_id

    @property
    def is_deterministic(self) -> bool:
        """Whether the seed has no effect on a run."""
        return self.fire_model == FireModel.DETERMINISTIC


class SuiteEntry(models.Model):
    """A scenario's place in a suite, with what the manifest says of it."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="entries")
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="entries")
    position = models.PositiveIntegerField(help_text="From 1, in the order of the manifest.")
    primary_family = models.CharField(max_length=64)
    families = models.JSONField(help_text="Sorted list of family names, the primary one included.")
    purpose = models.TextField()

    class Meta:
        ordering: ClassVar[list[str]] = ["suite", "position"]
        verbose_name_plural = "suite entries"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["suite", "position"], name="catalog_entry_position_unique"),
            models.UniqueConstraint(fields=["suite", "scenario"], name="catalog_entry_scenario_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.position:02d} {self.scenario_id[:8]}"  # the foreign key, which is a content hash
