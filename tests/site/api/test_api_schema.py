"""The OpenAPI description is valid, complete and served with its page from this site alone."""

from __future__ import annotations

import re

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

pytestmark = pytest.mark.django_db


@pytest.fixture
def schema(client) -> dict:
    return client.get("/api/v1/schema/").json()


def test_the_description_that_is_served_is_valid(schema):
    validate_schema(schema)


@pytest.mark.parametrize("asked", ["version=%00", "version=2%22%3B%0Ax", "lang=%00", "lang=../x", "lang=de"])
def test_nothing_of_the_address_goes_into_the_description_or_its_headers(client, asked):
    plain, answer = client.get("/api/v1/schema/"), client.get(f"/api/v1/schema/?{asked}")
    assert answer.content == plain.content
    assert answer["Content-Disposition"] == plain["Content-Disposition"]


def test_the_description_is_made_once_whoever_asks(client, monkeypatch):
    first = client.get("/api/v1/schema/")
    monkeypatch.delattr(SchemaGenerator, "get_schema")
    assert client.get("/api/v1/schema/").content == first.content


def test_every_operation_says_what_it_does_and_how_it_fails(schema):
    operations = [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    ]
    assert operations
    for path, method, operation in operations:
        assert operation.get("description"), f"{method} {path} has no description"
        problem = operation["responses"]["default"]["content"]["application/problem+json"]
        assert problem["schema"]["$ref"] == "#/components/schemas/Problem", path
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(names) == len(set(names))


def test_seeds_are_strings_in_the_description(schema):
    found = [
        properties["seed"]["type"]
        for component in schema["components"]["schemas"].values()
        if "seed" in (properties := component.get("properties", {}))
    ]
    assert found
    assert set(found) == {"string"}


def test_the_documentation_page_loads_nothing_from_elsewhere(client):
    response = client.get("/api/v1/docs/")
    text = response.content.decode()
    sources = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert sources
    assert not [source for source in sources if re.match(r"(https?:)?//", source)]
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert not re.search(r"<style|\sstyle=", text)
    assert "script-src 'self'" in response["Content-Security-Policy"]
