"""Writes of the runs app, by topic."""

from ember_site.runs.services.agents import (
    AgentFields,
    agent_create,
    agent_ensure_named,
    agent_update,
    baseline_agent,
    human_agent_for,
)
from ember_site.runs.services.dry_run import DryRun, submission_dry_run
from ember_site.runs.services.erasure import owner_erase
from ember_site.runs.services.finish import submission_notice_key
from ember_site.runs.services.queue import queue_sweep, run_enqueue, runs_enqueue, sweep_schedule
from ember_site.runs.services.runs import run_set_visibility, run_store, run_withdraw, runs_hide
from ember_site.runs.services.submissions import submission_create
from ember_site.runs.services.verification import run_verify, run_verify_again

__all__ = [
    "AgentFields",
    "DryRun",
    "agent_create",
    "agent_ensure_named",
    "agent_update",
    "baseline_agent",
    "human_agent_for",
    "owner_erase",
    "queue_sweep",
    "run_enqueue",
    "run_set_visibility",
    "run_store",
    "run_verify",
    "run_verify_again",
    "run_withdraw",
    "runs_enqueue",
    "runs_hide",
    "submission_create",
    "submission_dry_run",
    "submission_notice_key",
    "sweep_schedule",
]
