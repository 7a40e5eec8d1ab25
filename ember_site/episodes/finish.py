"""The end of an episode: its record becomes a run like any other."""

from __future__ import annotations

from contextlib import closing
from uuid import UUID

from django.db import transaction

from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core.errors import NotFound, WrongState
from ember_site.episodes.live import record_from_log
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import episode_log
from ember_site.runs.models import Run, RunSource
from ember_site.runs.services.runs import run_store


def episode_finish(*, episode_id: UUID) -> Run:
    """Make the record of an ended episode from its log, store it as a run and ask for its verification.

    Doing it again gives the same run. Only ranked episodes make ranked runs; what a sealed
    evaluation hides stays hidden on the run.

    Raises:
        NotFound: there is no such episode.
        WrongState: it has not ended.
        LogDiffers: the log does not give the states that were shown.
        StoreUnavailable: the record could not be stored; the log keeps everything, so try again.
    """
    episode = Episode.objects.select_related("agent", "run").filter(pk=episode_id).first()
    if episode is None:
        raise NotFound("There is no such episode.")
    if episode.run is not None:
        return episode.run
    if episode.state != Episode.State.ENDED:
        raise WrongState("Only an episode that has ended becomes a run.")
    scenario = scenario_load(episode.scenario_id)
    with closing(episode_log(episode_id=episode_id)) as rows:
        record_text = record_from_log(scenario, int(episode.seed), rows)
    with transaction.atomic():
        run = run_store(
            agent=episode.agent,
            guest_key="" if episode.agent else episode.guest_key,
            record_text=record_text,
            source=_source(episode),
            ranked=episode.mode == Episode.Mode.RANKED,
            hidden_until=episode.hidden_until,
            hidden_ref=episode.hidden_ref,
        )
        Episode.objects.filter(pk=episode_id).update(run=run)
    return run


def _source(episode: Episode) -> RunSource:
    if episode.mode == Episode.Mode.BASELINE:
        return RunSource.BASELINE
    return RunSource.REMOTE if episode.is_remote else RunSource.PLAY
