"""Reads of the runs app, by topic."""

from ember_site.runs.selectors.agents import agent_for_upload, agent_get, agent_list, agents_for_upload
from ember_site.runs.selectors.runs import (
    has_track,
    run_get,
    run_history,
    run_list,
    run_record_get,
    run_scene,
    run_track_get,
    run_twins,
    runs_for_slots,
    runs_reveal_at,
)
from ember_site.runs.selectors.submissions import (
    QueueStatus,
    SubmissionCounts,
    queue_status,
    run_queue_position,
    submission_counts,
    submission_get,
    submission_lines,
    submission_list,
    uploads_used,
)
from ember_site.runs.visibility import Viewer, agent_is_mine, agents_own, run_is_mine, runs_own

__all__ = [
    "QueueStatus",
    "SubmissionCounts",
    "Viewer",
    "agent_for_upload",
    "agent_get",
    "agent_is_mine",
    "agent_list",
    "agents_for_upload",
    "agents_own",
    "has_track",
    "queue_status",
    "run_get",
    "run_history",
    "run_is_mine",
    "run_list",
    "run_queue_position",
    "run_record_get",
    "run_scene",
    "run_track_get",
    "run_twins",
    "runs_for_slots",
    "runs_own",
    "runs_reveal_at",
    "submission_counts",
    "submission_get",
    "submission_lines",
    "submission_list",
    "uploads_used",
]
