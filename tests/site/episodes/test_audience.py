"""Watchers are counted over all processes, one socket plays, and who loses a right loses the socket."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from ember_site.accounts.models import ApiToken, User
from ember_site.core import clock
from ember_site.episodes.audience import audience_beat, audience_leave, audience_write, player_claim
from ember_site.episodes.models import Audience, Episode
from ember_site.episodes.protocol import CloseCode
from ember_site.episodes.rights import Seat, seats_lost
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
