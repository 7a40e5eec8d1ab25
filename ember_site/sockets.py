"""Routing of websockets: the one place where socket paths meet their consumers."""

from typing import Any, cast
from urllib.parse import urlsplit

from channels.routing import URLRouter
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.urls import re_path

from ember_site.asgi_types import Application, Receive, Scope, Send
from ember_site.episodes.routing import websocket_urlpatterns


async def socket_refuse(receive: Receive, send: Send, *, code: int, reason: str) -> None:
    """
    Accept the socket, then close it with the code.

    A browser sees a close code only of a socket that was accepted; otherwise it sees 1006.
    """
    message = await receive()
    if message["type"] == "websocket.connect":
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": code, "reason": reason})


async def unknown_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a socket path that nothing serves with 4404."""
    await socket_refuse(receive, send, code=4404, reason="no such socket")


def origin_is_ours(scope: Scope) -> bool:
    """
    Tell whether the page that opens the socket is one of this site's.

    Browsers always send Origin with a websocket and attach the visitor's cookies whatever page
    asks, so a foreign page must be refused, also one whose own name was made to lead here. A client
    without Origin is no browser and carries no visitor's cookies.
    """
    headers = dict(scope.get("headers", ()))
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin:
        return True
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    host = headers.get(b"host", b"").decode("latin-1").lower()
    try:
        same = urlsplit(origin).netloc.lower() == host
    except ValueError:  # no address at all
        return False
    return same and validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)


class OriginGuard:
    """Closes sockets that a page of another site opens with 4403."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if origin_is_ours(scope):
            await self.application(scope, receive, send)
        else:
            await socket_refuse(receive, send, code=4403, reason="opened by another site")


# Consumers read the session themselves, in threads of their own: Channels' middleware would do it
# in the one thread that all sockets share.
websocket_application = OriginGuard(
    URLRouter([*websocket_urlpatterns, re_path(r"", cast(Any, unknown_socket))])
)
