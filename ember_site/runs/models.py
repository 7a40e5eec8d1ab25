"""Agents, submissions, runs and verifications.

A run is (scenario, seed, actions): its record lies in the record store under its digest, and
every number in a row here was computed by the replay, never taken from what a record claims.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from simulator import Metrics


class Visibility(models.TextChoices):
    """Who may see an agent or a run: everybody, whoever has the link, or the owner alone."""

    PUBLIC = "public", "public"
    UNLISTED = "unlisted", "unlisted"
    PRIVATE = "private", "private"


class AgentKind(models.TextChoices):
    """Where the runs of an agent come from: uploads and remote play, play on this site, the organiser."""

    MODEL = "model", "model"
    HUMAN = "human", "human"
    BASELINE = "baseline", "baseline"


class RunState(models.TextChoices):
    """Where a run, or one attempt to verify it, stands. `failed` is the site's fault."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    VERIFIED = "verified", "verified"
    REJECTED = "rejected", "rejected"
    FAILED = "failed", "failed"


OPEN_STATES = (RunState.QUEUED, RunState.RUNNING)
FINAL_STATES = (RunState.VERIFIED, RunState.REJECTED, RunState.FAILED)


class RunSource(models.TextChoices):
    """How a run reached the site."""

    UPLOAD = "upload", "upload"
    PLAY = "play", "play"
    REMOTE = "remote", "remote"
    BASELINE = "baseline", "baseline"


class SubmissionSource(models.TextChoices):
    """Which door an upload came through."""

    PAGE = "page", "page"
    API = "api", "api"


class Agent(models.Model):
    """What is ranked. `owner` is empty for the organiser's baselines."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=80)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="agents"
    )
    kind = models.CharField(max_length=8, choices=AgentKind, default=AgentKind.MODEL)
    url = models.URLField(blank=True, max_length=300)
    note = models.TextField(blank=True, max_length=2000)
    provider = models.CharField(max_length=80, blank=True)
    cost_usd = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, validators=[MinValueValidator(0)]
    )
    tokens = models.BigIntegerField(null=True, blank=True, validators=[MinValueValidator(0)])
    visibility = models.CharField(max_length=8, choices=Visibility, default=Visibility.PUBLIC)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name", "id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["owner"], condition=Q(kind="human"), name="runs_one_human_agent_per_owner"
            ),
            models.CheckConstraint(
                condition=Q(kind="baseline") | Q(owner__isnull=False), name="runs_agent_owner_or_baseline"
            ),
            models.CheckConstraint(
                condition=Q(tokens__isnull=True) | Q(tokens__gte=0), name="runs_tokens_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(cost_usd__isnull=True) | Q(cost_usd__gte=0), name="runs_cost_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """One uploaded file. `code`, `place` and `message` say why a file was refused as a whole."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="submissions")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="submissions")
    source = models.CharField(max_length=4, choices=SubmissionSource)
    filename = models.CharField(max_length=200, blank=True)
    size_bytes = models.PositiveBigIntegerField()
    code = models.CharField(max_length=40, blank=True)
    place = models.CharField(max_length=300, blank=True)
    message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["owner", "-created_at"])]

    def __str__(self) -> str:
        return f"submission {self.id}"

    @property
    def is_refused(self) -> bool:
        """Whether nothing of the file could be used."""
        return self.code != ""


class DryRunMark(models.Model):
    """That an account made a dry run, and when: all that is kept of one, for an hour."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner", "-created_at"], name="runs_dry_run_recent")
        ]

    def __str__(self) -> str:
        return f"dry run of {self.created_at:%Y-%m-%d %H:%M}"


class Run(models.Model):
    """
    One run record of an agent on one scenario and seed: its identity is (agent, digest).

    The metric columns are empty until a replay has filled them. `ended` is false for a record that
    the replay confirms but that stops before its run does: it is never scored. A run whose
    `hidden_until` lies ahead, or that has a `hidden_ref` and no instant, is invisible to everybody,
    its owner included.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="runs")
    guest_key = models.CharField(max_length=64, blank=True, db_index=True)
    scenario = models.ForeignKey(
        "catalog.Scenario", on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    scenario_hash = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, db_index=True)
    seed = models.CharField(max_length=20)
    simulator_version = models.CharField(max_length=64)
    observation_version = models.CharField(max_length=64)
    source = models.CharField(max_length=8, choices=RunSource)
    ranked = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=RunState, default=RunState.QUEUED)

    code = models.CharField(max_length=40, blank=True)
    place = models.CharField(max_length=300, blank=True)
    expected = models.TextField(blank=True)
    actual = models.TextField(blank=True)
    message = models.TextField(blank=True)

    population = models.PositiveIntegerField(null=True, blank=True)
    evacuated = models.PositiveIntegerField(null=True, blank=True)
    casualties = models.PositiveIntegerField(null=True, blank=True)
    entered_fire = models.PositiveIntegerField(null=True, blank=True)
    fire_spread = models.PositiveIntegerField(null=True, blank=True)
    unresolved = models.PositiveIntegerField(null=True, blank=True)
    trapped_at_start = models.PositiveIntegerField(null=True, blank=True)
    steps = models.PositiveIntegerField(null=True, blank=True)
    last_evacuation_step = models.PositiveIntegerField(null=True, blank=True)
    evacuation_step_total = models.PositiveBigIntegerField(null=True, blank=True)
    exit_step_total = models.PositiveBigIntegerField(null=True, blank=True)
    blocked = models.JSONField(null=True, blank=True)
    ended = models.BooleanField(null=True, blank=True)

    visibility = models.CharField(max_length=8, choices=Visibility, default=Visibility.PUBLIC)
    hidden_until = models.DateTimeField(null=True, blank=True)
    hidden_ref = models.CharField(max_length=120, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    record_size_bytes = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["agent", "digest"], name="runs_agent_digest_unique"),
            models.UniqueConstraint(
                fields=["guest_key", "digest"],
                condition=Q(agent__isnull=True),
                name="runs_guest_digest_unique",
            ),
            models.CheckConstraint(
                condition=~Q(state="verified")
                | Q(
                    population__isnull=False,
                    evacuated__isnull=False,
                    casualties__isnull=False,
                    exit_step_total__isnull=False,
                    ended__isnull=False,
                ),
                name="runs_verified_has_metrics",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["agent", "-created_at"]),
            models.Index(fields=["-created_at", "id"], name="runs_run_newest"),
            models.Index(fields=["scenario", "seed", "state"]),
            models.Index(fields=["state", "created_at"]),
        ]

    def __str__(self) -> str:
        # The seed stays out: it may be sealed.
        return f"run {self.id}"

    @property
    def short_id(self) -> str:
        """The first characters of the id, for headings."""
        return str(self.id)[:8]

    @property
    def file_name(self) -> str:
        """The name under which the record is offered as a file."""
        return f"{self.scenario.scenario_id if self.scenario else 'run'}-{self.digest[:8]}.json"

    @property
    def is_final(self) -> bool:
        """Whether a verdict, or the admission that there will be none, is in."""
        return self.state in FINAL_STATES

    @property
    def metrics(self) -> Metrics | None:
        """What the replay gave; None until it has confirmed the run."""
        if self.state != RunState.VERIFIED:
            return None
        # They come with the verdict, all at once; a constraint of the table holds those that rank.
        assert self.population is not None
        assert self.evacuated is not None
        assert self.casualties is not None
        assert self.exit_step_total is not None
        return Metrics(
            population=self.population,
            evacuated=self.evacuated,
            casualties=self.casualties,
            entered_fire=self.entered_fire or 0,
            fire_spread=self.fire_spread or 0,
            unresolved=self.unresolved or 0,
            trapped_at_start=self.trapped_at_start or 0,
            steps=self.steps or 0,
            last_evacuation_step=self.last_evacuation_step,
            evacuation_step_total=self.evacuation_step_total or 0,
            exit_step_total=self.exit_step_total,
            blocked=self.blocked or {},
        )


class SubmissionLine(models.Model):
    """One record of an upload. A line that the loader refused keeps the reason and has no run."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveIntegerField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, blank=True, related_name="lines")
    known = models.BooleanField(default=False, help_text="The agent had this run before.")
    code = models.CharField(max_length=40, blank=True)
    place = models.CharField(max_length=300, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["submission", "number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["submission", "number"], name="runs_line_number_unique"),
        ]

    def __str__(self) -> str:
        return f"line {self.number} of {self.submission_id}"


class Verification(models.Model):
    """
    One attempt to check a run by replay.

    `live` marks the verdict that counts; the others are history. While an attempt is queued it names
    its task; while it runs it holds a lease, and whoever finds the lease lapsed may put the run back.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="verifications")
    attempt = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=RunState, default=RunState.QUEUED)
    code = models.CharField(max_length=40, blank=True)
    place = models.CharField(max_length=300, blank=True)
    expected = models.TextField(blank=True)
    actual = models.TextField(blank=True)
    message = models.TextField(blank=True)
    live = models.BooleanField(default=False)
    simulator_version = models.CharField(max_length=64, blank=True)
    worker = models.CharField(max_length=120, blank=True)
    task_id = models.CharField(max_length=36, blank=True)
    queued_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["run", "attempt"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["run"], condition=Q(live=True), name="runs_one_live_verification"
            ),
            models.UniqueConstraint(
                fields=["run"],
                condition=Q(state__in=["queued", "running"]),
                name="runs_one_open_verification",
            ),
            models.UniqueConstraint(fields=["run", "attempt"], name="runs_attempt_unique"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return f"attempt {self.attempt} at {self.run_id}"
