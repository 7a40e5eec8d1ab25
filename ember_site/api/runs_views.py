"""Agents, submissions and runs."""

from __future__ import annotations

from typing import Any, BinaryIO, cast
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiRequest, extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ember_site.accounts.guests import guest_key_get
from ember_site.accounts.models import User
from ember_site.api.auth import SignedIn, TokenScope
from ember_site.api.immutable import immutable_file
from ember_site.api.runs_parsers import RECORD_FILE_PARSERS, RecordFile
from ember_site.api.runs_serializers import (
    AgentSerializer,
    AgentWriteSerializer,
    RunDetailSerializer,
    RunSerializer,
    DryRunSerializer,
    SubmissionDetailSerializer,
    SubmissionSerializer,
)
from ember_site.core.errors import BadInput
from ember_site.runs import selectors, services
from ember_site.runs.models import Agent, AgentKind, Run, RunSource, RunState, Submission, SubmissionSource


def _asked(request: Request) -> dict[str, Any]:
    """Who asks, in the words of the selectors."""
    return {"viewer": request.user, "guest_key": guest_key_get(request.session)}


class AgentFilters(serializers.Serializer[dict[str, Any]]):
    """Filters of the agent list."""

    kind = serializers.ChoiceField(required=False, choices=AgentKind.choices)
    mine = serializers.BooleanField(required=False, default=False)


class AgentList(ListAPIView[Agent]):
    """Agents by name, and a new one."""

    serializer_class = AgentSerializer
    ordering = ("name", "id")
    write_scope = "submit"

    @extend_schema(operation_id="agent_list", parameters=[AgentFilters])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the agents that the caller may find."""
        return self.list(request, *args, **kwargs)

    @extend_schema(
        operation_id="agent_create", request=AgentWriteSerializer, responses={201: AgentSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a `model` agent."""
        owner = _signed_in(request, self)
        data = AgentWriteSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        agent = services.agent_create(owner=owner, fields=data.validated_data)
        body = AgentSerializer(agent, context={"request": request}).data
        return Response(body, status=201, headers={"Location": body["links"]["self"]})

    def get_queryset(self) -> QuerySet[Agent]:
        """Agents that the caller may find and asked for."""
        filters = AgentFilters(data=self.request.query_params)
        filters.is_valid(raise_exception=True)
        return selectors.agent_list(viewer=self.request.user, **filters.validated_data)


class AgentDetail(APIView):
    """One agent."""

    write_scope = "submit"

    @extend_schema(operation_id="agent_detail", responses=AgentSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What an agent says about itself."""
        agent = selectors.agent_get(viewer=_asked(request)["viewer"], slug=slug)
        return Response(AgentSerializer(agent, context={"request": request}).data)

    @extend_schema(operation_id="agent_update", request=AgentWriteSerializer, responses=AgentSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change what an agent says about itself."""
        owner = _signed_in(request, self)
        agent = selectors.agent_get(viewer=owner, slug=slug)
        data = AgentWriteSerializer(data=request.data, partial=True)
        data.is_valid(raise_exception=True)
        agent = services.agent_update(viewer=owner, agent=agent, fields=data.validated_data)
        return Response(AgentSerializer(agent, context={"request": request}).data)


class SubmissionForm(serializers.Serializer[dict[str, Any]]):
    """An upload as a multipart form."""

    agent = serializers.CharField(help_text="Slug of an agent of yours.")
    file = serializers.FileField()


UPLOAD_QUERY = [
    OpenApiParameter(
        "agent", str, description="Slug of an agent of yours; needed where the body is the file."
    ),
    OpenApiParameter("filename", str, description="Name of the file, for your own lists."),
]


class SubmissionList(ListAPIView[Submission]):
    """The caller's uploads, newest first, and a new one."""
    dry_run = serializers.BooleanField(required=False, default=False)


class DryRunFlag(serializers.Serializer[dict[str, Any]]):
    """Whether to keep nothing, from form or query."""

    dry_run = serializers.BooleanField(required=False, default=False)

    serializer_class = SubmissionSerializer
    ordering = ("-created_at", "id")
    permission_classes = [SignedIn, TokenScope]
    parser_classes = [MultiPartParser, *RECORD_FILE_PARSERS]
    write_scope = "submit"

    OpenApiParameter("dry_run", bool, description="Tell the verdicts and keep nothing; needs no agent."),
    @extend_schema(operation_id="submission_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the caller's uploads."""
        return self.list(request, *args, **kwargs)

    @extend_schema(
        operation_id="submission_create",
        parameters=UPLOAD_QUERY,
        request={
            "multipart/form-data": SubmissionForm,
            "application/json": OpenApiRequest(OpenApiTypes.OBJECT),
            "application/x-ndjson": OpenApiRequest(OpenApiTypes.BINARY),
            "application/gzip": OpenApiRequest(OpenApiTypes.BINARY),
        },
        responses={200: DryRunSerializer, 201: SubmissionDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        """
        Take in one file of run records: `.json` with one, `.jsonl` with one a line, either gzipped.

        A line that is no record is kept with its reason and never hurts the others. Where nothing of the
        file can be used the answer is a problem document, and nothing is queued. A dry run answers 200 with
        the verdicts and keeps nothing.
        """
        owner = cast(User, request.user)
        payload, filename, slug = _sent_file(request)
        submission = services.submission_create(
            owner=owner,
            agent=selectors.agent_for_upload(viewer=owner, slug=slug),
            payload=payload,
            filename=filename,
            source=SubmissionSource.API,
        )
        body = SubmissionDetailSerializer(submission, context={"request": request}).data
        return Response(body, status=201, headers={"Location": body["links"]["self"]})

    def get_queryset(self) -> QuerySet[Submission]:
        """The caller's own uploads."""
        viewer = cast(User, self.request.user)
        return selectors.submission_list(viewer=viewer).filter(owner=viewer)


class SubmissionDetail(APIView):
    """One upload."""

    permission_classes = [SignedIn, TokenScope]

    @extend_schema(operation_id="submission_detail", responses=SubmissionDetailSerializer)
    def get(self, request: Request, submission_id: UUID) -> Response:
        """An upload with the verdict of each of its records."""
        submission = selectors.submission_get(viewer=cast(User, request.user), submission_id=submission_id)
        return Response(SubmissionDetailSerializer(submission, context={"request": request}).data)
        if _is_dry(request):
            agent = selectors.agent_for_upload(viewer=owner, slug=slug) if slug else None
            result = services.submission_dry_run(owner=owner, agent=agent, payload=payload)
            return Response(DryRunSerializer(result, context={"request": request}).data)


class RunFilters(serializers.Serializer[dict[str, Any]]):
    """Filters of the run list."""

    agent = serializers.SlugField(required=False)
    scenario_hash = serializers.CharField(required=False, max_length=64)
    state = serializers.ChoiceField(required=False, choices=RunState.choices)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field of this name is allowed
        required=False, choices=RunSource.choices
    )
    mine = serializers.BooleanField(required=False, default=False)


class RunList(ListAPIView[Run]):
    """Runs, newest first."""

    serializer_class = RunSerializer
    ordering = ("-created_at", "id")

    @extend_schema(operation_id="run_list", parameters=[RunFilters])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the runs that the caller may find."""
        return self.list(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Run]:
        """Runs that the caller may find and asked for."""
        filters = RunFilters(data=self.request.query_params)
        filters.is_valid(raise_exception=True)
        asked = _asked(self.request)
        wanted = dict(filters.validated_data)
        slug = wanted.pop("agent", "")
        agent = selectors.agent_get(viewer=asked["viewer"], slug=slug) if slug else None
        return selectors.run_list(agent=agent, **asked, **wanted)


class RunDetail(APIView):
    """One run."""

    @extend_schema(operation_id="run_detail", responses=RunDetailSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """A run with its verdict, its place in the queue and its history."""
        run = selectors.run_get(run_id=run_id, **_asked(request))
        return Response(RunDetailSerializer(run, context={"request": request}).data)


class RunRecord(APIView):
    """The record of a run."""

    @extend_schema(
        operation_id="run_record",
        parameters=[OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER)],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, 304: None},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The canonical bytes, the seed an integer as in the file; the ETag is the record digest."""
        run, record = selectors.run_record_get(run_id=run_id, **_asked(request))
        name = f"{run.scenario.scenario_id if run.scenario else 'run'}-{run.digest[:8]}.json"
        response = immutable_file(request, body=record.decode("ascii"), etag=run.digest, filename=name)
        response["Cache-Control"] = "private, no-cache"  # the bytes last, the right to see them may not
        return response


def _signed_in(request: Request, view: APIView) -> User:
    """The account that writes."""
    if not SignedIn().has_permission(request, view):
        view.permission_denied(request)
    return cast(User, request.user)


def _sent_file(request: Request) -> tuple[BinaryIO, str, str]:
    """File, its name and the agent's slug, from a multipart form or from body and query."""
    query = request.query_params
    if not (request.content_type or "").startswith("multipart/"):
        body = request.data if isinstance(request.data, RecordFile) else RecordFile()  # nothing was sent
        return body, query.get("filename", ""), query.get("agent", "")
    file = request.FILES.get("file")
    if file is None:
        raise BadInput("Expected a file in the form's field `file`.", place="file")
    slug = request.POST.get("agent") or query.get("agent", "")
    return cast(BinaryIO, file), query.get("filename") or file.name or "", str(slug)
def _is_dry(request: Request) -> bool:
    """Whether form or query ask for a dry run."""
    form = request.POST if (request.content_type or "").startswith("multipart/") else {}
    said = form.get("dry_run", request.query_params.get("dry_run"))
    flag = DryRunFlag(data={} if said is None else {"dry_run": said})
    flag.is_valid(raise_exception=True)
    return bool(flag.validated_data["dry_run"])


