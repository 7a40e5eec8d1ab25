"""Episodes over HTTP against a real web process: parallel copies, hung agents, secrets, the example agent."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from ember_site.accounts.models import ApiToken, User
from ember_site.catalog.models import Scenario
from ember_site.core import clock
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create
from ember_site.runs.models import Agent, Run, RunSource
from ember_site.runs.services import run_verify
from tests.patience import PATIENCE_S
from tests.site.episodes.conftest import EAST, publish
from tests.site.episodes.test_privacy import ROOM, SEED, forms_of, secrets_of
from tests.site.episodes.web_process import Line, WebProcess

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Answer:
    """Everything that came back for one request."""

    status: int
    headers: str
    text: str

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found


class Caller:
    """A client of the API; every answer is kept."""

    def __init__(self, web: WebProcess, key: str) -> None:
        self._address = web.address
        self._key = key
        self.answers: list[Answer] = []

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        connection = http.client.HTTPConnection(self._address, timeout=PATIENCE_S)
        headers = {"Authorization": f"Token {self._key}"} if self._key else {}
        headers |= {"Content-Type": "application/json"}
        connection.request(
            method, f"/api/v1/episodes/{path}", None if body is None else json.dumps(body), headers
        )
        response = connection.getresponse()
        answer = Answer(response.status, str(response.getheaders()), response.read().decode())
        connection.close()
        self.answers.append(answer)
        return answer

    def step(self, episode: Episode, number: int, actions: dict[str, str]) -> Answer:
        return self.send("POST", f"{episode.pk}/steps/", {"step": number, "actions": actions})


@pytest.fixture
def key(user: User, token_of: Callable[..., str]) -> str:
    """Give a play token of `user`."""
    return token_of(user)


@pytest.fixture
def caller(web: WebProcess, key: str) -> Caller:
    """Give a client with the play token of `user`."""
    return Caller(web, key)


@pytest.fixture(scope="module")
def quick(django_db_setup: None, django_db_blocker: Any) -> Iterator[WebProcess]:
    """
    Serve with limits for agents that pass within a test: one second for a step, fifteen for silence.

    A heartbeat that is late because the machine is busy must not count as silence.
    """
    with django_db_blocker.unblock():
        process = WebProcess({"agent_move_s": 1.0, "agent_idle_s": 15.0, "sweep_s": 0.1})
    yield process
    process.stop_faultless()


@pytest.fixture(autouse=True)
def _no_faults(web: WebProcess) -> Iterator[None]:
    before = len(web.faults)
    yield
    assert web.faults[before:] == []


def with_token(web: WebProcess, episode: Episode, key: str) -> Line:
    """The socket of an episode as a program opens it: a token, no origin, no cookie."""
    headers = {"Authorization": f"Token {key}"}
    address = f"ws://{web.address}/ws/episodes/{episode.pk}/"
    return Line(connect(address, additional_headers=headers, max_size=None, legacy=True))


def test_t22_ten_parallel_copies_of_a_step_make_one_row_and_get_one_answer(
    caller: Caller, remote: Episode
) -> None:
    gate = threading.Barrier(10)

    def one(_number: int) -> Answer:
        gate.wait(timeout=PATIENCE_S)
        return caller.step(remote, 1, EAST)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(one, range(10)))
    assert [answer.status for answer in answers] == [200] * 10
    assert sorted(answer.body["result"] for answer in answers) == ["applied"] + ["duplicate"] * 9
    said = {json.dumps(answer.body | {"result": ""}) for answer in answers}
    assert len(said) == 1
    assert EpisodeStep.objects.filter(episode=remote).count() == 1
    refused = caller.step(remote, 1, {"A": "stay", "B": "stay"})
    assert (refused.status, refused.body["code"], refused.body["step"]) == (409, "step_stale", 1)
    assert "step 2" in refused.body["detail"]


def test_the_last_step_sent_by_many_at_once_over_http_and_socket_ends_it_once_with_one_run(
    web: WebProcess, caller: Caller, remote: Episode, key: str
) -> None:
    for number, actions in enumerate([EAST, EAST, {"A": "east"}], start=1):
        assert caller.step(remote, number, actions).status == 200
    player, watcher = with_token(web, remote, key), web.episode(remote.pk)
    for line in (player, watcher):
        line.hello()
    gate = threading.Barrier(6)

    def one(_number: int) -> str:
        gate.wait(timeout=PATIENCE_S)
        return str(caller.step(remote, 4, {"A": "east"}).body["result"])

    with ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(one, number) for number in range(5)]
        gate.wait(timeout=PATIENCE_S)
        results = [player.act(4, {"A": "east"})["result"], *(answer.result() for answer in asked)]
    assert sorted(results) == ["applied"] + ["duplicate"] * 5
    told = watcher.until("end", lambda frame: frame["run"] is not None)
    assert [str(run.pk) for run in Run.objects.all()] == [told["run"]]
    remote.refresh_from_db()
    assert (remote.state, remote.step, str(remote.run_id)) == (Episode.State.ENDED, 4, told["run"])
    for line in (player, watcher):
        line.close()


def test_a_step_over_http_reaches_the_sockets_and_one_over_the_socket_the_observation(
    web: WebProcess, caller: Caller, remote: Episode, key: str
) -> None:
    watcher, player = web.episode(remote.pk), with_token(web, remote, key)
    watcher.hello()
    welcome = player.hello()
    assert (welcome["role"], welcome["limits"]["move_s"], welcome["limits"]["idle_s"]) == ("player", 600, 900)
    assert caller.step(remote, 1, EAST).body["result"] == "applied"
    for line in (watcher, player):
        assert line.until("delta")["step"] == 1
    assert player.act(2, EAST)["result"] == "applied"
    assert caller.step(remote, 2, EAST).body["result"] == "duplicate"
    assert caller.send("GET", f"{remote.pk}/observation/").body["observation"]["step"] == 2
    for number in (3, 4):
        caller.step(remote, number, {"A": "east"})
    end = watcher.until("end")
    assert end["run"] == caller.answers[-1].body["end"]["run"]
    for line in (watcher, player):
        line.close()


def test_p14_on_the_socket_a_token_of_less_scope_watches_and_a_persons_game_is_not_played_by_program(
    web: WebProcess, remote: Episode, practice: Episode, user: User, key: str, token_of: Callable[..., str]
) -> None:
    for episode, with_key in ((remote, token_of(user, "submit")), (practice, key)):
        line = with_token(web, episode, with_key)
        assert line.hello()["role"] == "watcher"
        line.send("act", step=1, actions=EAST)
        assert line.until("err")["code"] == "not_the_player"
        line.close()


@pytest.mark.parametrize("header", ["Token", "Token {}0", "Token ember_\xe9", "Bearer {}", "Token {} "])
def test_p14_a_token_that_is_not_good_is_refused_by_the_socket_as_by_http(
    web: WebProcess, remote: Episode, key: str, header: str
) -> None:
    """The last one is good: spaces around a key are no part of it."""
    authorization = header.format(key)
    line = Line(
        connect(
            f"ws://{web.address}/ws/episodes/{remote.pk}/",
            additional_headers={"Authorization": authorization},
            legacy=True,
        )
    )
    if header == "Token {} ":
        assert line.hello()["role"] == "player"
    else:
        assert line.until("bye")["code"] == 4401
        assert line.close_code() == 4401
    line.close()


def test_p14_an_expired_token_opens_no_socket_as_a_guest(
    web: WebProcess, remote: Episode, key: str, user: User
) -> None:
    ApiToken.objects.update(expiry=clock.now() - timedelta(seconds=1))
    assert with_token(web, remote, key).close_code() == 4401


def test_p14_who_loses_the_token_is_put_out_of_the_socket(remote: Episode, key: str) -> None:
    process = WebProcess({"rights_check_s": 0.1})
    try:
        line = with_token(process, remote, key)
        line.hello()
        ApiToken.objects.all().delete()
        assert line.until("bye")["code"] == 4401
        line.close()
    finally:
        process.stop()


def test_t23_a_hung_agent_stays_and_ends_while_another_plays_on(
    quick: WebProcess, corridor: Scenario, user: User, planner: Agent, key: str
) -> None:
    """The deadlines are the server's; the socket tells when they passed."""
    hung = episode_create(scenario=corridor, owner=user, agent=planner)
    beating = episode_create(scenario=corridor, owner=user, agent=planner)
    caller = Caller(quick, key)
    watcher = quick.episode(hung.pk)
    watcher.hello()
    done = threading.Event()

    def beat() -> None:
        other = Caller(quick, key)
        while not done.wait(0.2):
            other.send("POST", f"{beating.pk}/heartbeat/")

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        watcher.until("end")
    finally:
        done.set()
        thread.join()
    hung.refresh_from_db()
    beating.refresh_from_db()
    assert (hung.state, hung.reason) == (Episode.State.ENDED, "max_steps")
    log = EpisodeStep.objects.filter(episode=hung).values_list("actions", flat=True)
    assert list(log) == ['{"A":"stay","B":"stay"}'] * corridor.max_steps
    assert beating.state == Episode.State.RUNNING, "T20: a heartbeat keeps it open"
    late = caller.step(hung, 1, EAST)
    assert (late.status, late.body["code"], late.body["end"]["reason"]) == (409, "step_stale", "max_steps")
    assert caller.step(beating, beating.step + 1, EAST).status in (200, 409)
    run = Run.objects.get()
    run_verify(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.ended, run.source) == ("verified", True, RunSource.REMOTE)
    assert quick.faults == []
    watcher.close()


def test_nothing_private_is_in_any_answer_or_header_while_an_episode_runs(
    caller: Caller, web: WebProcess, make_scenario: Callable[..., Scenario], user: User, planner: Agent
) -> None:
    scenario = make_scenario(*ROOM, fire={"model": "stochastic", "spread_probability": 0.4})
    publish(scenario)
    started = caller.send(
        "POST", "", {"agent": planner.slug, "scenario": scenario.content_hash, "seed": str(SEED)}
    )
    episode = Episode.objects.get()
    assert (started.status, episode.seed) == (201, str(SEED))
    _play_a_little(caller, episode)
    stranger = Caller(web, "")
    for path in ("", "observation/"):
        for one in (caller, stranger):
            assert one.send("GET", f"{episode.pk}/{path}").status == 200
    assert stranger.step(episode, 1, {"A": "stay"}).status == 401
    episode.refresh_from_db()
    assert episode.state == Episode.State.RUNNING, "the scan is about a running episode"
    answers = caller.answers + stranger.answers
    assert {answer.status for answer in answers} == {200, 201, 401, 409, 422}
    for secret in secrets_of(episode):
        for answer in answers:
            assert secret not in answer.headers
            assert secret not in answer.text
    assert '"seed"' not in "".join(answer.text for answer in answers)
    for answer in answers:
        if "observation" in answer.body:
            assert set(answer.body["observation"]) == {
                "observation_version",
                "step",
                "map",
                "rules",
                "people",
                "burning",
                "allowed_actions",
            }
            assert scenario.content_hash not in answer.text
            assert scenario.scenario_id not in answer.text
    assert not [form for form in forms_of(SEED) if form in "".join(web.output)]


def _play_a_little(caller: Caller, episode: Episode) -> None:
    """Steps of every kind: made, repeated, stale, ahead, refused; and a heartbeat."""
    people = {"A": "stay", "B": "stay", "C": "stay"}
    for number in (1, 2, 3):
        answer = caller.step(episode, number, people)
        if answer.status == 422:
            people.pop(answer.body["place"].removeprefix("actions."))
            answer = caller.step(episode, number, people)
        assert answer.status == 200
        caller.step(episode, number, people)
    caller.step(episode, 1, {"A": "north"})
    caller.step(episode, 9, {"A": "north"})
    caller.step(episode, 4, {"nobody": "north"})
    caller.send("POST", f"{episode.pk}/heartbeat/")
