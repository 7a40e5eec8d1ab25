"""`ember submit` against a server that does as it is told: answers, failures and retries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.command.conftest import SUBMIT_TOKEN, Process, on_a_terminal
from tests.command.site_double import (
    ACCEPTED,
    RUN,
    SUBMISSION,
    Reply,
    answer,
    line,
    problem,
    site_double,
    submission,
)
from tests.patience import PATIENCE_S, wait_until

Invoke = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("submit_environment")
KEYS = {
    "file", "line", "verified", "code", "message", "place", "state", "known", "metrics", "scenario_id",
    "scenario_hash", "seed", "run", "run_url", "submission_url",
}  # fmt: skip


# --- what is sent and printed -----------------------------------------------------------------------------


def test_the_bytes_are_sent_as_they_are_with_agent_name_and_token(
    send: Callable[..., Result], record: str
) -> None:
    with site_double(ACCEPTED) as site:
        done = send(site.url)
    assert done.exit_code == 0
    [asked] = site.asked
    assert asked.target == "POST /api/v1/submissions/?agent=my-agent&filename=r.jsonl"
    assert asked.header("Authorization") == f"Token {SUBMIT_TOKEN}"
    assert asked.header("Content-Type") == "application/x-ndjson"
    assert asked.body == record.encode() + b"\n"
    assert done.stdout.splitlines() == [
        "r.jsonl:1: verified  4 of 4 evacuated  12 steps  v1-pub-01-single-exit-sparse",
        f"  {site.url}/runs/{RUN}/",
    ]
    assert f"{site.url}/submissions/{SUBMISSION}/" in done.stderr


def test_a_site_may_live_under_a_path(send: Callable[..., Result]) -> None:
    with site_double(ACCEPTED) as site:
        done = send(f"{site.url}/ember/")
    assert site.targets == ["POST /ember/api/v1/submissions/"]
    assert f"{site.url}/ember/runs/{RUN}/" in done.stdout


def test_verdicts_are_waited_for_and_printed_in_order(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("{}\n{}\n{}\n")
    bad = line(2, "rejected", "replay_mismatch", place="steps[0].step", message="no")
    replies = [
        answer(201, submission(line(1, "queued", ""), line(2, "queued", ""), line(3, "queued", ""))),
        answer(200, submission(line(1, "running", ""), bad, line(3, "queued", ""))),
        answer(200, submission(line(1), bad, line(3, "queued", ""))),
        answer(200, submission(line(1), bad, line(3, "failed", "internal", message="our fault"))),
    ]
    with site_double(*replies) as site:
        done = invoke("submit", "r.jsonl", "-a", "a", "--site", site.url, "--json")
    answers = [json.loads(text) for text in done.stdout.splitlines()]
    assert [(a["line"], a["code"], a["verified"]) for a in answers] == [
        (1, "verified", True),
        (2, "replay_mismatch", False),
        (3, "internal", False),
    ]
    assert all(set(a) == KEYS for a in answers)
    assert answers[1]["place"] == "steps[0].step"
    assert site.targets[1:] == [f"GET /api/v1/submissions/{SUBMISSION}/"] * 3
    assert done.exit_code == 1


def test_without_waiting_the_states_are_printed(send: Callable[..., Result]) -> None:
    with site_double(answer(201, submission(line(1, "queued", "", message="")))) as site:
        done = send(site.url, "--no-wait")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "r.jsonl:1: queued"
    assert len(site.asked) == 1


def test_a_refused_file_is_printed_as_its_lines(send: Callable[..., Result]) -> None:
    refusal = problem(422, "record_format", "None of the 2 records", place="line 1", submission=SUBMISSION)
    lines = [
        line(n, "rejected", "record_format", run=None, place=f"line {n}, header", message="header: bad")
        for n in (1, 4)
    ]
    with site_double(refusal, answer(200, submission(*lines))) as site:
        done = send(site.url, "--json")
    answers = [json.loads(text) for text in done.stdout.splitlines()]
    assert [(a["line"], a["code"], a["place"], a["run_url"]) for a in answers] == [
        (1, "record_format", "header", None),
        (4, "record_format", "header", None),
    ]
    assert done.exit_code == 1


def test_a_file_refused_as_a_whole_is_one_line(send: Callable[..., Result]) -> None:
    refusal = problem(413, "limit_exceeded", "larger than", place="line 7", submission=SUBMISSION)
    with site_double(refusal, answer(200, submission())) as site:
        done = send(site.url)
    assert done.stdout.splitlines() == ["r.jsonl:7: limit_exceeded  larger than"]
    assert done.exit_code == 1


def test_one_refused_file_does_not_keep_back_the_next(invoke: Invoke, record: str) -> None:
    with site_double(problem(413, "too_large", "Too large.", limit=5), ACCEPTED) as site:
        done = invoke("submit", "r.jsonl", "absent.jsonl", "r.jsonl", "-a", "a", "--site", site.url)
    assert done.exit_code == 2
    assert "ember: r.jsonl: Too large." in done.stderr
    assert "ember: absent.jsonl: no such file" in done.stderr
    assert done.stdout.startswith("r.jsonl:1: verified")


def test_standard_input_is_sent_too(invoke: Invoke, record: str) -> None:
    with site_double(ACCEPTED) as site:
        done = invoke("submit", "-", "-a", "a", "--site", site.url, stdin=record.encode())
    assert site.asked[0].body == record.encode()
    assert done.stdout.startswith("stdin:1: verified")


def test_a_pipe_is_kept_so_that_it_can_be_sent_again(ember: Callable[..., Process], record: str) -> None:
    with site_double(b"", ACCEPTED) as site:
        done = ember("submit", "-", "-a", "a", "--site", site.url, stdin=record.encode())
    assert done.returncode == 0, done.stderr
    assert [asked.body for asked in site.asked] == [record.encode()] * 2


def test_a_terminal_shows_a_bar_while_a_large_file_is_sent(tmp_path: Path, greedy_lines: list[str]) -> None:
    (tmp_path / "r.jsonl").write_text("\n".join(greedy_lines))
    with site_double(answer(201, submission(line()))) as site:
        shown = on_a_terminal("submit", "r.jsonl", "-a", "a", "--site", site.url, cwd=tmp_path)
    assert "sending" in shown
    assert "verified" in shown


# --- what goes wrong and passes ---------------------------------------------------------------------------

CUT = answer(201, submission(line()))[:-20]
PASSING: dict[str, Reply] = {
    "closed at once": b"",
    "closed in the middle of the answer": CUT,
    "429": problem(429, "too_many", "The next is allowed at 12:00.", retry_after=1),
    "503": problem(503, "store_unavailable", "Our side."),
    "502 of a proxy": answer(502, b"<html>Bad gateway</html>"),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_tried_again(name: str, send: Callable[..., Result], record: str) -> None:
    with site_double(PASSING[name], ACCEPTED) as site:
        done = send(site.url)
    assert done.exit_code == 0, done.stderr
    assert [asked.body for asked in site.asked] == [record.encode() + b"\n"] * 2
    assert re.search(r"; trying again at \d\d:\d\d:\d\d", done.stderr)


def test_a_wait_longer_than_the_patience_is_told_and_not_begun(send: Callable[..., Result]) -> None:
    said = "The next is allowed at 2031-01-01T10:00:00Z."
    reply = problem(
        429, "too_many", said, retry_after=3600, retry_at="2031-01-01T10:00:00Z", limit=60, used=60
    )
    with site_double(reply) as site:
        done = send(site.url, "--json")
    [failure] = [json.loads(text) for text in done.stdout.splitlines()]
    assert (failure["error"]["code"], failure["error"]["status"]) == ("too_many", 429)
    assert failure["error"]["retry_at"] == "2031-01-01T10:00:00Z"
    assert said in failure["error"]["message"]
    assert done.exit_code == 1
    assert len(site.asked) == 1


@pytest.mark.parametrize("header", ["Fri, 31 Dec 2100 23:59:59 GMT", "soon", "99999999999999", "-5", "NaN"])
def test_any_retry_after_is_understood_or_ignored(header: str, send: Callable[..., Result]) -> None:
    with site_double(answer(429, {}, Retry_After=header)) as site:
        assert send(site.url, "--patience", "0").exit_code == 1
    assert len(site.asked) == 1


def test_a_connection_that_breaks_while_waiting_is_made_again(send: Callable[..., Result]) -> None:
    queued = answer(201, submission(line(1, "queued", "")))
    with site_double(queued, b"", answer(200, submission(line()))) as site:
        done = send(site.url)
    assert done.exit_code == 0
    assert len(site.asked) == 3


# --- what goes wrong for good -----------------------------------------------------------------------------

FINAL: dict[str, tuple[Reply, str, str]] = {
    "401": (problem(401, "bad_token", "The token is unknown."), "bad_token", "/me/tokens/"),
    "403": (problem(403, "token_scope", "The scope is read."), "token_scope", "The scope is read."),
    "404": (problem(404, "not_found", "You have no agent x.", place="agent"), "not_found", "no agent x"),
    "404 of something else": (answer(404, b"nothing"), "http_404", "is it an EMBERBench site?"),
    "422": (problem(422, "agent_kind", "A human agent.", place="agent"), "agent_kind", "A human agent."),
    "500": (problem(500, "internal", "Our side."), "internal", "Our side."),
    "500 of something else": (answer(500, b"oops"), "http_500", "nothing you sent is to blame"),
    "302": (answer(302, b"", Location="https://elsewhere.example/"), "site_answer", "elsewhere.example"),
    "307 without a place": (answer(307, b""), "site_answer", "another address"),
    "no JSON": (answer(201, b"hello"), "site_answer", "understand"),
    "JSON of another kind": (answer(201, ["hello"]), "site_answer", "understand"),
    "a run that is no ID": (answer(201, submission(line(run="../../x"))), "site_answer", "understand"),
    "a state unheard of": (answer(201, submission(line(state="lost"))), "site_answer", "understand"),
    "metrics without numbers": (answer(201, submission(line(metrics={}))), "site_answer", "understand"),
    "deep nesting": (answer(201, b"[" * 100_000), "site_answer", "understand"),
    "not UTF-8": (answer(201, b'{"id": "\xff"}'), "site_answer", "understand"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.9\r\n", "site_answer", "understand"),
    "endless headers": (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 500, "site_answer", "understand"),
    "an endless line": (b"HTTP/1.1 200 " + b"x" * 100_000, "site_answer", "understand"),
    "silence": (None, "site_unreachable", "no answer within 0.3 s"),
    "closed again and again": (b"", "site_unreachable", "closed before"),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_does_not_pass_is_said_in_one_line(name: str, send: Callable[..., Result]) -> None:
    reply, code, said = FINAL[name]
    silence = "0.3" if reply is None else str(PATIENCE_S)
    with site_double(reply) as site:
        done = send(site.url, "--json", "--patience", "0", "--silence", silence)
        plain = send(site.url, "--patience", "0", "--silence", silence)
        wait_until(lambda: len(site.asked) >= 2, "the double to have read what nobody waited for")
    [failure] = [json.loads(text) for text in done.stdout.splitlines()]
    assert failure["error"]["code"] == code
    assert said in failure["error"]["message"]
    assert done.exit_code == plain.exit_code == 1
    assert len(site.asked) == 2
    [sentence] = plain.stderr.splitlines()
    assert sentence.startswith("ember: ")


def test_an_answer_that_never_ends_is_not_read_to_its_end(
    send: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.command.site_client.ANSWER_MAX_BYTES", 1000)
    with site_double(answer(201, b" " * 5000)) as site:
        done = send(site.url)
    assert "understand" in done.stderr


def test_an_answer_given_before_all_was_read_is_heard(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(os.urandom(8 * 1024 * 1024))
    with site_double(
        problem(413, "too_large", "Too large.", limit=9), reads=lambda size: size // 100
    ) as site:
        done = invoke("submit", "r.jsonl", "-a", "a", "--site", site.url)
    assert done.stderr == "ember: r.jsonl: Too large.\n"


def test_nothing_that_a_site_says_can_steer_the_terminal(send: Callable[..., Result]) -> None:
    evil = "\x1b[2Jgone\x07\u202e"
    with site_double(answer(201, submission(line(1, "rejected", evil, message=evil)))) as site:
        first = send(site.url)
    with site_double(problem(403, "forbidden", evil)) as site:
        second = send(site.url)
    said = first.stdout + first.stderr + second.stdout + second.stderr
    assert "gone" in said
    assert not any(sign in said for sign in "\x1b\x07\u202e")


def test_patience_ends_where_no_verdict_comes(send: Callable[..., Result]) -> None:
    with site_double(
        answer(201, submission(line(1, "queued", ""))), answer(200, submission(line(1, "queued", "")))
    ) as site:
        done = send(site.url, "--patience", "0.1")
    assert done.exit_code == 1
    assert f"1 are still to come: {site.url}/submissions/{SUBMISSION}/" in done.stderr


def test_nobody_listens(send: Callable[..., Result]) -> None:
    with site_double(ACCEPTED) as site:
        gone = site.url
    done = send(gone, "--patience", "0")
    assert done.exit_code == 1
    assert "refused" in done.stderr
