"""Who sees what: one table, the same for selectors, pages, record, track and API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from django.urls import reverse

from ember_site.accounts.guests import SESSION_KEY
from ember_site.core import clock
from ember_site.core.errors import Forbidden, NotFound
from ember_site.runs import selectors, services
from ember_site.runs.models import Agent, Run, Visibility
from tests.site.runs.conftest import record_text, scenarios

pytestmark = pytest.mark.usefixtures("suite")

GUEST_KEY = "guest-key-of-a-visitor"
VIEWERS = ("owner", "stranger", "visitor", "organiser")

# (agent's visibility, run's visibility): who finds it in lists, who may follow its link
TABLE = {
    ("public", "public"): ("owner stranger visitor organiser", "owner stranger visitor organiser"),
    ("public", "unlisted"): ("owner organiser", "owner stranger visitor organiser"),
    ("public", "private"): ("owner organiser", "owner organiser"),
    ("unlisted", "public"): ("owner organiser", "owner stranger visitor organiser"),
    ("unlisted", "private"): ("owner organiser", "owner organiser"),
    ("private", "public"): ("owner organiser", "owner organiser"),
    ("private", "unlisted"): ("owner organiser", "owner organiser"),
}


@pytest.fixture
def viewers(ann, bob, user_make) -> dict:
    return {
        "owner": ann,
        "stranger": bob,
        "visitor": AnonymousUser(),
        "organiser": user_make("org", is_staff=True),
    }


def client_of(viewer) -> Client:
    client = Client()
    if viewer.is_authenticated:
        client.force_login(viewer)
    return client


def run_of(agent: Agent | None, **options) -> Run:
    source = "upload" if agent else "play"
    run = services.run_store(
        agent=agent, record_text=record_text(), source=source, ranked=bool(agent), **options
    )
    return services.run_verify(run_id=run.pk)


def shown(viewer, run: Run, **options) -> tuple[bool, bool]:
    listed = selectors.run_list(viewer=viewer, **options).filter(pk=run.pk).exists()
    try:
        selectors.run_get(viewer=viewer, run_id=run.pk, **options)
    except NotFound:
        return listed, False
    return listed, True


@pytest.mark.parametrize("pair", TABLE, ids="-".join)
def test_the_table_of_visibilities(agent, viewers, pair):
    run = run_of(agent)
    Agent.objects.filter(pk=agent.pk).update(visibility=pair[0])
    Run.objects.filter(pk=run.pk).update(visibility=pair[1])
    lists, links = (words.split() for words in TABLE[pair])
    for name in VIEWERS:
        assert shown(viewers[name], run) == (name in lists, name in links), name
        client = client_of(viewers[name])
        for view in ("run_detail", "run_record", "run_track", "api_run_detail", "api_run_record"):
            status = client.get(reverse(view, args=[run.pk])).status_code
            assert status == (200 if name in links else 404), (name, view)
        found = client.get(reverse("api_run_list")).json()["results"]
        assert bool(found) == (name in lists), name
        page = client.get(reverse("agent_detail", args=[agent.slug]))
        if page.status_code == 200:
            assert (str(run.pk) in page.content.decode()) == (name in lists), name
        else:
            assert pair[0] == "private"
            assert name not in lists


@pytest.mark.parametrize("named", [True, False], ids=["until an instant", "without an instant"])
def test_a_hidden_run_is_seen_by_nobody_until_its_instant(agent, viewers, monkeypatch, named):
    until = clock.now() + timedelta(hours=1) if named else None
    run = run_of(agent, hidden_until=until, hidden_ref="evaluation:sealed")
    for name, viewer in viewers.items():
        assert shown(viewer, run) == (False, False), name
        client = client_of(viewer)
        for view in (
            "run_detail",
            "run_record",
            "run_track",
            "run_status",
            "api_run_detail",
            "api_run_record",
        ):
            answer = client.get(reverse(view, args=[run.pk]))
            assert answer.status_code == 404, (name, view)
            assert run.digest.encode() not in answer.content
    slots = [(run.scenario_hash, run.seed)]
    assert not selectors.runs_for_slots(slots=slots).exists()
    assert selectors.runs_for_slots(slots=slots, hidden_ref="evaluation:sealed").get() == run
    if until is None:
        services.runs_hide(runs=[run], hidden_until=None, hidden_ref="")
        assert shown(viewers["visitor"], run) == (True, True)
        return
    monkeypatch.setattr(clock, "now", lambda: until)
    assert shown(viewers["visitor"], run) == (True, True)


def test_a_withdrawn_run_leaves_a_tombstone(agent, viewers):
    run = run_of(agent)
    services.run_withdraw(viewer=viewers["owner"], run=run)
    assert not selectors.runs_for_slots(slots=[(run.scenario_hash, run.seed)]).exists()
    stranger = client_of(viewers["stranger"])
    page = stranger.get(reverse("run_detail", args=[run.pk]))
    assert page.status_code == 410
    assert b"withdrawn" in page.content
    assert run.digest.encode() not in page.content
    for view in ("run_record", "run_track", "run_status", "api_run_record", "api_run_detail"):
        answer = stranger.get(reverse(view, args=[run.pk]), headers={"Accept": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (410, "run_withdrawn"), view
        assert run.digest not in answer.content.decode()
    owner = client_of(viewers["owner"])
    assert owner.get(reverse("run_detail", args=[run.pk])).status_code == 200
    assert owner.get(reverse("run_record", args=[run.pk])).content == record_text().encode()
    assert shown(viewers["owner"], run)[0] is False, "it is in nobody's list"


def test_the_next_best_counts_when_one_is_withdrawn(agent, ann):
    best = run_of(agent)
    stay = services.run_store(
        agent=agent, record_text=record_text(1, "stay"), source="upload", ranked=True, enqueue=False
    )
    services.run_verify(run_id=stay.pk)
    slots = [(best.scenario_hash, best.seed)]
    assert selectors.runs_for_slots(slots=slots).count() == 2
    services.run_withdraw(viewer=ann, run=best)
    assert selectors.runs_for_slots(slots=slots).get() == stay


def test_a_guests_run_is_the_guests_and_by_link_everybodys(viewers):
    run = run_of(None, guest_key=GUEST_KEY)
    assert run.visibility == Visibility.UNLISTED
    visitor = viewers["visitor"]
    assert shown(visitor, run) == (False, True)
    assert shown(visitor, run, guest_key="another") == (False, True)
    assert shown(visitor, run, guest_key=GUEST_KEY) == (True, True)
    with pytest.raises(Forbidden):
        services.run_withdraw(viewer=visitor, run=run, guest_key="another")
    client = Client()
    session = client.session
    session[SESSION_KEY] = GUEST_KEY
    session.save()
    page = client.get(reverse("run_detail", args=[run.pk]))
    assert b"Withdraw this run" in page.content
    assert b"Withdraw this run" not in Client().get(reverse("run_detail", args=[run.pk])).content


def test_a_guest_who_plays_the_same_again_has_one_run():
    first = run_of(None, guest_key=GUEST_KEY)
    assert run_of(None, guest_key=GUEST_KEY) == first
    assert run_of(None, guest_key="another") != first


@pytest.mark.parametrize("change", ["withdraw", "visibility", "verify"])
def test_only_the_owner_changes_a_run(agent, viewers, change):
    run = run_of(agent)
    answer = client_of(viewers["stranger"]).post(
        reverse(f"run_{change}", args=[run.pk]), {"visibility": "private"}
    )
    assert answer.status_code == 403
    run.refresh_from_db()
    assert run.withdrawn_at is None
    assert run.visibility == Visibility.PUBLIC


class TestSlots:
    def test_only_ranked_verified_ended_runs_of_the_slot_count(self, agent, ann):
        wanted = run_of(agent)
        slots = [(wanted.scenario_hash, "0")]
        other_seed = services.run_store(
            agent=agent, record_text=record_text(1, seed=5), source="upload", ranked=True
        )
        practice = services.run_store(
            agent=services.human_agent_for(ann), record_text=record_text(), source="play", ranked=False
        )
        for run in (other_seed, practice):
            services.run_verify(run_id=run.pk)
        services.run_store(agent=agent, record_text=record_text(2), source="upload", ranked=True)
        assert selectors.runs_for_slots(slots=slots).get() == wanted
        assert selectors.runs_for_slots(slots=slots, agent_ids=[]).count() == 0
        assert selectors.runs_for_slots(slots=[]).count() == 0

    def test_practice_played_again_as_ranked_counts(self, ann):
        human = services.human_agent_for(ann)
        options = {"agent": human, "record_text": record_text(), "source": "play"}
        run = services.run_store(ranked=False, **options)
        services.run_verify(run_id=run.pk)
        slots = [(scenarios()[0].content_hash, "0")]
        assert not selectors.runs_for_slots(slots=slots).exists()
        assert services.run_store(ranked=True, **options) == run
        assert selectors.runs_for_slots(slots=slots).get() == run


@pytest.mark.parametrize("name", VIEWERS)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="other planners choose by the size of the table")
def test_the_newest_runs_are_read_in_order_without_sorting_all(viewers, name):
    plan = selectors.run_list(viewer=viewers[name])[:200].explain()
    assert "runs_run_newest" in plan
    assert "TEMP B-TREE" not in plan
