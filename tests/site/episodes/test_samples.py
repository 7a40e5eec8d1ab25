"""The sample frames that pytest and the JavaScript tests share are what the server really sends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Episode
from ember_site.episodes.services import episode_create
from tests.site.episodes.conftest import WAY_OUT
from tests.site.episodes.web_process import WebProcess

FILE = Path(__file__).with_name("socket_frames.json")
RUN = "5f0c0de5-0000-4000-8000-000000000000"
SEED = 2**64 - 59


@pytest.mark.django_db(transaction=True)
def test_a_game_gives_the_committed_frames(
    web: WebProcess, make_scenario: Callable[..., Scenario], user: User, cookie: str
) -> None:
    episode = episode_create(scenario=make_scenario(), owner=user, seed=SEED)
    line = web.episode(episode.pk, cookie)
    line.hello()
    for step, actions in enumerate(WAY_OUT, start=1):
        line.act(step, actions)
    line.close()
    run_id = str(Episode.objects.get(pk=episode.pk).run_id)
    frames = [text.replace(run_id, RUN) for text in line.texts]
    assert frames == json.loads(FILE.read_text())["session"]
