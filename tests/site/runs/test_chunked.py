"""Uploads in chunks that name no length, as a client sends what it makes while it sends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator

from ember_site.accounts.models import ApiToken
from ember_site.accounts.services import token_create
from ember_site.asgi import application
from ember_site.runs.models import Agent, Run, Submission
from tests.patience import PATIENCE_S
from tests.site.runs.test_submissions import ten

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("suite")]

CHUNK_BYTES = 5000
BOUNDARY = "edge"


@sync_to_async
def token_of(agent: Agent) -> str:
    assert agent.owner is not None
    return token_create(owner=agent.owner, name="chunks", scope=ApiToken.Scope.SUBMIT, days=1)[1]


async def post(agent: Agent, body: bytes, content_type: str) -> tuple[int, dict[str, Any]]:
    """Post a body in chunks, without its length, through the whole application."""
    token = await token_of(agent)
    path = "/api/v1/submissions/"
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": f"agent={agent.slug}".encode(),
        "headers": [
            (b"host", b"testserver"),
            (b"transfer-encoding", b"chunked"),
            (b"content-type", content_type.encode()),
            (b"authorization", f"Token {token}".encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }
    talk = ApplicationCommunicator(application, scope)
    for start in range(0, len(body), CHUNK_BYTES):
        chunk = body[start : start + CHUNK_BYTES]
        more = start + CHUNK_BYTES < len(body)
        await talk.send_input({"type": "http.request", "body": chunk, "more_body": more})
    head = await talk.receive_output(timeout=PATIENCE_S)
    answer = b""
    while True:
        message = await talk.receive_output(timeout=PATIENCE_S)
        answer += message.get("body", b"")
        if not message.get("more_body", False):
            break
    await talk.wait(timeout=PATIENCE_S)
    return head["status"], json.loads(answer)


async def test_the_body_is_the_file(agent: Agent) -> None:
    status, body = await post(agent, ten(), "application/x-ndjson")
    assert status == 201, body
    assert body["counts"]["total"] == 10
    assert await Run.objects.acount() == 10
    assert (await Submission.objects.aget()).size_bytes == len(ten())


async def test_the_body_is_a_form(agent: Agent) -> None:
    head = (
        f"--{BOUNDARY}\r\n"
        'Content-Disposition: form-data; name="file"; filename="runs.jsonl"\r\n'
        "Content-Type: application/x-ndjson\r\n\r\n"
    )
    form = head.encode() + ten() + f"\r\n--{BOUNDARY}--\r\n".encode()
    status, body = await post(agent, form, f"multipart/form-data; boundary={BOUNDARY}")
    assert status == 201, body
    assert (body["filename"], body["counts"]["total"]) == ("runs.jsonl", 10)
