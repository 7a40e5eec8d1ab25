"""Agents, submissions and runs."""

from __future__ import annotations

from typing import Any, BinaryIO, cast
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django_filters import CharFilter, ChoiceFilter, IsoDateTimeFilter
from django_filters.rest_framework import FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiRequest, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ember_site.accounts.models import User
from ember_site.accounts.visitors import visitor_of
from ember_site.api.auth import SignedIn, TokenScope
from ember_site.api.immutable import IF_NONE_MATCH
from ember_site.api.lists import ApiList, YesNoFilter
from ember_site.api.runs_parsers import RECORD_FILE_PARSERS, RecordFile
from ember_site.api.runs_serializers import (
    AgentSerializer,
    AgentWriteSerializer,
    DryRunSerializer,
    RunDetailSerializer,
    RunSerializer,
    RunWriteSerializer,
    SubmissionDetailSerializer,
    SubmissionSerializer,
)
from ember_site.api.strict import names_check, parameters_check
from ember_site.core.errors import BadInput
from ember_site.core.lasting import ASKED_EACH_TIME, lasting_response
from ember_site.runs import selectors, services
from ember_site.runs.models import (
    Agent,
    AgentKind,
    Run,
    RunSource,
    RunState,
    Submission,
    SubmissionSource,
    Visibility,
)

CSRF_FIELD = "csrfmiddlewaretoken"
"""A form of a browser may carry it, as the site's own forms do."""


class AgentFilters(FilterSet):
    """Filters of the agent list."""

    kind = ChoiceFilter(choices=AgentKind.choices)
    search = CharFilter(
        field_name="name", lookup_expr="icontains", max_length=80, help_text="Part of the name."
    )
    mine = YesNoFilter(method="own", help_text="Only the caller's own.")

    class Meta:
        model = Agent
        fields = ("kind", "search", "mine")

    def own(self, agents: QuerySet[Agent], name: str, wanted: bool) -> QuerySet[Agent]:
        """The caller's own, or all."""
        return selectors.agents_own(agents, viewer=self.request.user) if wanted else agents


class AgentList(ApiList[Agent]):
    """Agents by name, and a new one."""

    serializer_class = AgentSerializer
    filterset_class = AgentFilters
    orderings = {"name": ("name", "id"), "created_at": ("created_at", "id")}
    write_scope = "submit"

    @extend_schema(operation_id="agent_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the agents that the caller may find."""
        return self.page(request)

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
        """Agents that the caller may find."""
        return selectors.agent_list(viewer=self.request.user)


class AgentDetail(APIView):
    """One agent."""

    write_scope = "submit"

    @extend_schema(operation_id="agent_detail", responses=AgentSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What an agent says about itself."""
        agent = selectors.agent_get(viewer=request.user, slug=slug)
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
    dry_run = serializers.BooleanField(required=False, default=False)


class DryRunFlag(serializers.Serializer[dict[str, Any]]):
    """Whether to keep nothing, from form or query."""

    dry_run = serializers.BooleanField(required=False, default=False)


UPLOAD_QUERY = [
    OpenApiParameter(
        "agent", str, description="Slug of an agent of yours; needed where the body is the file."
    ),
    OpenApiParameter("filename", str, description="Name of the file, for your own lists."),
    OpenApiParameter("dry_run", bool, description="Tell the verdicts and keep nothing; needs no agent."),
]


class SubmissionFilters(FilterSet):
    """Filters of the upload list."""

    agent = CharFilter(field_name="agent__slug", max_length=80, help_text="Slug of the agent.")
    finished = YesNoFilter(
        field_name="finished_at", lookup_expr="isnull", exclude=True, help_text="Whether every verdict is in."
    )

    class Meta:
        model = Submission
        fields = ("agent", "finished")


class SubmissionList(ApiList[Submission]):
    """The caller's uploads, newest first, and a new one."""

    queryset = Submission.objects.none()  # names the model; `get_queryset` gives the rows
    serializer_class = SubmissionSerializer
    filterset_class = SubmissionFilters
    orderings = {"newest": ("-created_at", "id")}
    permission_classes = [SignedIn, TokenScope]
    parser_classes = [MultiPartParser, *RECORD_FILE_PARSERS]
    write_scope = "submit"

    @extend_schema(operation_id="submission_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the caller's uploads."""
        return self.page(request)

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
        parameters_check(request, known=[parameter.name for parameter in UPLOAD_QUERY])
        payload, filename, slug = _sent_file(request)
        if _is_dry(request):
            agent = selectors.agent_for_upload(viewer=owner, slug=slug) if slug else None
            result = services.submission_dry_run(owner=owner, agent=agent, payload=payload)
            return Response(DryRunSerializer(result, context={"request": request}).data)
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
        return selectors.submission_list(viewer=viewer, mine=True)


class SubmissionDetail(APIView):
    """One upload."""

    permission_classes = [SignedIn, TokenScope]

    @extend_schema(operation_id="submission_detail", responses=SubmissionDetailSerializer)
    def get(self, request: Request, submission_id: UUID) -> Response:
        """An upload with the verdict of each of its records."""
        submission = selectors.submission_get(viewer=cast(User, request.user), submission_id=submission_id)
        return Response(SubmissionDetailSerializer(submission, context={"request": request}).data)


class RunFilters(FilterSet):
    """Filters of the run list."""

    agent = CharFilter(field_name="agent__slug", max_length=80, help_text="Slug of the agent.")
    scenario_hash = CharFilter(max_length=64)
    scenario_id = CharFilter(field_name="scenario__scenario_id", max_length=64)
    seed = CharFilter(max_length=20, help_text="Decimal.")
    state = ChoiceFilter(choices=RunState.choices)
    source = ChoiceFilter(choices=RunSource.choices)
    ranked = YesNoFilter()
    created_after = IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    created_before = IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")
    mine = YesNoFilter(method="own", help_text="Only those of the caller's own agents.")

    class Meta:
        model = Run
        fields = ("agent", "scenario_hash", "seed", "state", "source", "ranked")

    def own(self, runs: QuerySet[Run], name: str, wanted: bool) -> QuerySet[Run]:
        """The caller's own, or all."""
        return selectors.runs_own(runs, **visitor_of(self.request)) if wanted else runs


class RunList(ApiList[Run]):
    """Runs, newest first."""

    queryset = Run.objects.none()  # names the model; `get_queryset` gives the rows
    serializer_class = RunSerializer
    filterset_class = RunFilters
    orderings = {"newest": ("-created_at", "id")}

    @extend_schema(operation_id="run_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the runs that the caller may find."""
        return self.page(request)

    def get_queryset(self) -> QuerySet[Run]:
        """Runs that the caller may find."""
        return selectors.run_list(**visitor_of(self.request))


class RunDetail(APIView):
    """One run."""

    write_scope = "submit"

    @extend_schema(operation_id="run_detail", responses=RunDetailSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """A run with its verdict, its place in the queue and its history."""
        run = selectors.run_get_unless_withdrawn(run_id=run_id, **visitor_of(request))
        return Response(RunDetailSerializer(run, context={"request": request}).data)

    @extend_schema(operation_id="run_update", request=RunWriteSerializer, responses=RunDetailSerializer)
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Change who may see a run; where its agent is seen by fewer, that still holds."""
        owner = _signed_in(request, self)
        run = selectors.run_get(viewer=owner, run_id=run_id)
        data = RunWriteSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        visibility = Visibility(data.validated_data["visibility"])
        run = services.run_set_visibility(viewer=owner, run=run, visibility=visibility)
        return Response(RunDetailSerializer(run, context={"request": request}).data)


class RunWithdraw(APIView):
    """Take a run back."""

    write_scope = "submit"

    @extend_schema(operation_id="run_withdraw", request=None, responses=RunDetailSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Take a run out of every list and board for good; the next best counts. Twice is once."""
        owner = _signed_in(request, self)
        run = services.run_withdraw(viewer=owner, run=selectors.run_get(viewer=owner, run_id=run_id))
        return Response(RunDetailSerializer(run, context={"request": request}).data)


class RunRecord(APIView):
    """The record of a run."""

    @extend_schema(
        operation_id="run_record",
        parameters=[IF_NONE_MATCH],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, 304: None},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The canonical bytes, the seed an integer as in the file; the ETag is the record digest."""
        run, record = selectors.run_record_get(run_id=run_id, **visitor_of(request))
        return lasting_response(
            request,
            record,
            etag=run.digest,
            content_type="application/json",
            cache=ASKED_EACH_TIME,
            filename=run.file_name,
        )


def _signed_in(request: Request, view: APIView) -> User:
    """The account that writes."""
    if not SignedIn().has_permission(request, view):
        view.permission_denied(request)
    return cast(User, request.user)


def _is_dry(request: Request) -> bool:
    """Whether form or query ask for a dry run."""
    form = request.POST if (request.content_type or "").startswith("multipart/") else {}
    said = form.get("dry_run", request.query_params.get("dry_run"))
    flag = DryRunFlag(data={} if said is None else {"dry_run": said})
    flag.is_valid(raise_exception=True)
    return bool(flag.validated_data["dry_run"])


def _sent_file(request: Request) -> tuple[BinaryIO, str, str]:
    """File, its name and the agent's slug, from a multipart form or from body and query."""
    query = request.query_params
    if not (request.content_type or "").startswith("multipart/"):
        body = request.data if isinstance(request.data, RecordFile) else RecordFile()  # nothing was sent
        return body, query.get("filename", ""), query.get("agent", "")
    names_check(request.data, known=[*SubmissionForm().fields, CSRF_FIELD], what="field")
    files = request.FILES.getlist("file")
    if len(files) != 1:
        raise BadInput(f"Expected one file in the form's field `file`, got {len(files)}.", place="file")
    file = files[0]
    slug = request.POST.get("agent") or query.get("agent", "")
    return cast(BinaryIO, file), query.get("filename") or file.name or "", str(slug)
