"""What an episode is in the database: one row, and one log row for each step that was made."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Episode(models.Model):
    """A run in progress on the server, driven by a person, a remote agent or a baseline.

    The log (`EpisodeStep`) together with scenario and seed is the whole truth about it; `step`
    is the number of the last row of the log, kept here so that lists need no join.

    `move_due_at` is set where a program plays for an agent over the network: when it passes, the
    server makes the step and everybody stays. It is empty for people and baselines.

    `player_since` is when the player's newest socket was opened; an older one of any process closes.
    """

    IDLE = "idle"
    """The reason of a running episode whose agent is given up: everybody stays until it ends."""

    class Mode(models.TextChoices):
        PRACTICE = "practice"
        RANKED = "ranked"
        BASELINE = "baseline"

    class State(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        ENDED = "ended"
        ABANDONED = "abandoned"
        FROZEN = "frozen"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    scenario = models.ForeignKey("catalog.Scenario", on_delete=models.PROTECT, related_name="episodes")
    agent = models.ForeignKey(
        "runs.Agent", on_delete=models.PROTECT, null=True, blank=True, related_name="episodes"
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="episodes"
    )
    guest_key = models.CharField(max_length=64, blank=True)
    mode = models.CharField(max_length=16, choices=Mode)
    policy = models.CharField(max_length=64, blank=True)
    seed = models.CharField(max_length=20)
    seed_public = models.BooleanField(default=False)
    assist = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    step = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_active_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    run = models.ForeignKey(
        "runs.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="episodes"
    )
    steps_per_second = models.FloatField(null=True, blank=True)
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    move_due_at = models.DateTimeField(null=True, blank=True)
    player_since = models.DateTimeField(null=True, blank=True)
    hidden_until = models.DateTimeField(null=True, blank=True)
    hidden_ref = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "-last_active_at"], name="episode_state_active"),
            models.Index(fields=["owner", "-created_at"], name="episode_owner_created"),
            models.Index(fields=["guest_key"], name="episode_guest_key"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(mode="baseline") | ~models.Q(policy=""),
                name="episode_baseline_has_policy",
            ),
            models.CheckConstraint(condition=models.Q(assist__lte=2), name="episode_assist_at_most_2"),
        ]

    def __str__(self) -> str:
        return f"episode {self.id} ({self.mode}, {self.state})"

    @property
    def is_open(self) -> bool:
        """Whether another step can still be made, now or after resuming."""
        return self.state in (self.State.RUNNING, self.State.PAUSED)

    @property
    def is_remote(self) -> bool:
        """Whether a program plays it for a `model` agent, under the limits of agents."""
        return self.move_due_at is not None

    @property
    def is_given_up(self) -> bool:
        """Whether its agent was idle for too long, so that only the server still makes steps."""
        return self.is_remote and self.reason == self.IDLE

    @property
    def is_hidden(self) -> bool:
        """Whether it belongs to a sealed evaluation, which nobody but its player may see."""
        return bool(self.hidden_ref) or self.hidden_until is not None


class EpisodeStep(models.Model):
    """One step of the log: the resolved action of each active person, and the state it led to.

    The digest stays on the server. It exists so that a process that rebuilds the episode
    notices a difference instead of going on from another state.
    """

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="log")
    step = models.PositiveIntegerField()
    actions = models.TextField()
    state_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["episode", "step"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "step"], name="episode_step_once"),
            models.CheckConstraint(condition=models.Q(step__gte=1), name="episode_step_from_1"),
        ]

    def __str__(self) -> str:
        return f"step {self.step} of {self.episode_id}"


class Audience(models.Model):
    """How many sockets of one web process watch an episode. A process that fell silent does not count."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="audience")
    process = models.CharField(max_length=64)
    watchers = models.PositiveIntegerField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["episode", "process"], name="audience_once_a_process"),
        ]
        indexes = [models.Index(fields=["process"], name="audience_process")]

    def __str__(self) -> str:
        return f"{self.watchers} at {self.episode_id}"
