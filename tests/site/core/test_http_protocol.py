"""A client that vanishes in the midst of an answer is no error; an error in an answer stays one."""

from __future__ import annotations

import logging
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from ember_site.asgi_types import Receive, Scope, Send
from ember_site.core.http_protocol import PipelineProtocol
from tests.patience import PATIENCE_S

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Waiting:
    """Answers `/waiting` only after the client has gone, and fails at `/failing`."""

    def __init__(self) -> None:
        self.begun, self.told, self.answered = threading.Event(), threading.Event(), threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/failing":
            raise ValueError("a real error")
        while (await receive())["type"] != "http.disconnect":
            self.begun.set()
        self.told.set()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"too late"})
        self.answered.set()


@pytest.fixture
def app() -> Waiting:
    return Waiting()


@pytest.fixture
def address(app: Waiting) -> Iterator[tuple[str, int]]:
    """A server of its own, on the loop and the protocol of `manage.py serve`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app, http=PipelineProtocol, lifespan="off", log_config=None, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield listener.getsockname()
        server.should_exit = True
        thread.join(PATIENCE_S)


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@pytest.mark.parametrize("requests", [1, 3], ids=["one request", "three requests at once"])
def test_who_vanishes_in_mid_answer_leaves_no_traceback(
    app: Waiting, address: tuple[str, int], caplog: pytest.LogCaptureFixture, requests: int
) -> None:
    with socket.create_connection(address) as client:
        client.sendall(request("/waiting") * requests)
        assert app.begun.wait(PATIENCE_S)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    assert app.told.wait(PATIENCE_S), "the request in work was not told that its client has gone"
    assert app.answered.wait(PATIENCE_S), caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_an_error_in_an_answer_is_still_logged(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(address) as client:
        client.sendall(request("/failing"))
        assert client.recv(1024).startswith(b"HTTP/1.1 500")
    assert "a real error" in caplog.text
