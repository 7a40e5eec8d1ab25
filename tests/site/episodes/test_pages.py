"""The pages of play and live: start, go on, watch."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from ember_site.accounts.guests import SESSION_KEY
from ember_site.accounts.models import User
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Scenario, Suite
from ember_site.catalog.services import suite_import
from ember_site.episodes.models import Episode
from ember_site.episodes.services import episode_create

SUITE = Path(__file__).parents[3] / "scenarios" / "public" / "v1"


@pytest.fixture
def suite(db: None) -> Suite:
    """Give the public suite with its open evaluation."""
    suite = suite_import(directory=SUITE)
    evaluation_ensure_open(suite=suite)
    return suite


@pytest.fixture
def first(suite: Suite) -> Scenario:
    """Give the first public scenario."""
    return suite.entries.order_by("position")[0].scenario


@pytest.fixture
def stochastic(suite: Suite) -> Scenario:
    """Give the public scenario whose fire spreads by chance."""
    return Scenario.objects.get(fire_model="stochastic")


def play(scenario: Scenario) -> str:
    return reverse("scenario_play", args=[scenario.content_hash])


def test_the_index_shows_ten_scenarios_whoever_looks(
    suite: Suite, client: Client, user_client: Client
) -> None:
    for visitor in (client, user_client):
        page = visitor.get(reverse("play_index"))
        assert page.status_code == 200
        assert page.content.decode().count("game-card") == 10


def test_the_index_leads_back_to_an_unfinished_game(first: Scenario, user: User, user_client: Client) -> None:
    episode = episode_create(scenario=first, owner=user)
    text = user_client.get(reverse("play_index")).content.decode()
    assert f"{play(first)}?episode={episode.pk}" in text


def test_a_guest_starts_practice_and_can_reload(first: Scenario, client: Client) -> None:
    answer = client.post(play(first), {"mode": "practice"})
    episode = Episode.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"{play(first)}?episode={episode.pk}")
    assert episode.guest_key == client.session[SESSION_KEY] != ""
    for _ in range(2):
        page = client.get(answer["Location"]).content.decode()
        assert f"/ws/episodes/{episode.pk}/" in page
    assert Episode.objects.count() == 1


def test_ranked_play_takes_the_public_seed_of_the_slot(
    first: Scenario, user: User, user_client: Client
) -> None:
    user_client.post(play(first), {"mode": "ranked"})
    episode = Episode.objects.get()
    assert (episode.owner, episode.mode, episode.seed, episode.seed_public) == (user, "ranked", "0", True)


def test_ranked_play_without_an_account_is_refused(first: Scenario, client: Client) -> None:
    assert "Sign in to play ranked" in client.get(play(first)).content.decode()
    assert client.post(play(first), {"mode": "ranked"}).status_code == 401
    assert not Episode.objects.exists()


@pytest.mark.parametrize(
    ("typed", "seed"), [(" 18446744073709551615 ", "18446744073709551615"), ("007", "7"), ("00", "0")]
)
def test_the_seed_of_practice_can_be_chosen(
    stochastic: Scenario, user_client: Client, typed: str, seed: str
) -> None:
    user_client.post(play(stochastic), {"mode": "practice", "seed": typed})
    assert Episode.objects.get().seed == seed


@pytest.mark.parametrize(
    "form", [{"seed": "x"}, {"seed": "-1"}, {"seed": "18446744073709551616"}, {"mode": "baseline"}]
)
def test_a_choice_that_cannot_be_is_refused(
    first: Scenario, user_client: Client, form: dict[str, str]
) -> None:
    assert user_client.post(play(first), form).status_code == 422
    assert not Episode.objects.exists()


def test_who_does_not_play_an_episode_is_led_to_watching_it(
    first: Scenario, user: User, client: Client
) -> None:
    episode = episode_create(scenario=first, owner=user)
    answer = client.get(play(first), {"episode": str(episode.pk)})
    assert answer["Location"] == reverse("live_detail", args=[episode.pk])
    page = client.get(answer["Location"]).content.decode()
    assert f"/ws/episodes/{episode.pk}/?watch" in page
    assert 'id="step"' not in page


@pytest.mark.parametrize("wanted", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_an_unknown_episode_is_404(first: Scenario, client: Client, wanted: str) -> None:
    assert client.get(play(first), {"episode": wanted}).status_code == 404


def test_an_unknown_scenario_is_404(suite: Suite, client: Client) -> None:
    assert client.get(reverse("scenario_play", args=["0" * 64])).status_code == 404
    assert client.get(reverse("scenario_play", args=["nonsense"])).status_code == 404


def test_the_page_of_a_game_with_a_secret_seed_does_not_hold_it(
    stochastic: Scenario, user: User, user_client: Client
) -> None:
    episode = episode_create(scenario=stochastic, owner=user)
    for address in (f"{play(stochastic)}?episode={episode.pk}", reverse("live_detail", args=[episode.pk])):
        assert episode.seed not in user_client.get(address).content.decode()


def test_a_baseline_is_started_and_then_watched(first: Scenario, client: Client) -> None:
    answer = client.post(reverse("watch_start", args=[first.content_hash, "greedy"]), {"speed": "20"})
    episode = Episode.objects.get()
    assert answer["Location"] == reverse("live_detail", args=[episode.pk])
    assert (episode.mode, episode.policy, episode.steps_per_second) == ("baseline", "greedy", 20.0)
    assert "greedy" in client.get(answer["Location"]).content.decode()


@pytest.mark.parametrize(
    ("policy", "speed"), [("oracle", ""), ("greedy", "fast"), ("greedy", "0.1"), ("greedy", "nan")]
)
def test_a_baseline_that_cannot_be_is_refused(
    first: Scenario, client: Client, policy: str, speed: str
) -> None:
    address = reverse("watch_start", args=[first.content_hash, policy])
    assert client.post(address, {"speed": speed}).status_code == 422
    assert not Episode.objects.exists()


def test_starting_a_baseline_by_get_is_refused(first: Scenario, client: Client) -> None:
    assert client.get(reverse("watch_start", args=[first.content_hash, "greedy"])).status_code == 405


def test_the_live_list_shows_running_episodes_that_are_open(
    first: Scenario, user: User, client: Client
) -> None:
    shown = episode_create(scenario=first, owner=user)
    sealed = episode_create(scenario=first, owner=user, hidden_ref="sealed-1")
    ended = episode_create(scenario=first, owner=user)
    Episode.objects.filter(pk=ended.pk).update(state="ended")
    text = client.get(reverse("live_list")).content.decode()
    assert str(shown.pk) in text
    assert str(sealed.pk) not in text
    assert str(ended.pk) not in text
    assert client.get(reverse("live_detail", args=[sealed.pk])).status_code == 404


def test_the_pages_take_as_many_queries_for_many_episodes_as_for_one(
    first: Scenario, user: User, client: Client, django_assert_max_num_queries: object
) -> None:
    for _ in range(12):
        episode_create(scenario=first, owner=user)
    for address in (reverse("live_list"), reverse("play_index")):
        client.get(address)
        with django_assert_max_num_queries(10):  # type: ignore[operator]
            client.get(address)
