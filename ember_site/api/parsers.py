"""Reading JSON bodies strictly and with a limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from ember_site.core.errors import StatusError, TooLarge
from simulator import EmberError, parse_json

DEFAULT_MAX_BYTES = 256 * 1024


class StrictJSONParser(BaseParser):
    """JSON in UTF-8 without repeated keys, NaN, or nesting and integers far beyond any format.

    A view may set `max_body_bytes`; more is refused before it is read.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Give the document.

        Raises:
            TooLarge: carries the limit in bytes.
            StatusError: not JSON, or JSON that readers could understand differently; carries the place.
        """
        view = (parser_context or {}).get("view")
        limit = getattr(view, "max_body_bytes", DEFAULT_MAX_BYTES)
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(f"Expected a body of at most {limit} bytes, got more.", limit=limit)
        try:
            return parse_json(body)
        except EmberError as error:
            raise StatusError(400, "bad_json", str(error), place=error.place or None) from error
