"""What goes into the log."""

from __future__ import annotations

import logging

CLIENT_FAULTS = ("Invalid UTF-8 sequence received from client.",)
"""What uvicorn calls an error of the server, with a traceback, though it is a client's and was answered."""


class OwnFaultsFilter(logging.Filter):
    """Keeps faults of clients out of the errors of the site."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the entry is to be written."""
        return record.msg not in CLIENT_FAULTS


class CalmFilter(logging.Filter):
    """Makes a warning of one line of what the framework calls an error with a traceback.

    It is for requests that were refused for what a client sent, such as a foreign host name.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the entry, and tell whether warnings are to be written."""
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        record.exc_info = record.exc_text = None
        return logging.getLogger().isEnabledFor(logging.WARNING)
