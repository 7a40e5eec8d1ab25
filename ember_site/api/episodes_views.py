"""Live episodes over HTTP: what the socket does, for programs that rather ask than listen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn, cast
from uuid import UUID

from django.db.models import QuerySet
from django_filters import CharFilter, ChoiceFilter
from django_filters.rest_framework import FilterSet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from ember_site.accounts.guests import guest_key_get
from ember_site.accounts.models import ApiToken, User
from ember_site.accounts.visitors import visitor_of
from ember_site.api import episodes_bodies as bodies
from ember_site.api.auth import SignedIn
from ember_site.api.episodes_requests import act_read, start_read, start_resolve
from ember_site.api.episodes_serializers import (
    EpisodeActSerializer,
    EpisodeListedSerializer,
    EpisodePresentSerializer,
    EpisodeSerializer,
    EpisodeStandingSerializer,
    EpisodeStartedSerializer,
    EpisodeStartSerializer,
    EpisodeStepSerializer,
)
from ember_site.api.errors import ApiError
from ember_site.api.lists import ApiList, YesNoFilter
from ember_site.core import clock
from ember_site.core.errors import Forbidden
from ember_site.episodes.answers import StepAnswer, StepResult
from ember_site.episodes.hub import hub
from ember_site.episodes.idle import episode_heartbeat
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import episode_get, episode_live_list, episode_may_act, episode_own_open
from ember_site.episodes.services import episode_create, episode_step, episode_view
from ember_site.runs.selectors import agent_for_upload

RETRY_AFTER = timedelta(seconds=1)


class _EpisodeView(APIView):
    """What all of them have in common: the right to act needs `play`, and no answer is ever stored."""

    write_scope = "play"

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Mark the answer as good for this moment only."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Cache-Control"] = "no-store"
        return answer

    def signed_in(self, request: Request) -> User:
        """The account that acts."""
        if not SignedIn().has_permission(request, self):
            self.permission_denied(request)
        return cast(User, request.user)

    def played(self, request: Request, episode_id: UUID) -> Episode:
        """The episode, for its player only.

        Raises:
            NotFound: there is none, or the caller may not know that there is.
            Forbidden: the caller may only watch.
        """
        viewer = self.signed_in(request)
        episode = episode_get(episode_id=episode_id, viewer=viewer)
        scope = request.auth.scope if isinstance(request.auth, ApiToken) else ""
        if episode_may_act(viewer=viewer, scope=scope, episode=episode):
            return episode
        if scope and episode_may_act(viewer=viewer, episode=episode):
            why = "You play this episode yourself; a program plays only for agents of the kind model."
            raise Forbidden(why, code="not_the_player")
        raise Forbidden(code="not_the_player")


class EpisodeFilters(FilterSet):
    """Filters of the episode list."""

    mine = YesNoFilter(
        method="own", help_text="The caller's own that can go on, instead of those that may be watched now."
    )
    mode = ChoiceFilter(choices=Episode.Mode.choices)
    scenario_hash = CharFilter(field_name="scenario_id", max_length=64)

    class Meta:
        model = Episode
        fields = ("mode",)

    def own(self, episodes: QuerySet[Episode], name: str, wanted: bool) -> QuerySet[Episode]:
        """The caller's own open episodes, or the live ones."""
        if not wanted:
            return episodes
        guest_key = guest_key_get(self.request.session)
        return episode_own_open(viewer=self.request.user, guest_key=guest_key)


class EpisodeList(_EpisodeView, ApiList[Episode]):
    """Live episodes, and a new one."""

    serializer_class = EpisodeListedSerializer  # type: ignore[assignment]  # of documents, not of models
    filterset_class = EpisodeFilters
    orderings = {"newest": ("-created_at", "id")}

    @extend_schema(operation_id="episode_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the episodes that may be watched now."""
        return self.page(request)

    def get_queryset(self) -> QuerySet[Episode]:
        """Episodes that somebody plays now."""
        return episode_live_list()

    def get_serializer(self, rows: Any = (), **options: Any) -> BaseSerializer[Any]:
        """Episodes as `bodies` describes them."""
        documents: Any = [bodies.listed_body(row, self.request) for row in rows]
        return EpisodeListedSerializer(documents, many=True)

    @extend_schema(
        operation_id="episode_create",
        request=EpisodeStartSerializer,
        responses={201: EpisodeStartedSerializer},
    )
    def post(self, request: Request) -> Response:
        """Start an episode that a program plays for one of the caller's `model` agents."""
        owner = self.signed_in(request)
        wish = start_read(request.data)
        start = start_resolve(wish, viewer=owner)
        episode = episode_create(
            scenario=start.scenario,
            owner=owner,
            mode=start.mode,
            seed=start.seed,
            agent=agent_for_upload(viewer=owner, slug=wish.agent),
        )
        body = bodies.started_body(episode, episode_view(episode_id=episode.pk), request)
        return Response(body, status=201, headers={"Location": body["links"]["self"]})


class EpisodeDetail(_EpisodeView):
    """One episode."""

    @extend_schema(operation_id="episode_detail", responses=EpisodeSerializer)
    def get(self, request: Request, episode_id: UUID) -> Response:
        """Where an episode stands; at its end the reason, the counts, the run and the seed."""
        episode = episode_get(episode_id=episode_id, **visitor_of(request))
        view = episode_view(episode_id=episode_id)
        return Response(bodies.episode_body(episode, view, request))


class EpisodeObservation(_EpisodeView):
    """What can be seen of an episode now."""

    @extend_schema(operation_id="episode_observation", responses=EpisodePresentSerializer)
    def get(self, request: Request, episode_id: UUID) -> Response:
        """The present observation, for the player and for whoever may watch."""
        episode_get(episode_id=episode_id, **visitor_of(request))
        return Response(bodies.present_body(episode_view(episode_id=episode_id)))


class EpisodeHeartbeat(_EpisodeView):
    """A sign of life."""

    @extend_schema(operation_id="episode_heartbeat", request=None, responses=EpisodeStandingSerializer)
    def post(self, request: Request, episode_id: UUID) -> Response:
        """Keep an episode open while the agent thinks. Nobody moves, and the step is due when it was due."""
        self.played(request, episode_id)
        episode_heartbeat(episode_id=episode_id)
        return Response(bodies.standing_body(episode_view(episode_id=episode_id)))


class EpisodeSteps(_EpisodeView):
    """The next step."""

    @property
    def max_body_bytes(self) -> int:
        """As long as a message of the socket may be."""
        return episode_limits().message_bytes

    @extend_schema(
        operation_id="episode_step", request=EpisodeActSerializer, responses={200: EpisodeStepSerializer}
    )
    def post(self, request: Request, episode_id: UUID) -> Response:
        """
        Make a step, exactly once: the same step and actions again are a `duplicate` and move nobody.

        409 `step_stale` means another step, or other actions, and carries the present state. 422 means that
        the actions do not fit, with code and place; nothing happened. 503 `busy` may be sent again as it is.
        """
        self.played(request, episode_id)
        wanted = act_read(request.data)
        answer = episode_step(
            episode_id=episode_id, step=wanted.step, actions=wanted.actions, assist=wanted.assist
        )
        if answer.result is StepResult.APPLIED:
            hub().stepped(episode_id, answer.now)
        if answer.retryable:
            retry_at = clock.now() + RETRY_AFTER
            raise ApiError(503, answer.code, answer.message, result=answer.result, retry_at=retry_at)
        present = bodies.present_body(episode_view(episode_id=episode_id))
        if answer.result in (StepResult.STALE, StepResult.REJECTED):
            _refuse(answer, present)
        return Response({"result": answer.result, **present})


def _refuse(answer: StepAnswer, present: dict[str, Any]) -> NoReturn:
    """Answer a step that was not made.

    Raises:
        ApiError: 409 with the present state where it was stale, 422 where it was rejected.
    """
    if answer.result is StepResult.STALE:
        raise ApiError(409, answer.code, answer.message, result=answer.result, **present)
    standing = {key: present[key] for key in ("step", "state", "end")}
    raise ApiError(
        422, answer.code, answer.message, result=answer.result, place=answer.place or None, **standing
    )
