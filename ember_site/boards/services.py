"""Writes of boards: making evaluations."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState, Slot
from ember_site.catalog import selectors as catalog
from ember_site.catalog.models import Suite
from ember_site.core import clock
from ember_site.core.audit import audit_record
from ember_site.core.models import AuditAction
from simulator import OBSERVATION_VERSION, SIMULATOR_VERSION, parse_json

OPEN_SLUG = "public-dev"
OPEN_TITLE = "Development board"


def evaluation_ensure_open(*, suite: Suite) -> Evaluation:
    """
    The open evaluation of a suite for the versions in force, made if there is none.

    Its slots are the suite's scenarios, each with the development seed of its file. The first
    one gets the slug `public-dev`; those of later suites or versions add to it what tells them
    apart.
    """
    found = _open_evaluation(suite)
    if found is not None:
        return found
    try:
        return _evaluation_create_open(suite)
    except IntegrityError:  # another process was faster
        found = _open_evaluation(suite)
        if found is None:
            raise
        return found


def _open_evaluation(suite: Suite) -> Evaluation | None:
    return Evaluation.objects.filter(
        suite=suite,
        kind=EvaluationKind.OPEN,
        simulator_version=SIMULATOR_VERSION,
        observation_version=OBSERVATION_VERSION,
        slug__in=dict(_open_names(suite)),
    ).first()


@transaction.atomic
def _evaluation_create_open(suite: Suite) -> Evaluation:
    names = _open_names(suite)
    taken = set(Evaluation.objects.filter(slug__in=dict(names)).values_list("slug", flat=True))
    slug, title = next(name for name in names if name[0] not in taken)
    evaluation = Evaluation.objects.create(
        slug=slug,
        title=title,
        suite=suite,
        simulator_version=SIMULATOR_VERSION,
        observation_version=OBSERVATION_VERSION,
        kind=EvaluationKind.OPEN,
        state=EvaluationState.OPEN,
        opens_at=clock.now(),
    )
    Slot.objects.bulk_create(
        Slot(
            evaluation=evaluation,
            scenario=entry.scenario,
            seed=str(parse_json(entry.scenario.document)["seed"]),
            position=entry.position,
        )
        for entry in catalog.suite_entries(suite=suite)
    )
    audit_record(
        actor=None,
        action=AuditAction.EVALUATION,
        object_kind="evaluation",
        object_id=evaluation.slug,
        data={"change": "made", "kind": evaluation.kind, "state": evaluation.state},
    )
    return evaluation


def _open_names(suite: Suite) -> list[tuple[str, str]]:
    """Pairs of slug and title, from the plain one to the most telling one; the first free one is taken."""
    version = suite.version.replace(".", "-")
    simulator = SIMULATOR_VERSION.replace(".", "-")
    return [
        (OPEN_SLUG, OPEN_TITLE),
        (f"{OPEN_SLUG}-{version}", f"{OPEN_TITLE} {suite.version}"),
        (f"{suite.suite_id}-dev-{version}"[:80], f"{OPEN_TITLE}: {suite.suite_id} {suite.version}"[:120]),
        (
            f"{suite.suite_id[:30]}-dev-{version}-sim-{simulator}"[:80],
            f"{OPEN_TITLE}: {suite.suite_id} {suite.version}, simulator {SIMULATOR_VERSION}"[:120],
        ),
    ]
