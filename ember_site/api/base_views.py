"""The entrance of the API, its description, and the answer for addresses that do not exist."""

from __future__ import annotations

import threading
from typing import Any

from django.http import QueryDict
from django.urls import Resolver404, resolve
from drf_spectacular.utils import extend_schema, inline_serializer
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from ember_site.core.errors import NotFound
from simulator import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

_ENTRANCES = {
    "suites": "api_suite_list",
    "scenarios": "api_scenario_list",
    "agents": "api_agent_list",
    "submissions": "api_submission_list",
    "runs": "api_run_list",
    "episodes": "api_episode_list",
    "evaluations": "api_evaluation_list",
    "boards": "api_board_list",
    "schema": "api_schema",
    "docs": "api_docs",
}


class ApiRoot(APIView):
    """Where to start, and which versions are in force."""

    @extend_schema(
        operation_id="root",
        tags=["start"],
        responses=inline_serializer(
            "Root",
            {
                "simulator_version": serializers.CharField(),
                "observation_version": serializers.CharField(),
                "schema_version": serializers.CharField(),
                "links": serializers.DictField(child=serializers.URLField()),
            },
        ),
    )
    def get(self, request: Request) -> Response:
        """Versions and links."""
        return Response(
            {
                "simulator_version": SIMULATOR_VERSION,
                "observation_version": OBSERVATION_VERSION,
                "schema_version": SCHEMA_VERSION,
                "links": {name: reverse(view, request=request) for name, view in _ENTRANCES.items()},
            }
        )


class ApiSchema(SpectacularJSONAPIView):
    """The OpenAPI description of all of this, as JSON."""

    throttle_classes: list[Any] = []

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """The same for everybody: `version` and `lang` of the address would go into headers and words."""
        request.GET = QueryDict()
        return super().dispatch(request, *args, **kwargs)

    def _get_schema_response(self, request: Request) -> Response:
        """Made once in each process: it takes a tenth of a second, and nothing limits who asks."""
        with _schema_made:
            if not _schema:
                made = super()._get_schema_response(request)  # type: ignore[no-untyped-call]
                _schema.append((made.data, made["Content-Disposition"]))
        description, disposition = _schema[0]
        return Response(description, headers={"Content-Disposition": disposition})


_schema: list[tuple[Any, str]] = []
_schema_made = threading.Lock()


@extend_schema(exclude=True)
class NoSuchAddress(APIView):
    """Says that an address of the API does not exist, in the form of every other problem."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse whatever the method.

        Raises:
            NotFound: with a hint where only the final slash is missing.
        """
        with_slash = f"{request.path_info}/"
        try:
            known = getattr(resolve(with_slash).func, "cls", None) is not NoSuchAddress
        except Resolver404:
            known = False
        if known:
            raise NotFound(f"There is nothing here; addresses end with a slash: {with_slash}")
        raise NotFound("The API has no such address.")
