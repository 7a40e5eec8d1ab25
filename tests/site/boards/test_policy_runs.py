"""Runs of the baselines go on where a killed start left off."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command

from ember_site.boards.policy_runs import PolicyRuns, open_slots, policy_runs_make
from ember_site.core import clock
from ember_site.runs.models import Run, RunSource, RunState, Verification
from ember_site.runs.services import baseline_agent, queue_sweep
from simulator.policies import BASELINES
from tests.simulator.builders import PUBLIC_SUITE
from tests.site.runs.workers import run_tasks


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.django_db
def test_a_start_killed_while_it_verified_a_run_is_taken_up_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call_command("import_suite", PUBLIC_SUITE, verbosity=0)
    agent, slots = baseline_agent("stay"), open_slots()[:2]

    def make() -> PolicyRuns:
        source = RunSource.BASELINE
        return policy_runs_make(agent=agent, make_policy=BASELINES["stay"], source=source, slots=slots)

    def killed_at_work(run: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr("ember_site.runs.services.verification._judge", killed_at_work)
        with pytest.raises(Killed):
            make()
    assert Verification.objects.get().state == RunState.RUNNING

    assert make() == PolicyRuns(made=2, known=0)
    Verification.objects.filter(state="running").update(lease_until=clock.now() - timedelta(seconds=1))
    queue_sweep()
    run_tasks()
    assert make() == PolicyRuns(made=0, known=2)
    assert Run.objects.filter(agent=agent, state=RunState.VERIFIED).count() == 2
