"""Suites and scenarios: lists, details and the files as published."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ember_site.api.catalog_serializers import (
    ScenarioDetailSerializer,
    ScenarioSerializer,
    SuiteDetailSerializer,
    SuiteSerializer,
)
from ember_site.api.immutable import immutable_file
from ember_site.catalog import archive, selectors
from ember_site.catalog.models import FireModel, Scenario


class SuiteList(APIView):
    """Suites by ID, newest version first."""

    @extend_schema(operation_id="suite_list", responses=SuiteSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Every suite that the caller may see; there are few, so there are no pages."""
        suites = selectors.suite_list(viewer=request.user)
        return Response(SuiteSerializer(suites, many=True, context={"request": request}).data)


class SuiteDetail(APIView):
    """One version of a suite."""

    @extend_schema(operation_id="suite_detail", responses=SuiteDetailSerializer)
    def get(self, request: Request, suite_id: str, version: str) -> Response:
        """A suite with its scenarios in manifest order."""
        suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
        entries = selectors.suite_entries(suite=suite)
        suite.ordered_entries = entries  # type: ignore[attr-defined]
        suite.scenario_count = len(entries)  # type: ignore[attr-defined]
        suite.population = sum(entry.scenario.population for entry in entries)  # type: ignore[attr-defined]
        return Response(SuiteDetailSerializer(suite, context={"request": request}).data)


class SuiteManifest(APIView):
    """The manifest file of a suite."""

    @extend_schema(operation_id="suite_manifest", responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def get(self, request: Request, suite_id: str, version: str) -> HttpResponse:
        """The manifest, byte for byte; its ETag is the suite hash."""
        suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
        return immutable_file(
            request, body=archive.manifest_file_text(suite), etag=suite.suite_hash, filename="manifest.json"
        )


class ScenarioFilters(serializers.Serializer[dict[str, str]]):
    """Filters of the scenario list."""

    scenario_id = serializers.CharField(required=False, max_length=64)
    fire_model = serializers.ChoiceField(required=False, choices=FireModel.choices)


class ScenarioList(ListAPIView[Scenario]):
    """Scenarios by ID, then hash."""

    serializer_class = ScenarioSerializer
    ordering = ("scenario_id", "content_hash")

    @extend_schema(operation_id="scenario_list", parameters=[ScenarioFilters])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the scenarios that the caller may see."""
        return self.list(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Scenario]:
        """Scenarios that the caller may see and asked for."""
        filters = ScenarioFilters(data=self.request.query_params)
        filters.is_valid(raise_exception=True)
        return selectors.scenario_list(viewer=self.request.user).filter(**filters.validated_data)


class ScenarioDetail(APIView):
    """One scenario."""

    @extend_schema(operation_id="scenario_detail", responses=ScenarioDetailSerializer)
    def get(self, request: Request, content_hash: str) -> Response:
        """A scenario with its document and its places in suites."""
        scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
        scenario.places = selectors.scenario_entries(viewer=request.user, scenario=scenario)  # type: ignore[attr-defined]
        return Response(ScenarioDetailSerializer(scenario, context={"request": request}).data)


class ScenarioFile(APIView):
    """The scenario file."""

    @extend_schema(
        operation_id="scenario_file",
        parameters=[OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER)],
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
