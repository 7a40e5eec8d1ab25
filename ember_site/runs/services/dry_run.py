"""
A dry run: judge a file of records exactly as an upload would be, and keep nothing of it.

No row, no record file, no task; the verdicts are made here and now by the replay that the queue uses,
and told in the same words. What comes back are rows that are never saved, so that pages and API show
them by the means they have for real ones.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import BinaryIO

from ember_site.accounts.models import User
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core.errors import Forbidden
from ember_site.runs.errors import SubmissionRefused
from ember_site.runs.limits import UploadLimits, upload_limits
from ember_site.runs.models import Agent, Run, RunSource, RunState, SubmissionLine
from ember_site.runs.quota import dry_runs_take
from ember_site.runs.selectors.submissions import SubmissionCounts
from ember_site.runs.services.runs import (
    LARGE_CHARS,
    agent_check_source,
    large_load,
    record_load,
    scenarios_known,
    stored_of,
)
from ember_site.runs.services.submissions import (
    ReadLine,
    file_refusal,
    line_columns,
    line_read,
    lines_summary,
    stream_of,
)
from ember_site.runs.services.verification import OUR_FAILURES, Judgement, judgement_write, record_judge
from ember_site.runs.tracks import scene_sentence
from ember_site.runs.visibility import agent_is_mine
from simulator import VerdictCode, record_header
from simulator.record_files import RecordLine, iter_records

logger = logging.getLogger(__name__)

FAILED_HERE = Judgement(
    RunState.FAILED, "internal", "", "", "", "Something failed on our side. Try again.", None, None
)


@dataclass(frozen=True, slots=True)
class DryRun:
    """The verdicts on a file, line by line. Neither the lines nor their runs are in the database."""

    lines: list[SubmissionLine]
    sentences: Mapping[int, str]
    """By line number, for refused records: who tried what in the differing step, and the rule."""

    @property
    def counts(self) -> SubmissionCounts:
        """How many records stand where."""
        states = Counter(line.run.state if line.run else RunState.REJECTED for line in self.lines)
        not_ended = sum(line.run is not None and line.run.ended is False for line in self.lines)
        return SubmissionCounts(
            total=len(self.lines),
            verified=states[RunState.VERIFIED] - not_ended,
            not_ended=not_ended,
            refused=states[RunState.REJECTED],
            failed=states[RunState.FAILED],
            running=0,
            queued=0,
        )


def submission_dry_run(*, owner: User, agent: Agent | None, payload: bytes | BinaryIO) -> DryRun:
    """
    Judge one file of run records and keep nothing.

    Without an agent only the file is judged; with one, also whether it may get these runs. The file's
    limits hold as for an upload; dry runs have a limit of their own and use no upload. `payload` is read
    from its beginning and not closed.

    Raises:
        Forbidden: the agent is not the sender's.
        AgentKindRefused: the agent takes no uploads.
        UploadsExhausted: too many dry runs within the hour.
        SubmissionRefused: nothing of the file could be used; said as for an upload.
    """
    if agent is not None:
        if not agent_is_mine(viewer=owner, agent=agent):
            raise Forbidden("This agent belongs to somebody else.", place="agent")
        agent_check_source(agent=agent, source=RunSource.UPLOAD)
    limits = upload_limits()
    dry_runs_take(owner=owner, limits=limits)
    stream = stream_of(payload)
    refusal, too_large = file_refusal(stream, limits)
    if refusal is not None:
        raise SubmissionRefused(refusal, too_large=too_large)
    return _dry_run(stream, limits)


def _dry_run(stream: BinaryIO, limits: UploadLimits) -> DryRun:
    sentences: dict[int, str] = {}
    judged = [_line(record, sentences) for record in iter_records(stream, limits=limits.file)]
    scenarios = scenarios_known({run.scenario_hash for _, run in judged if run})
    for _, run in judged:
        if run is not None:
            run.scenario = scenarios.get(run.scenario_hash)
    lines = [SubmissionLine(run=run, **line_columns(line)) for line, run in judged]
    if not any(run for _, run in judged):
        raise SubmissionRefused(lines_summary([line for line, _ in judged]), lines=lines)
    return DryRun(lines, sentences)


def _line(record: RecordLine, sentences: dict[int, str]) -> tuple[ReadLine, Run | None]:
    runs: list[Run] = []

    def take(text: bytes) -> None:
        run, sentence = _judged(text)
        runs.append(run)
        if sentence:
            sentences[record.number] = sentence

    return line_read(record, take=take), runs[0] if runs else None


def _judged(text: bytes) -> tuple[Run, str]:
    """
    The run that an upload would make of a record, with its verdict, never saved; and what the differing
    step tells, if it is refused for one.

    Raises:
        RecordFormatError: the loader refuses the record.
    """
    with large_load if len(text) > LARGE_CHARS else nullcontext():
        header = record_header(text)
        stored = stored_of(header, digest="", size_bytes=len(text))
        try:
            judgement = _replayed(text, header.scenario_hash)
            sentence = _told(text, header.scenario_hash, judgement)
        except OUR_FAILURES:
            logger.exception("a dry run failed on our side")
            judgement, sentence = FAILED_HERE, ""
    run = Run(
        scenario_hash=stored.scenario_hash,
        seed=stored.seed,
        simulator_version=stored.simulator_version,
        observation_version=stored.observation_version,
        record_size_bytes=stored.size_bytes,
        source=RunSource.UPLOAD,
    )
    judgement_write(run, judgement)
    return run, sentence


def _told(text: bytes, scenario_hash: str, judgement: Judgement) -> str:
    if judgement.code != VerdictCode.REPLAY_MISMATCH:
        return ""
    return scene_sentence(record=text, scenario=scenario_load(scenario_hash), place=judgement.place)


def _replayed(text: bytes, scenario_hash: str) -> Judgement:
    """The queue's verdict. What the replay cannot read, the loader refuses in its own words."""
    judgement = record_judge(text, scenario_hash=scenario_hash)
    if judgement.code in (
        VerdictCode.RECORD_FORMAT,
        VerdictCode.LIMIT_EXCEEDED,
        VerdictCode.SCENARIO_UNKNOWN,
    ):
        record_load(text)
    return judgement
