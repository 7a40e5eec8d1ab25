"""P12: what a client sends in place of a message gets a reason, hurts nobody else, and ends at the third."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create
from tests.site.episodes.conftest import EAST, STAY
from tests.site.episodes.web_process import Line, WebProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_faults(web: WebProcess) -> Iterator[None]:
    """Nothing that a client does may show as an error of ours."""
    before = len(web.faults)
    yield
    assert web.faults[before:] == []


P12_BAD: list[Any] = [
    "{oops",
    "[]",
    '"x"',
    b"\x00\xffbinary",
    "[" * 60_000,
    "x" * 100_000,
    '{"t":"dance"}',
    '{"t":"act","step":-1,"actions":{}}',
    '{"t":"act","step":9223372036854775808,"actions":{}}',
    '{"t":"act","step":"41","actions":{}}',
    '{"t":"act","step":NaN,"actions":{}}',
    '{"t":"act","step":1,"actions":{"A":"east","A":"west"}}',
    '{"t":"hello","v":1}',
]


@pytest.mark.parametrize("bad", P12_BAD, ids=lambda bad: repr(bad[:24]))
def test_p12_a_bad_message_gets_a_reason_and_the_third_closes_with_4400(
    web: WebProcess, practice: Episode, cookie: str, watcher: Line, bad: str | bytes
) -> None:
    line = web.episode(practice.pk, cookie)
    line.hello()
    for _ in range(2):
        line.socket.send(bad)
        refused = line.until("err")
        assert refused["code"].startswith("message_")
        assert refused["message"]
    assert line.act(1, EAST)["result"] == "applied", "the socket still works after two"
    line.socket.send(bad)
    assert line.until("bye")["code"] == 4400
    assert line.close_code() == 4400
    assert watcher.until("delta")["step"] == 1, "others are unaffected"


@pytest.mark.parametrize(
    "bad", ["{oops", b"\x00", '{"t":"act","step":1,"actions":{}}', '{"t":"hello","v":2}']
)
def test_p12_bad_messages_in_place_of_hello_are_answered_and_the_third_closes(
    web: WebProcess, practice: Episode, cookie: str, bad: str | bytes
) -> None:
    line = web.episode(practice.pk, cookie)
    for _ in range(2):
        line.socket.send(bad)
        assert line.until("err")["code"].startswith("message_")
    line.socket.send(bad)
    assert line.close_code() == 4400
    assert not EpisodeStep.objects.exists()


def test_p12_text_that_is_no_utf_8_closes_with_the_code_of_the_protocol(
    web: WebProcess, practice: Episode, cookie: str, watcher: Line
) -> None:
    line = web.episode(practice.pk, cookie)
    line.hello()
    line.socket.send(b"\xff", text=True)
    assert line.close_code() == 1007
    again = web.episode(practice.pk, cookie)
    again.hello()
    assert again.act(1, EAST)["result"] == "applied"
    assert watcher.until("delta")["step"] == 1, "others are unaffected"


def test_p12_an_action_of_a_dead_person_is_rejected_with_the_place(
    web: WebProcess, make_scenario: Callable[..., Scenario], user: User, cookie: str
) -> None:
    scenario = make_scenario("*A.", "..B", "..X", fire={"spread_interval": 1})
    episode = episode_create(scenario=scenario, owner=user)
    line = web.episode(episode.pk, cookie)
    line.hello()
    assert line.act(1, STAY)["result"] == "applied"
    ack = line.act(2, STAY)
    assert (ack["result"], ack["code"], ack["place"]) == ("rejected", "action_invalid", "actions.A")
    assert line.act(2, {"B": "stay"})["result"] == "applied", "a rejected act is no bad message"
    line.close()
