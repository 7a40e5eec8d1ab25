"""The front page with and without anything to show."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from ember_site.catalog.models import Scenario
from ember_site.environment import BASE_DIR
from ember_site.episodes.models import Episode
from ember_site.episodes.services import episode_create, episode_step

PUBLIC_SUITE = str(BASE_DIR / "scenarios" / "public" / "v1")


@pytest.fixture
def suite(db: None) -> None:
    call_command("import_suite", PUBLIC_SUITE, verbosity=0)


@pytest.fixture
def baselines(suite: None) -> None:
    call_command("run_baselines", verbosity=0)


def test_an_empty_site_still_has_a_front_page(client: Client, db: None) -> None:
    html = client.get("/").content.decode()
    assert "Everyone out before the fire." in html
    assert "No ranked entry yet" in html


def test_before_the_baselines_ran_the_rooms_are_still_plans(client: Client, suite: None) -> None:
    html = client.get("/").content.decode()
    assert "10 scenarios, 12 families, 187 people" in html
    assert html.count('<svg class="plan"') == 10
    assert "data-track" not in html
    assert "pages/home.js" not in html


def test_with_baselines_every_room_has_a_real_run_and_shows_its_result_without_scripts(
    client: Client, baselines: None
) -> None:
    html = client.get("/").content.decode()
    assert html.count("data-track=") == 10
    assert "<b>73</b>/100" in html  # greedy on the crowd of a hundred
    tracks = [part.split('"')[0] for part in html.split('data-track="')[1:]]
    track = client.get(tracks[8]).json()
    assert (track["width"], track["height"], len(track["people"])) == (26, 16, 100)


def test_the_front_page_asks_the_database_the_same_whatever_it_shows(
    client: Client, baselines: None, django_assert_max_num_queries: pytest.FixtureRequest
) -> None:
    client.get("/")  # plans are kept for the process
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        client.get("/")


def moving(client: Client, *, steps: int = 1, **more: Any) -> Episode:
    """An episode on the crowd of a hundred in which something happened just now."""
    scenario = Scenario.objects.get(population=100)
    episode = episode_create(scenario=scenario, owner=None, guest_key="somebody", **more)
    everybody = {f"P{number:03d}": "stay" for number in range(1, 101)}
    for step in range(1, steps + 1):
        episode_step(episode_id=episode.pk, step=step, actions=everybody)
    return episode


def test_a_running_episode_is_shown_with_its_socket_and_the_way_to_watch_it(
    client: Client, suite: None
) -> None:
    episode = moving(client)
    html = client.get("/").content.decode()
    assert f"/ws/episodes/{episode.pk}/?watch" in html
    assert f'href="/live/{episode.pk}/"' in html
    assert "pages/home_live.js" in html
    assert episode.seed not in html


@pytest.mark.parametrize("case", ["not begun", "sealed", "over", "quiet"])
def test_what_does_not_move_or_must_not_be_seen_is_not_on_the_front_page(
    client: Client, suite: None, case: str
) -> None:
    more = {"hidden_ref": "evaluation-1"} if case == "sealed" else {}
    episode = moving(client, steps=0 if case == "not begun" else 1, **more)
    if case == "over":
        Episode.objects.update(state=Episode.State.ENDED)
    if case == "quiet":
        Episode.objects.update(last_active_at=episode.created_at - timedelta(minutes=2))
    html = client.get("/").content.decode()
    assert str(episode.pk) not in html
    assert "home_live.js" not in html
