"""Shapes of suites and scenarios on the wire. Seeds are decimal strings: they can exceed 2^53."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from ember_site.catalog.models import Scenario, Suite, SuiteEntry
from simulator import parse_json


class SuiteSerializer(serializers.ModelSerializer[Suite]):
    """One version of a suite."""

    scenario_count = serializers.IntegerField()
    population = serializers.IntegerField()
    links = serializers.SerializerMethodField()

    class Meta:
        model = Suite
        fields = (
            "suite_id", "version", "suite_hash", "visibility", "seed_role", "schema_version",
            "scenario_count", "population", "imported_at", "links",
        )  # fmt: skip

    @extend_schema_field(serializers.DictField(child=serializers.URLField()))
    def get_links(self, suite: Suite) -> dict[str, str]:
        """Detail, manifest and page."""
        request, args = self.context["request"], [suite.suite_id, suite.version]
        return {
            "self": reverse("api_suite_detail", args=args, request=request),
            "manifest": reverse("api_suite_manifest", args=args, request=request),
            "page": reverse("suite_detail", args=args, request=request),
        }


class ScenarioSerializer(serializers.ModelSerializer[Scenario]):
    """What a list needs of a scenario."""

    links = serializers.SerializerMethodField()

    class Meta:
        model = Scenario
        fields = (
            "content_hash", "scenario_id", "schema_version", "width", "height", "population", "exit_count",
            "ignition_count", "fire_model", "hazard", "max_steps", "links",
        )  # fmt: skip

    @extend_schema_field(serializers.DictField(child=serializers.URLField()))
    def get_links(self, scenario: Scenario) -> dict[str, str]:
        """Detail, file as published and page."""
        request, args = self.context["request"], [scenario.content_hash]
        return {
            "self": reverse("api_scenario_detail", args=args, request=request),
            "file": reverse("api_scenario_file", args=args, request=request),
            "page": reverse("scenario_detail", args=args, request=request),
        }


class SuiteEntrySerializer(serializers.ModelSerializer[SuiteEntry]):
    """A scenario's place in a suite."""

    families = serializers.ListField(child=serializers.CharField())
    scenario = ScenarioSerializer()

    class Meta:
        model = SuiteEntry
        fields = ("position", "primary_family", "families", "purpose", "scenario")


class SuiteDetailSerializer(SuiteSerializer):
    """A suite with its scenarios in manifest order."""

    entries = SuiteEntrySerializer(many=True, source="ordered_entries")

    class Meta(SuiteSerializer.Meta):
        fields = (*SuiteSerializer.Meta.fields, "entries")  # type: ignore[assignment]


class ScenarioPlaceSerializer(serializers.ModelSerializer[SuiteEntry]):
    """A suite in which a scenario stands."""

    suite_id = serializers.CharField(source="suite.suite_id")
    version = serializers.CharField(source="suite.version")
    families = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = SuiteEntry
        fields = ("suite_id", "version", "position", "primary_family", "families", "purpose")


class ScenarioDetailSerializer(ScenarioSerializer):
    """A scenario with its document, in which the seed is a string, and its places in suites."""

    seed = serializers.SerializerMethodField()
    document = serializers.SerializerMethodField()
    suites = ScenarioPlaceSerializer(many=True, source="places")

    class Meta(ScenarioSerializer.Meta):
        fields = (*ScenarioSerializer.Meta.fields, "seed", "suites", "document")  # type: ignore[assignment]

    def get_seed(self, scenario: Scenario) -> str:
        """The development seed of the scenario file."""
        return str(parse_json(scenario.document)["seed"])

    @extend_schema_field(serializers.DictField())
    def get_document(self, scenario: Scenario) -> dict[str, Any]:
        """The scenario; its `seed` is a string here. The file as hashed is behind `links.file`."""
        document: dict[str, Any] = parse_json(scenario.document)
        return document | {"seed": str(document["seed"])}
