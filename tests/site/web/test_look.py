"""The numbers behind small marks, the masthead, and pages for errors."""

from __future__ import annotations

from typing import Any

import pytest
from django.template import engines
from django.test import Client

from ember_site.web.templatetags import look


def render(source: str, **context: Any) -> str:
    return engines["django"].from_string("{% load look %}" + source).render(context)


@pytest.mark.parametrize(
    ("evacuated", "population", "shade"),
    [(10, 10, 0), (9, 10, 1), (8, 10, 2), (65, 100, 3), (64, 100, 4), (40, 100, 4), (39, 100, 5), (0, 7, 5)],
)
def test_a_heat_cell_is_shaded_by_the_share_lost(evacuated: int, population: int, shade: int) -> None:
    assert look.loss_step(evacuated, population) == shade


def test_a_heat_cell_says_its_number_and_a_missing_run_is_a_dash() -> None:
    cells = [
        {"number": "01", "name": "hall", "evacuated": 3, "population": 4, "casualties": 1, "unresolved": 0},
        {"number": "02", "name": "maze", "evacuated": None, "population": 4},
        {"number": "03", "name": "x", "evacuated": 0, "population": 1, "url": "/r/", "casualties": 1},
    ]
    html = render('{% include "components/heat_strip.html" with cells=cells only %}', cells=cells)
    assert 'class="h3"' in html
    assert 'title="02 maze: no run yet">–</span>' in html
    assert '<a href="/r/" class="h5"' in html


def test_an_interval_is_cut_at_the_axis_and_a_score_before_it_gets_an_arrow() -> None:
    inside = look.interval_points(0.8, 0.5, 0.9, 0.6)
    assert (inside.low, inside.score, inside.outside) == (4.0, 75.0, False)
    assert look.interval_points(0.1, 0.0, 0.2, 0.6).outside
    assert look.interval_points(1, None, None).high is None


def test_numbers_are_written_for_people() -> None:
    assert (look.percent(0.98874), look.percent(None)) == ("98.9", "–")
    assert look.hash_ends("ab" * 32) == "abababab abababab … abababab"
    assert look.hash_groups("ab" * 8) == "abababab abababab"
    assert [look.bytes_size(n) for n in (999, 18_400, 1_250_000)] == ["999 bytes", "18.4 kB", "1.25 MB"]


def test_a_refused_run_shows_code_place_and_both_values() -> None:
    html = render(
        '{% include "components/verdict.html" with state="rejected" code="replay_mismatch" '
        'place="steps[16].movements.P031" expected="blocked_conflict" actual="moved" details=True only %}'
    )
    for text in ("Refused", "replay_mismatch", "steps[16].movements.P031", "blocked_conflict", "moved"):
        assert text in html


def test_a_verified_run_shows_no_code() -> None:
    html = render(
        '{% include "components/verdict.html" with state="verified" code="verified" details=True only %}'
    )
    assert "Verified" in html
    assert "<code>" not in html


def test_the_masthead_marks_the_current_section_once_for_each_navigation(client: Client, db: None) -> None:
    html = client.get("/docs/").content.decode()
    assert html.count('href="/docs/" aria-current="page"') == 2


def test_the_masthead_offers_to_sign_in_or_names_who_is(client: Client, user_client: Client) -> None:
    signed_out = client.get("/docs/").content.decode()
    for words in ("Sign in", "Sign up"):
        assert signed_out.count(f">{words}</a>") == 2, "in the masthead, and in the menu of small screens"
    signed_in = user_client.get("/docs/").content.decode()
    assert "ada" in signed_in
    assert "Sign in" not in signed_in
    assert "Sign up" not in signed_in


def test_no_page_of_the_frame_needs_inline_styles_or_scripts(client: Client, db: None) -> None:
    for address in ("/", "/docs/", "/nowhere/"):
        html = client.get(address).content.decode()
        assert " style=" not in html
        assert "<style" not in html
        assert html.count("<script") == html.count("<script src=") + html.count('<script type="module" src=')


def test_an_unknown_address_leads_back(client: Client, db: None) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert 'href="/docs/"' in response.content.decode()
