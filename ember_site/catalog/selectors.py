"""
Reads of the catalogue. Who may see what is decided here.

A public suite and its scenarios are for everybody; a generated one is for organisers until
something made of it is published.
"""

from __future__ import annotations

import re

from django.db.models import Count, Prefetch, QuerySet, Sum

from ember_site.accounts.visitors import Viewer, is_organiser
from ember_site.catalog.models import Scenario, Suite, SuiteEntry, SuiteVisibility
from ember_site.core.errors import NotFound

CONTENT_HASH = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){2}", re.ASCII)


def _suites(viewer: Viewer | None) -> QuerySet[Suite]:
    suites = Suite.objects.all()
    if is_organiser(viewer):
        return suites
    return suites.filter(visibility=SuiteVisibility.PUBLIC)


def _scenarios(viewer: Viewer | None) -> QuerySet[Scenario]:
    if is_organiser(viewer):
        return Scenario.objects.all()
    return Scenario.objects.filter(entries__suite__visibility=SuiteVisibility.PUBLIC).distinct()


def version_key(version: str) -> tuple[int, ...]:
    """Sort key of MAJOR.MINOR.PATCH, so that 1.0.10 comes after 1.0.9."""
    return tuple(int(part) for part in version.split("."))


def suite_rows(*, viewer: Viewer) -> QuerySet[Suite]:
    """Suites, each with `scenario_count` and `population`, in no order. Paginate it."""
    return _suites(viewer).annotate(
        scenario_count=Count("entries"), population=Sum("entries__scenario__population", default=0)
    )


def suite_list(*, viewer: Viewer) -> list[Suite]:
    """
    Suites by ID, the newest version first, each with `scenario_count` and `population`.

    Their entries and scenarios are loaded with them, in manifest order. Two queries.
    """
    suites = suite_rows(viewer=viewer).prefetch_related(
        Prefetch("entries", SuiteEntry.objects.select_related("scenario").order_by("position"))
    )
    newest_first = sorted(suites, key=lambda suite: version_key(suite.version), reverse=True)
    return sorted(newest_first, key=lambda suite: suite.suite_id)


def suite_get(*, viewer: Viewer | None, suite_id: str, version: str) -> Suite:
    """One suite.

    Raises:
        NotFound: there is none, or the viewer may not see it.
    """
    suite = None
    if NAME.fullmatch(suite_id) and VERSION.fullmatch(version):
        suite = _suites(viewer).filter(suite_id=suite_id, version=version).first()
    if suite is None:
        raise NotFound("No suite of this ID and version is known here.")
    return suite


def suite_latest(*, viewer: Viewer | None, suite_id: str) -> Suite:
    """The newest version of a suite.

    Raises:
        NotFound: there is none, or the viewer may not see it.
    """
    versions = list(_suites(viewer).filter(suite_id=suite_id))
    if not versions:
        raise NotFound(f"No suite {suite_id} is known here.")
    return max(versions, key=lambda suite: version_key(suite.version))


def suite_entries(*, suite: Suite) -> list[SuiteEntry]:
    """Entries of a suite with their scenarios, in manifest order. One query."""
    return list(SuiteEntry.objects.filter(suite=suite).select_related("scenario").order_by("position"))


def scenario_list(*, viewer: Viewer) -> QuerySet[Scenario]:
    """Scenarios that the viewer may see, by ID, then hash. Paginate it."""
    return _scenarios(viewer).order_by("scenario_id", "content_hash")


def scenario_get(*, viewer: Viewer | None = None, ref: str) -> Scenario:
    """
    One scenario, by content hash or by `suite_id/scenario_id` or `suite_id@version/scenario_id`.

    Without a version the newest one of the suite is meant.

    Raises:
        NotFound: there is none, or the viewer may not see it.
    """
    if CONTENT_HASH.fullmatch(ref):
        scenario = _scenarios(viewer).filter(content_hash=ref).first()
    else:
        scenario = _scenario_of_suite(viewer, ref)
    if scenario is None:
        raise NotFound("No scenario with this hash or name is known here.")
    return scenario


def _scenario_of_suite(viewer: Viewer | None, ref: str) -> Scenario | None:
    suite_ref, _, scenario_id = ref.partition("/")
    suite_id, _, version = suite_ref.partition("@")
    if not NAME.fullmatch(suite_id) or not NAME.fullmatch(scenario_id):
        return None
    if version:
        suite = suite_get(viewer=viewer, suite_id=suite_id, version=version)
    else:
        suite = suite_latest(viewer=viewer, suite_id=suite_id)
    return Scenario.objects.filter(entries__suite=suite, scenario_id=scenario_id).first()


def scenario_hash_latest(scenario_id: str) -> str | None:
    """Content hash of the scenario with that ID that was imported last into a public suite; None without."""
    entries = SuiteEntry.objects.filter(
        scenario__scenario_id=scenario_id, suite__visibility=SuiteVisibility.PUBLIC
    )
    return entries.order_by("-suite__imported_at", "-pk").values_list("scenario_id", flat=True).first()


def scenario_entries(*, viewer: Viewer, scenario: Scenario) -> list[SuiteEntry]:
    """The places of a scenario in suites that the viewer may see, newest version first. One query."""
    entries = SuiteEntry.objects.filter(scenario=scenario, suite__in=_suites(viewer)).select_related("suite")
    return sorted(entries, key=lambda entry: version_key(entry.suite.version), reverse=True)
