"""The API of a site, as far as ``ember submit`` needs it: requests, retries, and failures in words."""

from __future__ import annotations

import http.client
import os
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO, Literal, NoReturn, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec

from simulator.command.output import CommandError, os_reason
from simulator.command.site_access import SiteAccess
from simulator.command.verdict_lines import outcome_text
from simulator.limits import MIB
from simulator.record_files import GZIP_MAGIC
from simulator.versions import SIMULATOR_VERSION

ANSWER_MAX_BYTES = 32 * MIB
SEND_BYTES = 64 * 1024
RETRIED_STATUSES = (408, 429, 502, 503, 504)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
LINE_PLACE = re.compile(r"^line ([0-9]{1,9})(?:, |$)")

T = TypeVar("T")
Tell = Callable[[str], None]
Progress = Callable[[int], None]


class MetricsAnswer(msgspec.Struct):
    """The counts of a verified run that a line shows."""

    population: int
    evacuated: int
    steps: int


class LineAnswer(msgspec.Struct):
    """One record of an upload, as the site sees it."""

    line: int
    run: UUID | None
    known: bool
    state: Literal["queued", "running", "verified", "rejected", "failed"]
    code: str
    place: str
    message: str
    metrics: dict[str, Any] | None

    def __post_init__(self) -> None:
        if self.metrics is not None:
            msgspec.convert(self.metrics, MetricsAnswer)

    @property
    def outcome(self) -> str | None:
        """What the run achieved; None until it is verified."""
        if self.metrics is None:
            return None
        counts = msgspec.convert(self.metrics, MetricsAnswer)
        return outcome_text(evacuated=counts.evacuated, population=counts.population, steps=counts.steps)

    @property
    def record_place(self) -> str:
        """The place inside the record, without the line."""
        return LINE_PLACE.sub("", self.place)

    @property
    def is_open(self) -> bool:
        """Whether the verdict is still to come."""
        return self.state in ("queued", "running")


class SubmissionAnswer(msgspec.Struct):
    """One upload, as the site sees it."""

    id: UUID
    finished: bool
    lines: list[LineAnswer]


class Problem(msgspec.Struct):
    """The problem document of a refusal, as far as it is one."""

    status: int = 0
    code: str = ""
    detail: str = ""
    place: str | None = None
    limit: int | None = None
    used: int | None = None
    retry_at: str | None = None
    submission: UUID | None = None


class SiteRefusal(CommandError):
    """The site has answered with an error that trying again does not mend."""

    def __init__(self, status: int, problem: Problem, site: str) -> None:
        self.status = status
        self.problem = problem
        code = problem.code or f"http_{status}"
        super().__init__(
            _refusal_sentence(status, problem, site), code=code, place=problem.place, status=status,
            limit=problem.limit, retry_at=problem.retry_at,
        )  # fmt: skip


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class _Unreached(Exception):
    """The connection failed: the same again may succeed."""


class SiteClient:
    """
    Talks to one site, one request at a time.

    What may pass is tried again, with growing pauses, until nothing has succeeded for `patience_s`: no
    connection, a connection that breaks, 429 at the instant that the site names, and 408, 502, 503, 504.
    Redirects are never followed, so the token goes to no other host. `silence_s` is how long the site may
    say nothing.
    """

    def __init__(self, access: SiteAccess, *, tell: Tell, patience_s: float, silence_s: float) -> None:
        self._access = access
        self._tell = tell
        self._patience_s = patience_s
        self._silence_s = silence_s

    def submission_send(
        self, file: BinaryIO, *, size_bytes: int, name: str, agent: str, progress: Progress
    ) -> SubmissionAnswer:
        """
        Upload a file. The same file again is harmless: the same records are the same runs.

        Raises:
            SiteRefusal: The site does not take it.
            CommandError: The site cannot be reached, or answers what it should not.
        """
        gzipped = file.read(2) == GZIP_MAGIC
        headers = {
            "Content-Type": "application/gzip" if gzipped else "application/x-ndjson",
            "Content-Length": str(size_bytes),
        }
        query = urlencode({"agent": agent, "filename": name}, quote_via=quote, errors="replace")

        def send() -> _Answer:
            file.seek(0)
            body = _Body(file, size_bytes, progress)
            return self._exchange("POST", f"/api/v1/submissions/?{query}", headers, body)

        return _decoded(self._tried(send, expected=201), SubmissionAnswer, self._access.url)

    def submission_get(self, submission: UUID) -> SubmissionAnswer:
        """
        An upload as it stands now.

        Raises:
            CommandError: As of `submission_send`.
        """
        path = f"/api/v1/submissions/{submission}/"
        answer = self._tried(lambda: self._exchange("GET", path, {}, None), expected=200)
        return _decoded(answer, SubmissionAnswer, self._access.url)

    def refused_lines(self, problem: Problem) -> list[LineAnswer]:
        """The lines of an upload of which none could be used; empty where the file itself is refused."""
        return [] if problem.submission is None else self.submission_get(problem.submission).lines

    def page_url(self, kind: Literal["runs", "submissions"], identity: UUID) -> str:
        """Address of the page of a run or an upload."""
        return f"{self._access.url}/{kind}/{identity}/"

    def _tried(self, request: Callable[[], _Answer], *, expected: int) -> _Answer:
        """Send a request until it is answered for good."""
        give_up_at = time.monotonic() + self._patience_s
        pause_s = FIRST_PAUSE_S
        while True:
            problem, wait_s = Problem(), pause_s
            try:
                answer = request()
            except _Unreached as failure:
                status, why = None, str(failure)
            else:
                if answer.status == expected:
                    return answer
                status, problem = answer.status, _problem_of(answer)
                if 300 <= status < 400:
                    self._refuse_redirect(answer)
                if status not in RETRIED_STATUSES:
                    raise SiteRefusal(status, problem, self._access.url)
                why = _refusal_sentence(status, problem, self._access.url)
                asked_s = _retry_after_s(answer, problem)
                wait_s = pause_s if asked_s is None else asked_s
            if time.monotonic() + wait_s > give_up_at:
                if status is not None:
                    raise SiteRefusal(status, problem, self._access.url)
                raise CommandError(f"{self._access.url}: {why}", code="site_unreachable")
            self._tell(f"{why}; trying again at {_clock_text(wait_s)}")
            time.sleep(wait_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _exchange(self, method: str, path: str, headers: dict[str, str], body: _Body | None) -> _Answer:
        """One request on a connection of its own."""
        connection = self._connection()
        sent = {
            "Authorization": f"Token {self._access.token}",
            "Accept": "application/json",
            "User-Agent": f"ember/{SIMULATOR_VERSION}",
            "Connection": "close",
            **headers,
        }
        try:
            try:
                connection.request(method, self._access.parts.path + path, body=body, headers=sent)
            except (BrokenPipeError, ConnectionResetError):
                if body is None or not body.begun:
                    raise
                # The site may have answered before it had read everything; that answer tells why.
            response = connection.getresponse()
            content = response.read(ANSWER_MAX_BYTES + 1)
            if response.length and len(content) <= ANSWER_MAX_BYTES:
                raise http.client.IncompleteRead(content, response.length)
        except ssl.SSLCertVerificationError as problem:
            message = f"its certificate cannot be trusted ({problem.verify_message})"
            raise CommandError(f"{self._access.url}: {message}", code="site_unreachable") from problem
        except TimeoutError as problem:
            raise _Unreached(f"no answer within {self._silence_s:g} s") from problem
        except (http.client.RemoteDisconnected, http.client.IncompleteRead) as problem:
            raise _Unreached("the connection was closed before the answer was complete") from problem
        except http.client.HTTPException as problem:
            self._refuse_answer(problem)
        except OSError as problem:
            raise _Unreached(f"cannot be reached ({os_reason(problem)})") from problem
        finally:
            connection.close()
        if len(content) > ANSWER_MAX_BYTES:
            self._refuse_answer(None)
        return _Answer(response.status, response.headers, content)

    def _connection(self) -> http.client.HTTPConnection:
        parts = self._access.parts
        host = parts.hostname or ""
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, parts.port, timeout=self._silence_s, blocksize=SEND_BYTES)
        trusted = ssl.create_default_context()
        return http.client.HTTPSConnection(
            host, parts.port, timeout=self._silence_s, blocksize=SEND_BYTES, context=trusted
        )

    def _refuse_redirect(self, answer: _Answer) -> NoReturn:
        target = answer.headers.get("Location", "another address")[:300]
        message = f"{self._access.url} sends on to {target}: if that is the site, name it with --site"
        raise CommandError(message, code="site_answer")

    def _refuse_answer(self, problem: Exception | None) -> NoReturn:
        raise _answer_bad(self._access.url) from problem


class _Body:
    """The file as the connection reads it, telling how much has been read."""

    def __init__(self, file: BinaryIO, size_bytes: int, progress: Progress) -> None:
        self._file = file
        self._left = size_bytes
        self._size = size_bytes
        self._progress = progress

    @property
    def begun(self) -> bool:
        return self._left < self._size

    def read(self, length: int = SEND_BYTES, /) -> bytes:
        chunk = self._file.read(min(length, self._left))
        self._left -= len(chunk)
        self._progress(self._size - self._left)
        return chunk


def _decoded(answer: _Answer, shape: type[T], site: str) -> T:
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as problem:
        raise _answer_bad(site) from problem


def _answer_bad(site: str) -> CommandError:
    message = "answers in a way that this version of ember does not understand: is it an EMBERBench site?"
    return CommandError(f"{site} {message}", code="site_answer")


def _problem_of(answer: _Answer) -> Problem:
    try:
        return msgspec.json.decode(answer.body, type=Problem)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return Problem()


def _retry_after_s(answer: _Answer, problem: Problem) -> float | None:
    """For how long the site asks to wait."""
    text = answer.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 9:
        return max(float(text), 0.1)
    try:
        at = parsedate_to_datetime(text) if text else datetime.fromisoformat(problem.retry_at or "")
        return max((at - datetime.now(UTC)).total_seconds(), 0.1)
    except (TypeError, ValueError):  # no such time, or one without a zone
        return None


def _clock_text(wait_s: float) -> str:
    """The exact local time of the next try."""
    now = datetime.now().astimezone()
    at = now + timedelta(seconds=wait_s)
    form = "%H:%M:%S %Z" if at.date() == now.date() else "%Y-%m-%d %H:%M:%S %Z"
    return at.strftime(form).strip()


def _refusal_sentence(status: int, problem: Problem, site: str) -> str:
    """What an error answer means for the person at the command."""
    said = problem.detail or f"the site answers {status} and does not say why"
    if status == 401:
        return f"{said} Make a token with the scope submit at {site}/me/tokens/"
    if status == 404 and not problem.code:
        return f"{site} has no such address: is it an EMBERBench site?"
    if status >= 500 and not problem.code:
        return f"the site has failed (status {status}); nothing you sent is to blame"
    return said


def file_size(file: BinaryIO) -> int:
    """Size of a seekable file; it is left at its beginning."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size
