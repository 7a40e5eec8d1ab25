"""Shapes of boards on the wire, for the OpenAPI description. The documents come from `boards.exports`."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from ember_site.boards.models import EvaluationKind, EvaluationState
from ember_site.boards.rows import KINDS, SEARCH_CHARS, SORTS

_SORTS = [*SORTS, *(f"-{name}" for name in SORTS)]


class BoardQuery(serializers.Serializer[dict[str, Any]]):
    """Filters and order of a board's rows."""

    kind = serializers.ChoiceField(choices=KINDS, required=False, help_text="Only agents of this kind.")
    complete = serializers.ChoiceField(choices=["yes", "no"], required=False)
    search = serializers.CharField(
        required=False, max_length=SEARCH_CHARS, help_text="Part of the name of an agent or its owner."
    )
    sort = serializers.ChoiceField(
        choices=_SORTS,
        required=False,
        default="rank",
        help_text="A leading minus turns the order round; rows without the value stand last either way.",
    )


class EvaluationSerializer(serializers.Serializer[dict[str, Any]]):
    """An evaluation: suite, versions and state."""

    slug = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.ChoiceField(choices=EvaluationKind.choices)
    state = serializers.ChoiceField(choices=EvaluationState.choices)
    suite_id = serializers.CharField()
    suite_version = serializers.CharField()
    suite_hash = serializers.CharField()
    simulator_version = serializers.CharField()
    observation_version = serializers.CharField()
    opens_at = serializers.DateTimeField(allow_null=True)
    closes_at = serializers.DateTimeField(allow_null=True)
    links = serializers.DictField(child=serializers.URLField())


class SlotSerializer(serializers.Serializer[dict[str, Any]]):
    """One (scenario, seed) of the schedule."""

    position = serializers.IntegerField()
    scenario_id = serializers.CharField()
    scenario_hash = serializers.CharField()
    seed = serializers.CharField(help_text="Decimal; it can exceed 2^53.")
    population = serializers.IntegerField()


class EvaluationDetailSerializer(EvaluationSerializer):
    """An evaluation with its schedule."""

    commitment = serializers.CharField(
        allow_blank=True, help_text="SHA-256 of salt and schedule, published when a sealed evaluation opens."
    )
    slots = SlotSerializer(many=True)


class BoardAgentSerializer(serializers.Serializer[dict[str, Any]]):
    """The agent of a row."""

    name = serializers.CharField()
    slug = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    owner = serializers.CharField(allow_blank=True)


class ExactScoresSerializer(serializers.Serializer[dict[str, Any]]):
    """The ranking criteria as fractions, for example 937/1000."""

    evacuation_rate = serializers.CharField()
    casualty_rate = serializers.CharField()
    exit_step = serializers.CharField()


class IntervalsSerializer(serializers.Serializer[dict[str, Any]]):
    """95 % intervals, low and high end."""

    evacuation_rate = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)
    casualty_rate = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)
    exit_step = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)


class SlotResultSerializer(serializers.Serializer[dict[str, Any]]):
    """The run that counts for a slot."""

    scenario_id = serializers.CharField()
    seed = serializers.CharField()
    run = serializers.UUIDField()
    population = serializers.IntegerField()
    evacuated = serializers.IntegerField()
    casualties = serializers.IntegerField()
    exit_step_total = serializers.IntegerField()
    attempts = serializers.IntegerField()


class BoardRowSerializer(serializers.Serializer[dict[str, Any]]):
    """One entry. Rank and scores are null until every slot has its run."""

    rank = serializers.IntegerField(allow_null=True)
    agent = BoardAgentSerializer()
    slots_done = serializers.IntegerField()
    slot_count = serializers.IntegerField()
    evacuation_rate = serializers.FloatField(allow_null=True)
    casualty_rate = serializers.FloatField(allow_null=True)
    exit_step = serializers.FloatField(allow_null=True)
    exact = ExactScoresSerializer(allow_null=True)
    intervals = IntervalsSerializer(allow_null=True)
    attempts = serializers.IntegerField()
    finished_at = serializers.DateTimeField(allow_null=True)
    slots = SlotResultSerializer(many=True)


class BoardCountsSerializer(serializers.Serializer[dict[str, Any]]):
    """Rows for each kind under the same search, whatever kind was asked for."""

    all = serializers.IntegerField()
    model = serializers.IntegerField()
    human = serializers.IntegerField()
    baseline = serializers.IntegerField()


class BoardSerializer(serializers.Serializer[dict[str, Any]]):
    """One page of a board's rows with what stands around them."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    count = serializers.IntegerField(help_text="Rows on all pages.")
    evaluation = EvaluationSerializer()
    slots = SlotSerializer(many=True)
    counts = BoardCountsSerializer()
    rows = BoardRowSerializer(many=True)
