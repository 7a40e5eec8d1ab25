"""Bodies are cut at their limit before Django stores them, and refused with the limit named."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ember_site.asgi import application
from ember_site.bodies import length_tell

pytestmark = pytest.mark.django_db(transaction=True)


async def send(
    path: str, chunks: list[bytes], *, accept: bytes = b"application/json"
) -> tuple[int, bytes, int]:
    """Post chunks without a length; give status, body and the number of chunks that were read."""
    waiting: Iterator[bytes] = iter(chunks)
    read = 0
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        nonlocal read
        chunk = next(waiting, None)
        if chunk is None:
            await asyncio.Event().wait()  # the sender stays until it has its answer
            raise AssertionError("never")
        read += 1
        return {"type": "http.request", "body": chunk, "more_body": read < len(chunks)}

    async def answer(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"accept", accept), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }
    await application(scope, receive, answer)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], body, read


async def test_a_body_over_the_limit_is_refused_with_the_limit(settings: Any) -> None:
    settings.EMBER_FORM_MAX_BYTES = 1000
    status, body, read = await send("/accounts/login/", [b"x" * 600] * 4)
    problem = json.loads(body)
    assert status == 413
    assert problem["code"] == "too_large"
    assert problem["limit"] == problem["limit_bytes"] == 1000
    assert read == 4, "the rest is read and thrown away, so that the sender sees the answer"


async def test_a_person_sees_a_page(settings: Any) -> None:
    settings.EMBER_FORM_MAX_BYTES = 1000
    status, body, _ = await send("/accounts/login/", [b"x" * 1001], accept=b"text/html")
    assert status == 413
    assert b"larger than the limit of 1,000 bytes" in body
    assert b"<!doctype html>" in body.lower()


async def test_a_sender_without_end_is_not_read_for_ever(settings: Any) -> None:
    settings.EMBER_FORM_MAX_BYTES = 1000
    status, _, read = await send("/accounts/login/", [b"x" * 1000] * 100)
    assert status == 413
    assert read == 17


async def test_a_body_at_the_limit_passes(settings: Any) -> None:
    settings.EMBER_FORM_MAX_BYTES = 1000
    status, _, _ = await send("/no/such/page/", [b"x" * 500] * 2)
    assert status == 404


async def test_uploads_have_their_own_limit(settings: Any) -> None:
    settings.EMBER_FORM_MAX_BYTES = 1000
    status, _, _ = await send("/submit/", [b"x" * 2000], accept=b"text/html")
    assert status != 413
    settings.EMBER_UPLOAD_MAX_BYTES = 1000
    settings.EMBER_UPLOAD_ENVELOPE_BYTES = 500
    status, body, _ = await send("/submit/", [b"x" * 2000])
    assert (status, json.loads(body)["limit_bytes"]) == (413, 1000), "the limit that the page states"


def test_a_body_that_named_no_length_has_one_once_it_is_there() -> None:
    scope: dict[str, Any] = {"headers": [(b"host", b"testserver")]}
    length_tell(scope, 312)
    assert scope["headers"] == [(b"host", b"testserver"), (b"content-length", b"312")]
    length_tell(scope, 5)
    assert len(scope["headers"]) == 2, "a length that is told is not told again"
    empty: dict[str, Any] = {"headers": []}
    length_tell(empty, 0)
    assert empty["headers"] == []
