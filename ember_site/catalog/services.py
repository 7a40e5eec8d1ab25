"""Writes of the catalogue: there is one, the import of a suite directory."""

from __future__ import annotations

from pathlib import Path

from django.db import IntegrityError, transaction

from ember_site.catalog.models import Scenario, Suite, SuiteEntry
from ember_site.core.audit import audit_record
from ember_site.core.errors import WrongState
from ember_site.core.models import AuditAction
from simulator import Scenario as SimulatorScenario
from simulator import Suite as SimulatorSuite
from simulator import load_suite


class SuiteConflict(WrongState):
    """A suite of this ID and version is here already, with another hash."""

    code = "suite_conflict"


def suite_import(*, directory: str | Path) -> Suite:
    """
    Check a suite directory and mirror it. The same suite again changes nothing.

    Scenarios are stored by content hash, so that versions and suites share them and runs keep
    the exact bytes that they were made on.

    Raises:
        SuiteError: the directory is not a suite; the place says where.
        SuiteConflict: ID and version are taken by a suite with another hash; data carries both.
    """
    loaded = load_suite(directory)
    existing = _suite_existing(loaded)
    if existing is not None:
        return existing
    try:
        return _suite_store(loaded)
    except IntegrityError:  # another process was faster
        existing = _suite_existing(loaded)
        if existing is None:
            raise
        return existing


def _suite_existing(loaded: SimulatorSuite) -> Suite | None:
    """The suite of this ID and version, if it is the same one."""
    found = Suite.objects.filter(suite_id=loaded.suite_id, version=loaded.version).first()
    if found is not None and found.suite_hash != loaded.suite_hash:
        raise SuiteConflict(
            f"{loaded.suite_id} {loaded.version} is imported already with suite hash {found.suite_hash}; "
            f"this directory has {loaded.suite_hash}. A changed suite needs a new suite_version.",
            place="suite_version",
            imported_hash=found.suite_hash,
            directory_hash=loaded.suite_hash,
        )
    return found


@transaction.atomic
def _suite_store(loaded: SimulatorSuite) -> Suite:
    suite = Suite.objects.create(
        suite_id=loaded.suite_id,
        version=loaded.version,
        suite_hash=loaded.suite_hash,
        visibility=loaded.visibility,
        seed_role=loaded.seed_role,
        schema_version=loaded.schema_version,
        manifest=loaded.manifest_text,
    )
    Scenario.objects.bulk_create(
        [_scenario_row(scenario, loaded.schema_version) for scenario in loaded.scenarios],
        ignore_conflicts=True,  # another suite may have brought the same scenario
    )
    SuiteEntry.objects.bulk_create(
        SuiteEntry(
            suite=suite,
            scenario_id=entry.scenario_hash,
            position=position,
            primary_family=entry.primary_family,
            families=list(entry.families),
            purpose=entry.purpose,
        )
        for position, entry in enumerate(loaded.entries, start=1)
    )
    audit_record(
        actor=None,
        action=AuditAction.SUITE_IMPORTED,
        object_kind="suite",
        object_id=f"{suite.suite_id}/{suite.version}",
        data={"suite_hash": suite.suite_hash, "scenarios": len(loaded.scenarios)},
    )
    return suite


def _scenario_row(scenario: SimulatorScenario, schema_version: str) -> Scenario:
    return Scenario(
        content_hash=scenario.content_hash,
        scenario_id=scenario.scenario_id,
        schema_version=schema_version,
        document=scenario.to_json(),
        width=scenario.width,
        height=scenario.height,
        population=len(scenario.people),
        exit_count=len(scenario.exits),
        ignition_count=len(scenario.ignitions),
        fire_model=str(scenario.fire.model),
        hazard=scenario.hazard,
        max_steps=scenario.max_steps,
    )
