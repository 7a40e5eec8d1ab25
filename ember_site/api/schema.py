"""OpenAPI: what every endpoint has in common."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from ember_site.api.strict import StrictBody
from ember_site.core.problems import CONTENT_TYPE

COLUMN_MAXIMA = frozenset({2**15 - 1, 2**31 - 1, 2**63 - 1})


class ProblemSerializer(serializers.Serializer[dict[str, Any]]):
    """A problem document (RFC 9457). Further members say more, such as `limit` or `errors`."""

    type = serializers.CharField(help_text="Address of the explanation of the code.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="A sentence: what was expected, what came.")
    code = serializers.CharField(help_text="Stable code; see docs/errors.")
    place = serializers.CharField(required=False, help_text="For example people[3].position[1].")
    limit = serializers.IntegerField(required=False)
    retry_at = serializers.DateTimeField(required=False)


class ProblemSchema(AutoSchema):
    """Adds the problem document as the default answer of every operation."""

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if "default" not in bodies:
            bodies["default"] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                ProblemSerializer, "default", [CONTENT_TYPE]
            )
            bodies["default"]["description"] = "Any failure."
        return bodies


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a token is sent."""

    target_class = "ember_site.api.auth.ApiTokenAuthentication"
    name = "token"
    priority = 1

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """The header, with its prefix."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token ember_…`, made on the page of your account.",
        }


def with_strict_bodies(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """Say of the bodies that refuse keys which they do not know that they do."""
    components = result.get("components", {}).get("schemas", {})
    for (name, _kind), component in generator.registry._components.items():
        serializer = component.object
        kind = serializer if isinstance(serializer, type) else type(serializer)
        if issubclass(kind, StrictBody) and name in components:
            components[name]["additionalProperties"] = False
    return result


def without_database_ranges(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Leave out the bounds that only say how wide a column is: they differ between databases."""
    for component in result.get("components", {}).get("schemas", {}).values():
        for field in component.get("properties", {}).values():
            if field.get("type") == "integer" and field.get("maximum") in COLUMN_MAXIMA:
                for bound in ("maximum", "format", *(["minimum"] if field.get("minimum", 0) < 0 else [])):
                    field.pop(bound, None)
    return result
