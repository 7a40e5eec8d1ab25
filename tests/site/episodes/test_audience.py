"""Watchers are counted over all processes, one socket plays, and who loses a right loses the socket."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.test import Client

from ember_site.accounts.models import ApiToken, User
from ember_site.core import clock
from ember_site.episodes import hub as hub_module
from ember_site.episodes.audience import audience_beat, audience_leave, audience_write, player_claim
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.mailbox import Mailbox
from ember_site.episodes.models import Audience, Episode
from ember_site.episodes.protocol import CloseCode
from ember_site.episodes.rights import Seat, seats_lost
from ember_site.episodes.room import PLAYER, Member
from ember_site.episodes.selectors import episode_changes
from ember_site.episodes.sessions import TOKEN
from tests.site.episodes.conftest import HandClock


def elsewhere(episode: Episode, process: str) -> int:
    return episode_changes(episode_ids=[episode.pk], process=process)[episode.pk].watchers_elsewhere


def test_each_process_sees_the_watchers_of_the_others(
    practice: Episode, django_assert_num_queries: Any
) -> None:
    for process, count in (("a", 3), ("b", 2), ("c", 1), ("b", 4), ("c", 0)):
        audience_write(process=process, watchers={practice.pk: count})
    with django_assert_num_queries(1):
        assert elsewhere(practice, "a") == 4
    assert (elsewhere(practice, "b"), elsewhere(practice, "d")) == (3, 7)
    audience_leave(process="b")
    assert elsewhere(practice, "d") == 3


def test_a_process_that_fell_silent_does_not_count_and_is_forgotten(
    practice: Episode, site_clock: HandClock
) -> None:
    for process in ("dead", "alive"):
        audience_write(process=process, watchers={practice.pk: 5})
    site_clock.advance(10)
    audience_beat(process="alive")
    site_clock.advance(10)
    assert elsewhere(practice, "me") == 5
    site_clock.advance(200)
    audience_beat(process="me")
    assert not Audience.objects.exists()


def test_an_episode_that_was_deleted_meanwhile_is_passed_over(practice: Episode) -> None:
    episode_id = practice.pk
    practice.delete()
    audience_write(process="a", watchers={episode_id: 1})
    assert not Audience.objects.exists()


def test_the_socket_that_was_opened_last_plays(practice: Episode) -> None:
    now = clock.now()
    assert player_claim(episode_id=practice.pk, since=now)
    assert not player_claim(episode_id=practice.pk, since=now - timedelta(microseconds=1))
    later = now + timedelta(microseconds=1)
    assert player_claim(episode_id=practice.pk, since=later)
    assert episode_changes(episode_ids=[practice.pk])[practice.pk].player_since == later


@pytest.mark.parametrize(("answers", "stays"), [([True], True), ([False], False), ([None, None, True], True)])
async def test_a_player_is_noted_as_soon_as_the_database_can_be_written(
    monkeypatch: pytest.MonkeyPatch, answers: list[bool | None], *, stays: bool
) -> None:
    """None is a database that is locked or gone."""

    def claim(**_claimed: Any) -> bool:
        answer = answers.pop(0)
        if answer is None:
            raise OperationalError("database is locked")
        return answer

    monkeypatch.setattr(hub_module, "player_claim", claim)
    hub = hub_module.Hub(replace(episode_limits(), poll_s=0.001))
    member = Member(PLAYER, Mailbox(max_frames=4, max_bytes=99, snapshot=str), clock.now())
    room = SimpleNamespace(episode_id=uuid4(), members={member})
    await asyncio.wait_for(hub._claim(room, member), 60)  # type: ignore[arg-type]
    assert answers == []
    assert member.dismissed.done() is not stays


async def test_a_player_who_left_meanwhile_is_noted_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    member = Member(PLAYER, Mailbox(max_frames=4, max_bytes=99, snapshot=str), clock.now())
    room = SimpleNamespace(episode_id=uuid4(), members={member})

    def claim(**_claimed: Any) -> bool:
        assert room.members, "asked again for somebody who left"
        room.members.clear()
        raise OperationalError("database is locked")

    monkeypatch.setattr(hub_module, "player_claim", claim)
    hub = hub_module.Hub(replace(episode_limits(), poll_s=0.001))
    await asyncio.wait_for(hub._claim(room, member), 60)  # type: ignore[arg-type]


@pytest.fixture
def seat(practice: Episode, user: User, user_client: Client) -> Seat:
    """Give the seat of the player."""
    key = user_client.session.session_key
    assert key
    return Seat(practice.pk, plays=True, session_key=key, identity=f"user:{user.pk}")


def test_nobody_loses_a_seat_without_a_reason(seat: Seat, practice: Episode) -> None:
    watcher = Seat(practice.pk, plays=False, session_key="", identity="")
    assert seats_lost(seats=[seat, watcher]) == {}


def test_who_signed_out_or_was_barred_has_to_sign_in(seat: Seat, user: User, user_client: Client) -> None:
    user.is_active = False
    user.save()
    assert seats_lost(seats=[seat]) == {seat: CloseCode.SIGN_IN}
    user.is_active = True
    user.save()
    assert seats_lost(seats=[seat]) == {}
    user_client.logout()
    assert seats_lost(seats=[seat]) == {seat: CloseCode.SIGN_IN}


def test_who_may_not_act_any_more_is_not_allowed(seat: Seat, practice: Episode, other_user: User) -> None:
    Episode.objects.filter(pk=practice.pk).update(owner=other_user)
    assert seats_lost(seats=[seat]) == {seat: CloseCode.NOT_ALLOWED}


def test_a_token_needs_its_scope_all_the_time(remote: Episode, user: User, token_of: Any) -> None:
    token_of(user)
    token = ApiToken.objects.get()
    seat = Seat(remote.pk, plays=True, session_key=f"{TOKEN}{token.digest}", identity=f"user:{user.pk}")
    assert seats_lost(seats=[seat]) == {}
    ApiToken.objects.update(scope="read")
    assert seats_lost(seats=[seat]) == {seat: CloseCode.NOT_ALLOWED}
    ApiToken.objects.all().delete()
    assert seats_lost(seats=[seat]) == {seat: CloseCode.SIGN_IN}


def test_watchers_stay_as_long_as_anybody_may_watch(seat: Seat, practice: Episode, user: User) -> None:
    stranger = Seat(practice.pk, plays=False, session_key="", identity="")
    own = Seat(practice.pk, plays=False, session_key=seat.session_key, identity=seat.identity)
    Episode.objects.filter(pk=practice.pk).update(hidden_ref="evaluation-1")
    assert seats_lost(seats=[stranger, own]) == {stranger: CloseCode.NOT_ALLOWED}
    practice.delete()
    assert seats_lost(seats=[stranger]) == {stranger: CloseCode.NO_SUCH_EPISODE}
