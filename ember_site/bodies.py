"""A bound on request bodies, kept before Django reads them: its ASGI handler stores a body whole first."""

import asyncio

from django.conf import settings

from ember_site.asgi_types import Application, Message, Receive, Scope, Send

OVER_LIMIT = "ember.body_limit_bytes"
"""Key of the scope that holds the limit which a body went over; read by `BodyLimitMiddleware`."""

DRAIN_FACTOR = 16
"""How many times the limit is still read and thrown away, so that the sender can read the answer."""


def body_limit_bytes(path: str) -> int:
    """Give the most bytes that a body sent to the path may have."""
    if path in settings.EMBER_UPLOAD_PATHS:
        return settings.EMBER_UPLOAD_MAX_BYTES + settings.EMBER_UPLOAD_ENVELOPE_BYTES
    return settings.EMBER_FORM_MAX_BYTES


class BodyLimit:
    """Cuts a body at its limit and marks the request, which Django then refuses with 413."""

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
                return message
            scope[OVER_LIMIT] = limit
            while message.get("more_body", False) and received <= limit * DRAIN_FACTOR:
                message = await receive()
                if message["type"] != "http.request":
                    return message
                received += len(message.get("body", b""))
            given_up = message.get("more_body", False)
            return {"type": "http.request", "body": b"", "more_body": False}

        await self.application(scope, bounded, send)
