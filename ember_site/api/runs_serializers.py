"""Shapes of agents, submissions and runs on the wire. Seeds are decimal strings: they can exceed 2^53."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from ember_site.api.strict import StrictBody
from ember_site.runs import selectors, services
from ember_site.runs.causes import run_cause
from ember_site.runs.models import Agent, Run, RunState, Submission, SubmissionLine, Verification, Visibility

LINKS = serializers.DictField(child=serializers.URLField())


class AgentSerializer(serializers.ModelSerializer[Agent]):
    """An agent as everybody sees it."""

    owner = serializers.SerializerMethodField(help_text="Public name; null for the organiser's baselines.")
    links = serializers.SerializerMethodField()

    class Meta:
        model = Agent
        fields = (
            "slug", "name", "kind", "owner", "url", "note", "provider", "cost_usd", "tokens", "visibility",
            "created_at", "links",
        )  # fmt: skip

    def get_owner(self, agent: Agent) -> str | None:
        """Who answers for the agent."""
        return None if agent.owner is None else agent.owner.public_name

    @extend_schema_field(LINKS)
    def get_links(self, agent: Agent) -> dict[str, str]:
        """Detail, runs and page."""
        request = self.context["request"]
        return {
            "self": reverse("api_agent_detail", args=[agent.slug], request=request),
            "runs": f"{reverse('api_run_list', request=request)}?agent={agent.slug}",
            "page": reverse("agent_detail", args=[agent.slug], request=request),
        }


class AgentWriteSerializer(StrictBody[Agent], serializers.ModelSerializer[Agent]):
    """What an owner says about an agent."""

    visibility = serializers.ChoiceField(choices=Visibility.choices, required=False)

    class Meta:
        model = Agent
        fields = ("name", "url", "note", "provider", "cost_usd", "tokens", "visibility")


class CausesSerializer(serializers.Serializer[dict[str, int]]):
    """Casualties by cause."""

    entered_fire = serializers.IntegerField()
    fire_spread = serializers.IntegerField()


class MetricsSerializer(serializers.Serializer[dict[str, Any]]):
    """What the replay counted: exact integers, and ratios as numbers for display."""

    population = serializers.IntegerField()
    evacuated = serializers.IntegerField()
    casualties = serializers.IntegerField()
    casualties_by_cause = CausesSerializer()
    unresolved = serializers.IntegerField()
    trapped_at_start = serializers.IntegerField()
    steps = serializers.IntegerField()
    last_evacuation_step = serializers.IntegerField(allow_null=True)
    evacuation_step_total = serializers.IntegerField()
    exit_step_total = serializers.IntegerField()
    blocked = serializers.DictField(child=serializers.IntegerField())
    evacuation_rate = serializers.FloatField()
    casualty_rate = serializers.FloatField()
    exit_step = serializers.FloatField()
    mean_evacuation_step = serializers.FloatField(allow_null=True)


def metrics_document(run: Run) -> dict[str, Any] | None:
    """The metrics of a run; None until a replay has confirmed it."""
    metrics = run.metrics
    return None if metrics is None else metrics.to_dict()


class RunAgentSerializer(serializers.ModelSerializer[Agent]):
    """Whose run it is."""

    class Meta:
        model = Agent
        fields = ("slug", "name", "kind")


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run with its verdict. Code and message are those of `ember verify`."""

    agent = RunAgentSerializer(allow_null=True)
    scenario_id = serializers.SerializerMethodField()
    cause = serializers.SerializerMethodField(help_text="What usually lies behind a refusal; may be empty.")
    metrics = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = (
            "id", "agent", "scenario_hash", "scenario_id", "seed", "digest", "simulator_version",
            "observation_version", "source", "ranked", "state", "code", "place", "expected", "actual",
            "message", "cause", "ended", "metrics", "visibility", "withdrawn_at", "record_size_bytes",
            "created_at", "verified_at", "links",
        )  # fmt: skip

    def get_scenario_id(self, run: Run) -> str | None:
        """The scenario's ID; null where no scenario has the hash."""
        return None if run.scenario is None else run.scenario.scenario_id

    def get_cause(self, run: Run) -> str:
        """The usual cause of the refusal."""
        return run_cause(run)

    @extend_schema_field(MetricsSerializer(allow_null=True))
    def get_metrics(self, run: Run) -> dict[str, Any] | None:
        """The replay's metrics; null until it has confirmed the record."""
        return metrics_document(run)

    @extend_schema_field(LINKS)
    def get_links(self, run: Run) -> dict[str, str]:
        """Detail, record and page."""
        request, args = self.context["request"], [run.pk]
        return {
            "self": reverse("api_run_detail", args=args, request=request),
            "record": reverse("api_run_record", args=args, request=request),
            "page": reverse("run_detail", args=args, request=request),
        }


class VerificationSerializer(serializers.ModelSerializer[Verification]):
    """One attempt to verify a run."""

    class Meta:
        model = Verification
        fields = (
            "attempt", "state", "code", "place", "message", "live", "simulator_version", "queued_at",
            "started_at", "finished_at",
        )  # fmt: skip


class RunDetailSerializer(RunSerializer):
    """A run with its place in the queue and the history of its verification."""

    queue_position = serializers.SerializerMethodField(help_text="From 1; null once a worker has it.")
    verifications = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "queue_position", "verifications")  # type: ignore[assignment]

    def get_queue_position(self, run: Run) -> int | None:
        """How many go before it, plus one."""
        return None if run.is_final else selectors.run_queue_position(run=run)

    @extend_schema_field(VerificationSerializer(many=True))
    def get_verifications(self, run: Run) -> Any:
        """Every attempt, newest first."""
        return VerificationSerializer(selectors.run_history(run=run), many=True).data


class RunWriteSerializer(StrictBody[Run]):
    """What an owner decides about a run."""

    visibility = serializers.ChoiceField(choices=Visibility.choices)


class SubmissionLineSerializer(serializers.ModelSerializer[SubmissionLine]):
    """One record of an upload: a run, or the reason why the loader refused it."""

    line = serializers.IntegerField(source="number")
    run = serializers.UUIDField(source="run_id", allow_null=True)
    known = serializers.BooleanField(help_text="The agent had this run before; there is no second one.")
    state = serializers.SerializerMethodField()
    code = serializers.SerializerMethodField()
    place = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()
    metrics = serializers.SerializerMethodField()

    class Meta:
        model = SubmissionLine
        fields = ("line", "run", "known", "state", "code", "place", "message", "metrics")

    @extend_schema_field(serializers.ChoiceField(choices=RunState.choices))
    def get_state(self, line: SubmissionLine) -> str:
        """The run's state; `rejected` for a line that is no record."""
        return RunState.REJECTED if line.run is None else line.run.state

    def get_code(self, line: SubmissionLine) -> str:
        """Code of the verdict; empty until it is in."""
        return line.code if line.run is None else line.run.code

    def get_place(self, line: SubmissionLine) -> str:
        """Where the fault is."""
        return line.place if line.run is None else line.run.place

    def get_message(self, line: SubmissionLine) -> str:
        """The verdict's sentence."""
        return line.message if line.run is None else line.run.message

    @extend_schema_field(MetricsSerializer(allow_null=True))
    def get_metrics(self, line: SubmissionLine) -> dict[str, Any] | None:
        """The replay's metrics; null until it has confirmed the record."""
        return None if line.run is None else metrics_document(line.run)


class SubmissionCountsSerializer(serializers.Serializer[selectors.SubmissionCounts]):
    """How many records of an upload stand where."""

    total = serializers.IntegerField()
    verified = serializers.IntegerField()
    not_ended = serializers.IntegerField(
        help_text="Confirmed, but they stop before their run does: never scored."
    )
    refused = serializers.IntegerField()
    failed = serializers.IntegerField()
    running = serializers.IntegerField()
    queued = serializers.IntegerField()


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    """One uploaded file. With a `code`, nothing of it could be used."""

    agent = serializers.SlugField(source="agent.slug")
    links = serializers.SerializerMethodField()

    class Meta:
        model = Submission
        fields = (
            "id", "agent", "source", "filename", "size_bytes", "code", "place", "message", "created_at",
            "finished_at", "links",
        )  # fmt: skip

    @extend_schema_field(LINKS)
    def get_links(self, submission: Submission) -> dict[str, str]:
        """Detail and page."""
        request, args = self.context["request"], [submission.pk]
        return {
            "self": reverse("api_submission_detail", args=args, request=request),
            "page": reverse("submission_detail", args=args, request=request),
        }


class SubmissionDetailSerializer(SubmissionSerializer):
    """An upload with the verdict of each of its records."""

    finished = serializers.SerializerMethodField(help_text="Nothing will change any more.")
    counts = serializers.SerializerMethodField()
    lines = serializers.SerializerMethodField()
    _counted: tuple[Submission, selectors.SubmissionCounts] | None = None

    class Meta(SubmissionSerializer.Meta):
        fields = (*SubmissionSerializer.Meta.fields, "finished", "counts", "lines")  # type: ignore[assignment]

    def get_finished(self, submission: Submission) -> bool:
        """Whether every record has its final word."""
        return self._counts(submission).is_finished

    @extend_schema_field(SubmissionCountsSerializer)
    def get_counts(self, submission: Submission) -> dict[str, int]:
        """How many records stand where."""
        return asdict(self._counts(submission))

    def _counts(self, submission: Submission) -> selectors.SubmissionCounts:
        """Counted once for both."""
        if self._counted is None or self._counted[0] is not submission:
            self._counted = (submission, selectors.submission_counts(submission=submission))
        return self._counted[1]

    @extend_schema_field(SubmissionLineSerializer(many=True))
    def get_lines(self, submission: Submission) -> Any:
        """Every record by line, at most as many as a file may hold."""
        lines = selectors.submission_lines(submission=submission)
        return SubmissionLineSerializer(lines, many=True).data


class DryRunLineSerializer(SubmissionLineSerializer):
    """One record of a dry run with its verdict, in full since there is no run to look it up in."""

    expected = serializers.SerializerMethodField(help_text="What the replay says.")
    actual = serializers.SerializerMethodField(help_text="What the record says.")
    cause = serializers.SerializerMethodField(help_text="What usually lies behind a refusal; may be empty.")

    class Meta(SubmissionLineSerializer.Meta):
        fields = (  # type: ignore[assignment]
            "line", "state", "code", "place", "message", "expected", "actual", "cause", "metrics",
        )  # fmt: skip

    run = None  # type: ignore[assignment]  # how the framework drops an inherited field
    known = None  # type: ignore[assignment]

    def get_expected(self, line: SubmissionLine) -> str:
        """The replay's value where the two part."""
        return "" if line.run is None else line.run.expected

    def get_actual(self, line: SubmissionLine) -> str:
        """The record's value where the two part."""
        return "" if line.run is None else line.run.actual

    def get_cause(self, line: SubmissionLine) -> str:
        """The usual cause of the refusal."""
        return "" if line.run is None else run_cause(line.run)


class DryRunSerializer(serializers.Serializer[services.DryRun]):
    """The verdicts on a file of which nothing was kept."""

    counts = SubmissionCountsSerializer()
    lines = DryRunLineSerializer(many=True)
