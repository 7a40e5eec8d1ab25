"""Bodies that are record files themselves, beside the multipart form."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from rest_framework.parsers import BaseParser

from ember_site.runs.limits import upload_limits


class RecordFile(BytesIO):
    """The bytes of an upload. One byte more than the limit is kept, so that the service refuses it."""


class _RecordFileParser(BaseParser):
    """Takes the body as it is; whether it is a record file is for the service to say."""

    def parse(  # type: ignore[override]  # the framework takes any value
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> RecordFile:
        """Give the body, read up to one byte over the limit."""
        return RecordFile(stream.read(upload_limits().file.file_bytes + 1))


class JsonRecordParser(_RecordFileParser):
    """One record."""

    media_type = "application/json"


class LinesRecordParser(_RecordFileParser):
    """One record a line."""

    media_type = "application/x-ndjson"


class JsonlRecordParser(_RecordFileParser):
    """One record a line, by its other name."""

    media_type = "application/jsonl"


class GzipRecordParser(_RecordFileParser):
    """Either, gzipped."""

    media_type = "application/gzip"


RECORD_FILE_PARSERS = [JsonRecordParser, LinesRecordParser, JsonlRecordParser, GzipRecordParser]
