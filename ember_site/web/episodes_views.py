"""Pages of play and of live episodes: parse, one service or selector, render."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View
from django.views.decorators.http import require_POST, require_safe

from ember_site.accounts.guests import guest_key_ensure, guest_key_get
from ember_site.accounts.models import User
from ember_site.catalog.selectors import scenario_get
from ember_site.core.errors import NotFound
from ember_site.episodes import guests
from ember_site.episodes.baselines import baseline_set_speed
from ember_site.episodes.hub import hub
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import episode_get
from ember_site.episodes.services import episode_create
from ember_site.web import episodes_pages as pages


@require_safe
def play_index(request: HttpRequest) -> HttpResponse:
    """The scenarios to play, with the visitor's own results and unfinished episodes."""
    page = pages.play_index_page(viewer=request.user, guest_key=guest_key_get(request.session))
    return render(request, "episodes/play_index.html", {"page": page})


class ScenarioPlay(View):
    """The game of one scenario: the choice of a mode, then the board."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest, content_hash: str) -> HttpResponse:
        """Offer to start, or, with `?episode=`, go on with an episode."""
        scenario = scenario_get(viewer=request.user, ref=content_hash)
        wanted = request.GET.get("episode", "")
        if not wanted:
            page = pages.start_page(scenario, viewer=request.user, guest_key=guest_key_get(request.session))
            return render(request, "episodes/start.html", {"page": page, "scenario": scenario})
        guest_key = guest_key_get(request.session)
        episode = episode_get(viewer=request.user, guest_key=guest_key, episode_id=_episode_id(wanted))
        page_of_game = pages.game_page(episode, viewer=request.user, guest_key=guest_key)
        if not page_of_game.plays:
            return redirect("live_detail", episode.pk)
        if episode.scenario_id != scenario.pk:
            return redirect(play_address(episode))
        return render(request, "episodes/play.html", {"page": page_of_game, "scenario": scenario})

    def post(self, request: HttpRequest, content_hash: str) -> HttpResponse:
        """Start an episode and lead on to its board, at an address that survives a reload."""
        scenario = scenario_get(viewer=request.user, ref=content_hash)
        choice = pages.start_choice(request.POST, scenario=scenario)
        owner = request.user if request.user.is_authenticated else None
        episode = episode_create(
            scenario=scenario,
            owner=owner,
            guest_key="" if owner else guest_key_ensure(request.session),
            mode=choice.mode,
            seed=choice.seed,
        )
        return redirect(play_address(episode))


@require_safe
def live_list(request: HttpRequest) -> HttpResponse:
    """Running episodes, and the choice of a baseline to watch."""
    page = pages.live_list_page(viewer=request.user, number=request.GET.get("page", "1"))
    return render(request, "episodes/live_list.html", {"page": page})


@require_safe
def live_detail(request: HttpRequest, episode_id: UUID) -> HttpResponse:
    """One episode to watch."""
    guest_key = guest_key_get(request.session)
    episode = episode_get(viewer=request.user, guest_key=guest_key, episode_id=episode_id)
    page = pages.game_page(episode, viewer=request.user, guest_key=guest_key, watch=True)
    return render(request, "episodes/live.html", {"page": page, "scenario": episode.scenario})


@require_POST
def watch_start(request: HttpRequest, content_hash: str, policy: str) -> HttpResponse:
    """Start a baseline on a scenario and lead on to watching it."""
    scenario = scenario_get(viewer=request.user, ref=content_hash)
    owner = request.user if request.user.is_authenticated else None
    episode = episode_create(
        scenario=scenario,
        owner=owner,
        guest_key="" if owner else guest_key_ensure(request.session),
        mode=Episode.Mode.BASELINE,
        policy=policy,
        steps_per_second=pages.speed_choice(request.POST),
        address=request.META.get("REMOTE_ADDR", ""),
    )
    hub().wake_baselines()
    return redirect("live_detail", episode.pk)


@require_POST
def watch_speed(request: HttpRequest, episode_id: UUID) -> HttpResponse:
    """Change the speed of a baseline; the page stays, and everybody who watches is told over the socket."""
    baseline_set_speed(
        viewer=request.user,
        guest_key=guest_key_get(request.session),
        episode_id=episode_id,
        steps_per_second=pages.speed_choice(request.POST),
    )
    return HttpResponse(status=204)


@login_required
@require_POST
def guest_claim(request: HttpRequest) -> HttpResponse:
    """Give what the visitor played as a guest to the account, and lead back."""
    work = guests.guest_claim(user=cast(User, request.user), guest_key=guest_key_get(request.session))
    if work:
        one = work.runs + work.open_episodes == 1
        messages.success(request, f"{work.words} {'is' if one else 'are'} yours now.")
    wanted = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return redirect(wanted if safe else "me")


def play_address(episode: Episode) -> str:
    """Where an episode is played; the same address after a reload."""
    return f"{reverse('scenario_play', args=[episode.scenario_id])}?episode={episode.pk}"


def _episode_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is no such episode.") from error
