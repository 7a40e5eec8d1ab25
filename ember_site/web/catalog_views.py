"""Pages and files of suites and scenarios: parse, one or two reads, render."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ember_site.catalog import archive, selectors
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core.lasting import lasting_response
from ember_site.web import catalog_pages
from simulator import Simulator, indented_json

JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain; charset=utf-8"


@require_safe
def suite_list(request: HttpRequest) -> HttpResponse:
    """Every suite that the viewer may see."""
    rows = catalog_pages.suite_rows(viewer=request.user)
    return render(request, "catalog/suite_list.html", {"rows": rows})


@require_safe
def suite_detail(request: HttpRequest, suite_id: str, version: str) -> HttpResponse:
    """One suite with its scenarios as drawn cards or as a table; `family` and `fire` filter them."""
    suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
    page = catalog_pages.suite_page(
        suite,
        viewer=request.user,
        family=request.GET.get("family", ""),
        fire_model=request.GET.get("fire", ""),
        as_table=request.GET.get("view") == "table",
    )
    return render(request, "catalog/suite_detail.html", {"suite": suite, "page": page})


@require_safe
def suite_manifest(request: HttpRequest, suite_id: str, version: str) -> HttpResponse:
    """The manifest as it stands in the suite directory."""
    suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
    return _immutable(request, archive.manifest_file_text(suite), JSON_TYPE, etag=suite.suite_hash)


@require_safe
def suite_archive(request: HttpRequest, suite_id: str, version: str) -> HttpResponse:
    """The suite directory as a zip."""
    suite = selectors.suite_get(viewer=request.user, suite_id=suite_id, version=version)
    return _immutable(
        request,
        archive.suite_archive(suite),
        "application/zip",
        etag=f"{suite.suite_hash}-zip",
        filename=f"{archive.archive_name(suite)}.zip",
    )


@require_safe
def scenario_detail(request: HttpRequest, content_hash: str) -> HttpResponse:
    """One scenario: plan, rules, fire, hash, files and best runs."""
    scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
    page = catalog_pages.scenario_page(scenario, viewer=request.user)
    return render(request, "catalog/scenario_detail.html", {"scenario": scenario, "page": page})


@require_safe
def scenario_file(request: HttpRequest, content_hash: str) -> HttpResponse:
    """The scenario file, byte for byte; `?download` offers it under its name."""
    scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
    return _immutable(
        request,
        archive.scenario_file_text(scenario),
        JSON_TYPE,
        etag=scenario.content_hash,
        filename=f"{scenario.scenario_id}.json" if "download" in request.GET else "",
    )


@require_safe
def scenario_layout(request: HttpRequest, content_hash: str) -> HttpResponse:
    """The map at step 0 as text, one character a cell."""
    scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
    rows = scenario_load(scenario.content_hash).ascii_layout()
    return _immutable(request, "\n".join(rows) + "\n", TEXT_TYPE, etag=f"{scenario.content_hash}-layout")


@require_safe
def scenario_observation(request: HttpRequest, content_hash: str) -> HttpResponse:
    """What an agent sees before its first action."""
    scenario = selectors.scenario_get(viewer=request.user, ref=content_hash)
    observation = Simulator(scenario_load(scenario.content_hash)).observe()
    text = indented_json(observation.to_dict())
    return _immutable(request, text, JSON_TYPE, etag=f"{scenario.content_hash}-observation")


def _immutable(
    request: HttpRequest, body: str | bytes, content_type: str, *, etag: str, filename: str = ""
) -> HttpResponse:
    """A file that its address pins for good."""
    return lasting_response(
        request, body, etag=etag, content_type=content_type, cache="private, max-age=3600", filename=filename
    )
