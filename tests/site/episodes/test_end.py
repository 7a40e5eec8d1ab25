"""The end of an episode: what watchers and players are told, and when."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ember_site.accounts.models import User
from ember_site.episodes.models import Episode
from tests.site.episodes.conftest import WAY_OUT
from tests.site.episodes.test_http_server import Caller, with_token
from tests.site.episodes.web_process import WebProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("over_http", [True, False])
def test_the_end_is_told_once_with_its_run_however_late_that_is_stored(
    remote: Episode, user: User, token_of: Callable[..., str], *, over_http: bool
) -> None:
    key = token_of(user)
    web = WebProcess({"finish_at_once_steps": 0, "sweep_s": 0.5, "poll_s": 0.01, "end_awaits_run_s": 600.0})
    try:
        watcher, player, caller = web.episode(remote.pk), with_token(web, remote, key), Caller(web, key)
        watcher.hello()
        player.hello()
        for number, actions in enumerate(WAY_OUT, start=1):
            if over_http:
                assert caller.step(remote, number, actions).body["result"] == "applied"
            else:
                assert player.act(number, actions)["result"] == "applied"
        ends = [line.until("end") for line in (watcher, player)]
        remote.refresh_from_db()
        assert [end["run"] for end in ends] == [str(remote.run_id)] * 2
        late = web.episode(remote.pk)
        late.hello()
        assert late.until("end") == ends[0]
        for line in (watcher, player, late):
            line.close()
        assert web.faults == []
    finally:
        web.stop()
