"""The front page with and without anything to show."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client

from ember_site.environment import BASE_DIR

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
