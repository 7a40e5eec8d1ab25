"""
A bound on request bodies, kept before Django reads them: its ASGI handler stores a body whole first.

A body that comes in chunks names no length, and the frameworks take it for empty. It has one once it is
there, so the request tells it from then on.
"""

import asyncio

from django.conf import settings

from ember_site.asgi_types import Application, Message, Receive, Scope, Send

OVER_LIMIT = "ember.body_limit_bytes"
"""Key of the scope for the stated limit, in bytes, of a body that went over; see `BodyLimitMiddleware`."""

DRAIN_FACTOR = 16
"""How many times the limit is still read and thrown away, so that the sender can read the answer."""


def body_limit_bytes(path: str) -> int:
    """Give the most bytes that a body sent to the path may have."""
    envelope = settings.EMBER_UPLOAD_ENVELOPE_BYTES if path in settings.EMBER_UPLOAD_PATHS else 0
    return limit_stated_bytes(path) + envelope


def limit_stated_bytes(path: str) -> int:
    """Give the limit as people know it: of an upload that of the file, without the form around it."""
    if path in settings.EMBER_UPLOAD_PATHS:
        return settings.EMBER_UPLOAD_MAX_BYTES
    return settings.EMBER_FORM_MAX_BYTES


class BodyLimit:
    """
    Cuts a body at its limit and marks the request, which Django then refuses with 413.

    Django looks at headers and mark when it has read the body, so both may still be set while it reads.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = body_limit_bytes(scope["path"])
        received = 0
        given_up = False

        async def bounded() -> Message:
            nonlocal received, given_up
            if given_up:
                await asyncio.Event().wait()  # until the answer is sent, which ends this
            message = await receive()
            if message["type"] != "http.request":
                return message
            received += len(message.get("body", b""))
            if received <= limit:
                if not message.get("more_body", False):
                    length_tell(scope, received)
                return message
            scope[OVER_LIMIT] = limit_stated_bytes(scope["path"])
            while message.get("more_body", False) and received <= limit * DRAIN_FACTOR:
                message = await receive()
                if message["type"] != "http.request":
                    return message
                received += len(message.get("body", b""))
            given_up = message.get("more_body", False)
            return {"type": "http.request", "body": b"", "more_body": False}

        await self.application(scope, bounded, send)


def length_tell(scope: Scope, size_bytes: int) -> None:
    """Add the length of a whole body to headers that do not name one."""
    headers = scope["headers"]
    if size_bytes and not any(name.lower() == b"content-length" for name, _ in headers):
        scope["headers"] = [*headers, (b"content-length", str(size_bytes).encode())]
