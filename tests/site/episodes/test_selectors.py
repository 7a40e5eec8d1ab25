"""Who may see an episode, and who plays it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.core.errors import NotFound
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import (
    episode_changes,
    episode_get,
    episode_is_mine,
    episode_live_list,
    episode_own_best,
    episode_own_open,
)
from ember_site.episodes.services import episode_create, episode_step
from ember_site.runs.models import Agent
from ember_site.runs.services import agent_create, run_verify
from ember_site.runs.services.agents import human_agent_for
from tests.site.episodes.conftest import EAST

NOBODY = AnonymousUser()


def test_anybody_may_watch_an_open_episode(practice: Episode, other_user: User) -> None:
    for viewer in (NOBODY, other_user):
        assert episode_get(viewer=viewer, episode_id=practice.pk) == practice


def test_a_sealed_episode_exists_for_its_player_alone(
    corridor: Scenario, user: User, other_user: User, organiser: User
) -> None:
    sealed = episode_create(scenario=corridor, owner=user, hidden_ref="sealed-1")
    assert episode_get(viewer=user, episode_id=sealed.pk) == sealed
    for viewer in (NOBODY, other_user, organiser):
        with pytest.raises(NotFound):
            episode_get(viewer=viewer, episode_id=sealed.pk)
    assert sealed not in episode_live_list()


def test_the_owner_plays_and_nobody_else(practice: Episode, user: User, other_user: User) -> None:
    assert episode_is_mine(viewer=user, guest_key="", episode=practice)
    assert not episode_is_mine(viewer=other_user, guest_key="", episode=practice)
    assert not episode_is_mine(viewer=NOBODY, guest_key="", episode=practice)


def test_a_guest_plays_with_the_own_key_only(corridor: Scenario, user: User) -> None:
    episode = episode_create(scenario=corridor, owner=None, guest_key="mine")
    assert episode_is_mine(viewer=NOBODY, guest_key="mine", episode=episode)
    for key in ("", "other"):
        assert not episode_is_mine(viewer=NOBODY, guest_key=key, episode=episode)
        assert not episode_own_open(viewer=NOBODY, guest_key=key)


def test_nobody_plays_a_baseline_and_it_is_no_open_game_of_who_started_it(
    corridor: Scenario, user: User
) -> None:
    episode = episode_create(scenario=corridor, owner=user, mode="baseline", policy="stay")
    assert not episode_is_mine(viewer=user, guest_key="", episode=episode)
    assert not episode_own_open(viewer=user, guest_key="")
    assert list(episode_live_list()) == [episode]


def test_the_best_result_of_each_scenario_is_that_of_verified_runs(
    make_scenario: Any, user: User, other_user: User
) -> None:
    scenario = make_scenario("A.X", "B#.", max_steps=2)
    for actions in ({"A": "stay", "B": "stay"}, {"A": "east", "B": "stay"}):
        episode = episode_create(scenario=scenario, owner=user)
        episode_step(episode_id=episode.pk, step=1, actions=actions)
        episode_step(episode_id=episode.pk, step=2, actions=actions)
        episode.refresh_from_db()
        assert episode.run_id is not None
        assert episode_own_best(viewer=user, guest_key="").get(scenario.pk, 0) == 0
        run_verify(run_id=episode.run_id)
    assert episode_own_best(viewer=user, guest_key="") == {scenario.pk: 1}
    assert episode_own_best(viewer=other_user, guest_key="") == {}


def test_changes_of_many_episodes_take_one_query(
    corridor: Scenario, user: User, django_assert_num_queries: Any
) -> None:
    episodes = [episode_create(scenario=corridor, owner=user) for _ in range(5)]
    episode_step(episode_id=episodes[0].pk, step=1, actions=EAST)
    with django_assert_num_queries(1):
        changes = episode_changes(episode_ids=[episode.pk for episode in episodes])
    assert [changes[episode.pk].step for episode in episodes] == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("visibility", ["public", "unlisted", "private"])
@pytest.mark.parametrize("kind", ["human", "model"])
def test_where_anybody_may_watch_only_listed_agents_are_named(
    corridor: Scenario, user: User, other_user: User, organiser: User, kind: str, visibility: str
) -> None:
    agent = (
        human_agent_for(user) if kind == "human" else agent_create(owner=user, fields={"name": "Quiet One"})
    )
    Agent.objects.filter(pk=agent.pk).update(name="Quiet One", slug="quiet-one", visibility=visibility)
    episode = episode_create(scenario=corridor, owner=user, agent=agent if kind == "model" else None)
    episode_step(episode_id=episode.pk, step=1, actions={"A": "stay", "B": "stay"})
    for viewer, told in ((None, False), (other_user, False), (user, True), (organiser, True)):
        client = Client()
        if viewer is not None:
            client.force_login(viewer)
        for address in (
            reverse("live_list"),
            reverse("live_detail", args=[episode.pk]),
            reverse("api_episode_list"),
            reverse("api_episode_detail", args=[episode.pk]),
            reverse("api_episode_observation", args=[episode.pk]),
            reverse("home"),
        ):
            text = client.get(address).content.decode()
            allowed = told or visibility == "public"
            assert allowed or not ("Quiet One" in text or "quiet-one" in text), (viewer, address)
        listed = client.get(reverse("live_list")).content.decode()
        assert ("Quiet One" in listed) == (told or visibility == "public"), viewer
