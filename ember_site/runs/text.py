"""Text from outside, made fit for a database column."""

from __future__ import annotations

PLACE_CHARS = 300
MESSAGE_CHARS = 2000
"""What the columns of places and sentences hold."""


def column_text(text: str, limit: int) -> str:
    """
    At most `limit` characters, without NUL and lone surrogates, which databases refuse.

    What is cut ends in an ellipsis.
    """
    clean = text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
