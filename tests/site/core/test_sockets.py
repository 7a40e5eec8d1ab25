"""Sockets that nothing serves, and sockets opened by foreign pages."""

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from ember_site.sockets import websocket_application

HOST = (b"host", b"localhost:8000")


async def open_socket(path: str, headers: list[tuple[bytes, bytes]]) -> int:
    """Open a socket that is refused; give the close code, having seen that it was accepted first."""
    scope = {
        "type": "websocket",
        "asgi": {"version": "3.0"},
        "path": path,
        "query_string": b"",
        "headers": headers,
        "client": ["127.0.0.1", 1],
        "subprotocols": [],
    }
    socket = ApplicationCommunicator(websocket_application, scope)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output())["type"] == "websocket.accept"
    closing = await socket.receive_output()
    assert closing["type"] == "websocket.close"
    return closing["code"]


@pytest.mark.parametrize("path", ["/ws/nothing/", "/", "/ws/episodes/not-an-id/"])
async def test_an_unknown_path_is_accepted_then_closed_with_4404(path: str) -> None:
    assert await open_socket(path, [HOST]) == 4404


@pytest.mark.parametrize(
    "origin",
    [
        b"https://elsewhere.example",
        b"http://localhost:9999",
        b"http://localhost:8000.elsewhere.example",
        b"null",
    ],
)
async def test_a_page_of_another_site_may_not_open_a_socket(origin: bytes) -> None:
    assert await open_socket("/ws/x/", [HOST, (b"origin", origin)]) == 4403


@pytest.mark.parametrize("origin", [None, b"http://localhost:8000", b"HTTP://LOCALHOST:8000"])
async def test_our_own_pages_and_programs_pass_the_origin_check(origin: bytes | None) -> None:
    headers = [HOST] if origin is None else [HOST, (b"origin", origin)]
    assert await open_socket("/ws/x/", headers) == 4404


async def test_the_public_address_may_open_sockets_behind_a_proxy(settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://ember.example"]
    headers = [(b"host", b"127.0.0.1:8000"), (b"origin", b"https://ember.example")]
    assert await open_socket("/ws/x/", headers) == 4404


async def test_a_name_that_is_not_this_sites_opens_no_socket_though_it_leads_here() -> None:
    headers = [(b"host", b"elsewhere.example:8000"), (b"origin", b"http://elsewhere.example:8000")]
    assert await open_socket("/ws/x/", headers) == 4403
    for nonsense in (b"", b"[::1", b"a b", b"localhost:port"):
        assert await open_socket("/ws/x/", [(b"host", nonsense), (b"origin", b"http://" + nonsense)]) == 4403
