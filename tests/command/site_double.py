"""A small server that answers what a test tells it to, right or wrong, and keeps what it was sent."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.patience import PATIENCE_S

RUN = str(UUID(int=7))
SUBMISSION = str(UUID(int=9))

#: What is written to the connection; None for nothing at all, and the connection stays open.
Reply = bytes | None


@dataclass
class Asked:
    """One request as it came."""

    head: str
    body: bytes

    @property
    def target(self) -> str:
        return " ".join(self.head.split(" ", 2)[:2])

    def header(self, name: str) -> str:
        lines = [line for line in self.head.splitlines() if line.lower().startswith(f"{name.lower()}: ")]
        return lines[0].partition(": ")[2]


@dataclass
class SiteDouble:
    """Gives its replies one after the other, the last one again and again."""

    url: str
    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)

    @property
    def targets(self) -> list[str]:
        return [asked.target.split("?")[0] for asked in self.asked]


def answer(status: int, document: Any, **headers: str) -> bytes:
    """A well-formed answer."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def problem(status: int, code: str, detail: str, **facts: Any) -> bytes:
    """A problem document."""
    headers = {"Retry_After": str(facts.pop("retry_after"))} if "retry_after" in facts else {}
    return answer(status, {"status": status, "code": code, "detail": detail, **facts}, **headers)


def line(number: int = 1, state: str = "verified", code: str = "verified", **changes: Any) -> dict[str, Any]:
    """One record of an upload."""
    good = {"population": 4, "evacuated": 4, "steps": 12} if code == "verified" else None
    known: dict[str, Any] = {
        "line": number, "run": RUN, "known": False, "state": state, "code": code, "place": "",
        "message": "said", "metrics": good,
    }  # fmt: skip
    return known | changes


def submission(*lines: dict[str, Any], finished: bool = True) -> dict[str, Any]:
    """An upload."""
    return {"id": SUBMISSION, "finished": finished, "lines": list(lines)}


ACCEPTED = answer(201, submission(line()))


@contextmanager
def site_double(
    *replies: Reply, certificate: Path | None = None, reads: Callable[[int], int] = lambda size: size
) -> Iterator[SiteDouble]:
    """Serve; `reads` says how much of a body of some size is read before the reply."""
    listener = socket.create_server(("127.0.0.1", 0))
    scheme = "https" if certificate else "http"
    double = SiteDouble(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", list(replies))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            try:
                _converse(connection, double, certificate, reads)
            except OSError:
                connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in held:
            connection.close()
        thread.join(timeout=PATIENCE_S)
        assert not thread.is_alive(), "the double still talks to somebody"


def _converse(
    connection: socket.socket, double: SiteDouble, certificate: Path | None, reads: Callable[[int], int]
) -> None:
    connection.settimeout(PATIENCE_S)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        connection = context.wrap_socket(connection, server_side=True)
    stream = connection.makefile("rb")
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        got = stream.readline()
        if not got:
            connection.close()
            return
        head += got
    asked = Asked(head.decode("latin-1"), b"")
    size = int(asked.header("Content-Length")) if "content-length:" in asked.head.lower() else 0
    asked.body = stream.read(reads(size))
    double.asked.append(asked)
    reply = double.replies.pop(0) if len(double.replies) > 1 else double.replies[0]
    if reply is None:
        return
    connection.sendall(reply)
    stream.close()
    if reads(size) < size:
        connection.shutdown(socket.SHUT_WR)  # a close with unread bytes would reset the answer away
        while connection.recv(65536):
            pass
    connection.close()
