"""Another process drives a baseline on where one was killed.

In a module of its own, since the web process that other modules share would be a third one to take it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create
from ember_site.runs.record_store import record_read
from simulator import Scenario as SimulatorScenario
from simulator import run_episode
from simulator.policies import BASELINES
from tests.site.episodes.web_process import WebProcess


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_another_process_takes_over_when_one_is_killed(make_scenario: Any, policy: str) -> None:
    """Whoever watches at the other process sees every step once, across the kill."""
    scenario = make_scenario("A" + "." * 38 + "X", max_steps=60)  # forty seconds in which to kill
    webs = [WebProcess({"lease_s": 3.0}) for _ in range(2)]
    try:
        episode = episode_create(
            scenario=scenario, owner=None, guest_key="k", mode="baseline", policy=policy, steps_per_second=1
        )
        lines = {web.process.pid: web.episode(episode.pk) for web in webs}
        for line in lines.values():
            line.hello()
            line.until("delta")
        driver = Episode.objects.get(pk=episode.pk).lease_owner
        assert any(f":{pid}:" in driver for pid in lines), "one of the two drives"
        driving, other = sorted(webs, key=lambda web: f":{web.process.pid}:" not in driver)
        driving.kill()
        assert Episode.objects.get(pk=episode.pk).state == Episode.State.RUNNING, "killed in the middle of it"
        Episode.objects.filter(pk=episode.pk).update(steps_per_second=20)  # nobody has to wait for the rest
        line = lines[other.process.pid]
        line.until("end")
        frames = [json.loads(text) for text in line.texts]
        steps = list(EpisodeStep.objects.order_by("step").values_list("step", flat=True))
        assert steps == list(range(1, len(steps) + 1))
        [held] = [frame["observation"]["step"] for frame in frames if frame["t"] == "snapshot"]
        assert [frame["step"] for frame in frames if frame["t"] == "delta"] == steps[held:]
        episode.refresh_from_db()
        assert f":{other.process.pid}:" in episode.lease_owner
        whole = run_episode(
            SimulatorScenario.from_json(scenario.document), BASELINES[policy](), seed=int(episode.seed)
        )
        assert episode.run is not None
        assert record_read(episode.run.digest).decode() == whole.to_json()
        line.close()
    finally:
        for web in webs:
            web.stop()
    for web in webs:
        assert web.faults == [], "".join(web.output)
