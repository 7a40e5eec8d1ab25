"""Suites and scenarios: lists, details and the files as published."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django_filters import CharFilter, ChoiceFilter
from django_filters.rest_framework import FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ember_site.api.catalog_serializers import (
    ScenarioDetailSerializer,
    ScenarioSerializer,
    SuiteDetailSerializer,
    SuiteSerializer,
)
from ember_site.api.immutable import IF_NONE_MATCH, immutable_answer, immutable_file
from ember_site.api.lists import ApiList
from ember_site.catalog import archive, selectors
from ember_site.catalog.models import FireModel, Scenario, Suite


class SuiteFilters(FilterSet):
    """Filters of the suite list."""

    suite_id = CharFilter(max_length=64)

    class Meta:
        model = Suite
        fields = ("suite_id",)


class SuiteList(ApiList[Suite]):
    """Suites by ID, the version imported last first."""

    serializer_class = SuiteSerializer
    filterset_class = SuiteFilters
    orderings = {"suite_id": ("suite_id", "-imported_at", "id"), "imported_at": ("imported_at", "id")}

    @extend_schema(operation_id="suite_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the suites that the caller may see."""
        return self.page(request)

    def get_queryset(self) -> QuerySet[Suite]:
        """Suites that the caller may see."""
        return selectors.suite_rows(viewer=self.request.user)


class SuiteDetail(APIView):
    """One version of a suite."""

    @extend_schema(
        operation_id="suite_detail",
        parameters=[IF_NONE_MATCH],
        responses={200: SuiteDetailSerializer, 304: None},
    )
    def get(self, request: Request, suite_id: str, version: str) -> HttpResponseBase:
        """A suite with its scenarios in manifest order."""
        suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
        entries = selectors.suite_entries(suite=suite)
        suite.ordered_entries = entries  # type: ignore[attr-defined]
        suite.scenario_count = len(entries)  # type: ignore[attr-defined]
        suite.population = sum(entry.scenario.population for entry in entries)  # type: ignore[attr-defined]
        return immutable_answer(request, SuiteDetailSerializer(suite, context={"request": request}).data)


class SuiteManifest(APIView):
    """The manifest file of a suite."""

    @extend_schema(
        operation_id="suite_manifest",
        parameters=[IF_NONE_MATCH],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, 304: None},
    )
    def get(self, request: Request, suite_id: str, version: str) -> HttpResponse:
        """The manifest, byte for byte; its ETag is the suite hash."""
        suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
        return immutable_file(
            request, body=archive.manifest_file_text(suite), etag=suite.suite_hash, filename="manifest.json"
        )


class ScenarioFilters(FilterSet):
    """Filters of the scenario list."""

    scenario_id = CharFilter(max_length=64)
    suite_id = CharFilter(field_name="entries__suite__suite_id", max_length=64, distinct=True)
    fire_model = ChoiceFilter(choices=FireModel.choices)

    class Meta:
        model = Scenario
        fields = ("scenario_id", "suite_id", "fire_model")


class ScenarioList(ApiList[Scenario]):
    """Scenarios by ID, then hash."""

    serializer_class = ScenarioSerializer
    filterset_class = ScenarioFilters
    orderings = {
        "scenario_id": ("scenario_id", "content_hash"),
        "population": ("population", "content_hash"),
    }

    @extend_schema(operation_id="scenario_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the scenarios that the caller may see."""
        return self.page(request)

    def get_queryset(self) -> QuerySet[Scenario]:
        """Scenarios that the caller may see."""
        return selectors.scenario_list(viewer=self.request.user)


class ScenarioDetail(APIView):
    """One scenario."""

    @extend_schema(
        operation_id="scenario_detail",
        parameters=[IF_NONE_MATCH],
        responses={200: ScenarioDetailSerializer, 304: None},
    )
    def get(self, request: Request, content_hash: str) -> HttpResponseBase:
        """A scenario with its document and its places in suites."""
        scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
        scenario.places = selectors.scenario_entries(viewer=request.user, scenario=scenario)  # type: ignore[attr-defined]
        return immutable_answer(
            request, ScenarioDetailSerializer(scenario, context={"request": request}).data
        )


class ScenarioFile(APIView):
    """The scenario file."""

    @extend_schema(
        operation_id="scenario_file",
        parameters=[IF_NONE_MATCH],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, 304: None},
    )
    def get(self, request: Request, content_hash: str) -> HttpResponse:
        """The file as published, byte for byte, its seed an integer; its ETag is the content hash."""
        scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
        return immutable_file(
            request,
            body=archive.scenario_file_text(scenario),
            etag=scenario.content_hash,
            filename=f"{scenario.scenario_id}.json",
        )
