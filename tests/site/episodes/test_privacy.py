"""While an episode runs, nothing evaluator-private reaches player or watcher: frames, headers, pages."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.live import LogDiffers
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_freeze, episode_step
from ember_site.runs.models import Agent
from simulator.rng import stream_seed
from tests.patience import PATIENCE_S
from tests.site.episodes.conftest import cookie_of, publish
from tests.site.episodes.web_process import WebProcess

pytestmark = pytest.mark.django_db(transaction=True)

SEED = 0xD1CE_5EED_C0FF_EE17
"""Planted: 64 bits, so that no form of it can appear by chance."""

ROOM = ("########", "#A....*#", "#..B..X#", "#C.....#", "########")


def forms_of(number: int) -> set[str]:
    """Every way in which a 64-bit number could be written: decimal, hex, base64 of bytes and of text."""
    forms = {str(number), f"{number:x}", f"{number:X}", f"{number:016x}", f"{number:016X}"}
    for raw in (number.to_bytes(8, "big"), number.to_bytes(8, "little"), str(number).encode()):
        for coded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
            forms.add(coded.decode().rstrip("="))
    # A float that the number may have been rounded to.
    forms.add(repr(float(number)))
    return forms


def secrets_of(episode: Episode) -> set[str]:
    """What nobody may see before the end: seed, stream seed, digests, and the word of the diagnostic."""
    digests = set(EpisodeStep.objects.filter(episode=episode).values_list("state_digest", flat=True))
    return forms_of(SEED) | forms_of(stream_seed(SEED, "fire")) | digests | {"trapped", "fire_draws"}


@pytest.fixture
def ranked(make_scenario: Callable[..., Scenario], user: User) -> Episode:
    """Give a ranked-style episode with a stochastic fire and the planted seed."""
    scenario = make_scenario(*ROOM, fire={"model": "stochastic", "spread_probability": 0.4})
    publish(scenario)
    return episode_create(scenario=scenario, owner=user, mode="ranked", seed=SEED)


def pages_of(web: WebProcess, episode: Episode, cookie: str) -> Iterator[tuple[str, str]]:
    """Headers and bodies of every page about the episode, as player and as stranger."""
    paths = ["/play/", f"/play/{episode.scenario_id}/?episode={episode.pk}", f"/live/{episode.pk}/", "/live/"]
    for sent in (cookie, ""):
        for path in paths:
            connection = HTTPConnection(web.address, timeout=PATIENCE_S)
            connection.request("GET", path, headers={"Cookie": sent} if sent else {})
            response = connection.getresponse()
            body = response.read().decode()
            assert response.status in (200, 302), path
            yield f"{path} headers", str(response.getheaders())
            yield f"{path} body", body
            connection.close()


def test_nothing_private_is_in_any_frame_header_or_page_of_a_running_episode(
    web: WebProcess, ranked: Episode, cookie: str
) -> None:
    player, watcher = web.episode(ranked.pk, cookie), web.episode(ranked.pk)
    handshakes = []
    for line in (player, watcher):
        line.hello()
        assert line.socket.response is not None
        handshakes.append(str(list(line.socket.response.headers.raw_items())))
    people = {"A": "stay", "B": "stay", "C": "stay"}
    for step in range(1, 4):
        ack = player.act(step, people)
        if ack["result"] == "rejected":
            gone = ack["place"].removeprefix("actions.")
            people.pop(gone)
            player.act(step, people)
    player.act(1, {"A": "north"})  # stale
    player.act(9, {"A": "north"})
    player.send("sync")
    player.until("snapshot")
    again = web.episode(ranked.pk, cookie, watch=True)
    again.hello(have=1)
    for _ in range(2):
        again.until("delta")
    watcher.until("delta", lambda frame: frame["step"] == 3)

    ranked.refresh_from_db()
    assert ranked.state == Episode.State.RUNNING, "the scan is about a running episode"
    seen = [("frame", text) for line in (player, watcher, again) for text in line.texts]
    assert len(seen) > 12
    seen += [("handshake", text) for text in handshakes]
    seen += pages_of(web, ranked, cookie)
    for secret in secrets_of(ranked):
        for where, text in seen:
            assert secret not in text, f"{secret} in {where}"
    frames = " ".join(text for where, text in seen if where in ("frame", "handshake"))
    for hidden in ("seed", "digest", "hash", "scenario", ranked.scenario_id, ranked.scenario.scenario_id):
        assert hidden not in frames
    for line in (player, watcher, again):
        line.close()


def addresses(patterns: list[Any], known: dict[str, list[str]], prefix: str = "/") -> Iterator[str]:
    """Every address of the site that can be built from the values known for the parts of its pattern."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, known, prefix + str(pattern.pattern))
            continue
        parts = re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))
        if isinstance(pattern.pattern, RoutePattern) and all(part in known for part in parts):
            form = re.sub(r"<[^>]*>", "{}", str(pattern.pattern))
            for values in product(*(known[part] for part in parts)):
                yield prefix + form.format(*values)


def answers(web: WebProcess, cookie: str, asked: list[str]) -> Iterator[tuple[str, int, str]]:
    """Address, status, and headers with body."""
    for address in asked:
        connection = HTTPConnection(web.address, timeout=PATIENCE_S)
        connection.request("GET", address, headers={"Cookie": cookie} if cookie else {})
        response = connection.getresponse()
        text = f"{response.getheaders()}\n{response.read().decode(errors='replace')}"
        yield address, response.status, text
        connection.close()


def test_no_address_of_the_whole_site_tells_anybody_a_secret_of_a_running_episode(
    web: WebProcess, ranked: Episode, cookie: str, planner: Agent, organiser: User
) -> None:
    """Pages, API, lists, feeds, status and the audit log, also after a log was found to differ."""
    frozen = episode_create(scenario=ranked.scenario, owner=ranked.owner, seed=SEED)
    expected, actual = "5eca1ed0" * 8, "d16e57ed" * 8
    for episode in (ranked, frozen):
        answer = episode_step(episode_id=episode.pk, step=1, actions=dict.fromkeys("ABC", "stay"))
        assert answer.result == "applied"
    episode_freeze(episode_id=frozen.pk, difference=LogDiffers(2, expected, actual))
    secrets = secrets_of(ranked) | secrets_of(frozen) | {expected, actual}
    secrets -= {"trapped", "fire_draws"}  # documents and finished runs explain these words
    known = {
        "episode_id": [str(ranked.pk), str(frozen.pk)],
        "content_hash": [ranked.scenario_id],
        "suite_id": ["drawn"],
        "version": ["1.0.0"],
        "slug": [planner.slug, str(ranked.agent.slug) if ranked.agent else "", "rules"],
        "run_id": [str(ranked.pk)],
    }
    asked = sorted(set(addresses(get_resolver().url_patterns, known)))
    asked += [f"/play/{ranked.scenario_id}/?episode={ranked.pk}", f"/live/{ranked.pk}/?page=x", "/live/none/"]
    assert {"/", "/live/", "/status/", "/audit/", "/me/", f"/api/v1/episodes/{ranked.pk}/"} < set(asked)
    office = Client()
    office.force_login(organiser)
    opened = set()
    for sent in (cookie, "", cookie_of(office)):
        for address, status, text in answers(web, sent, asked):
            assert status < 500, address
            opened |= {address} if status == 200 else set()
            for secret in secrets:
                assert secret not in text, f"{secret} in {address}"
    assert len(opened) > 40
    assert {"/audit/", f"/live/{frozen.pk}/", f"/api/v1/episodes/{frozen.pk}/observation/"} < opened


def test_the_observation_on_the_wire_has_the_published_fields_only(
    web: WebProcess, ranked: Episode, cookie: str
) -> None:
    line = web.episode(ranked.pk, cookie)
    line.hello()
    observation = line.until("snapshot")["observation"]
    assert set(observation) == {
        "observation_version",
        "step",
        "map",
        "rules",
        "people",
        "burning",
        "allowed_actions",
    }
    assert set(observation["map"]) == {"width", "height", "obstacles", "exits"}
    assert {key for person in observation["people"] for key in person} == {"id", "position", "status"}
    line.close()


def test_the_seed_is_shown_at_the_end_as_a_decimal_string(
    web: WebProcess, make_scenario: Callable[..., Scenario], user: User, cookie: str
) -> None:
    episode = episode_create(scenario=make_scenario("A.X"), owner=user, mode="ranked", seed=SEED)
    line = web.episode(episode.pk, cookie)
    line.hello()
    line.act(1, {"A": "east"})
    line.act(2, {"A": "east"})
    end = json.loads(next(text for text in line.texts if '"t":"end"' in text))
    assert end["seed"] == str(SEED)
    line.close()


def test_the_log_of_the_server_holds_no_seed(web: WebProcess) -> None:
    output = "".join(web.output)
    assert not [form for form in forms_of(SEED) if form in output]
