"""Parameters and keys that nobody knows are refused, so that no slip of the pen is passed over in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from rest_framework import exceptions, serializers
from rest_framework.request import Request

Instance = TypeVar("Instance")

PLACE_CHARS = 80


def parameters_check(request: Request, *, known: Collection[str]) -> None:
    """
    Refuse parameters of the address that are not known there.

    Raises:
        ValidationError: the places are their names.
    """
    names_check(request.query_params, known=known, what="parameter")


def names_check(names: Iterable[Any], *, known: Collection[str], what: str) -> None:
    """
    Refuse names that are not known.

    Raises:
        ValidationError: the places are the names.
    """
    unknown = [str(name)[:PLACE_CHARS] for name in names if name not in known]
    if unknown:
        words = f"Unknown {what}. Known here are {', '.join(sorted(known))}."
        raise exceptions.ValidationError({name: [words] for name in unknown})


class StrictBody(serializers.Serializer[Instance]):
    """A body that is written: a key that is none of its fields is refused, where the framework drops it."""

    def to_internal_value(self, data: Any) -> Any:
        """The values of the fields.

        Raises:
            ValidationError: an unknown key, or a wrong value; the place is the field's name.
        """
        if isinstance(data, Mapping):
            names_check(data, known=self.fields, what="key")
        return super().to_internal_value(data)
