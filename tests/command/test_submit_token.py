"""`ember submit`: which site, which token, and that the token goes nowhere else."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simulator.command.output import CommandError
from simulator.command.site_access import SiteAccess, site_access, site_url
from simulator.command.site_client import SiteClient
from tests.command.conftest import ROOT, SUBMIT_TOKEN
from tests.command.site_double import ACCEPTED, SUBMISSION, answer, site_double

Invoke = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("submit_environment")
CERTIFICATE = ROOT / "tests" / "data" / "untrusted_site.pem"


# --- where the token goes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(status: int, send: Callable[..., Result]) -> None:
    with site_double(ACCEPTED) as other, site_double(answer(status, b"", Location=other.url)) as site:
        done = send(site.url)
        assert other.asked == []
    assert done.exit_code == 1
    assert other.url in done.stderr


def test_an_untrusted_certificate_ends_it_before_anything_is_sent(send: Callable[..., Result]) -> None:
    with site_double(ACCEPTED, certificate=CERTIFICATE) as site:
        done = send(site.url)
        assert site.asked == []
    assert done.exit_code == 1
    assert "certificate cannot be trusted" in done.stderr


def test_a_trusted_certificate_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with site_double(ACCEPTED, certificate=CERTIFICATE) as site:
        client = SiteClient(SiteAccess(site.url, SUBMIT_TOKEN), tell=print, patience_s=0, silence_s=20)
        got = client.submission_send(
            io.BytesIO(b"{}"), size_bytes=2, name="r", agent="a", progress=lambda sent: None
        )
    assert str(got.id) == SUBMISSION


def test_an_unencrypted_site_elsewhere_is_noted(invoke: Invoke, record: str) -> None:
    done = invoke("submit", "r.jsonl", "-a", "a", "--site", "http://site.invalid", "--patience", "0")
    assert "http://site.invalid is not encrypted" in done.stderr


def test_the_token_shows_in_no_repr_or_trace(invoke: Invoke, record: str) -> None:
    assert SUBMIT_TOKEN not in repr(SiteAccess("https://x", SUBMIT_TOKEN))
    with site_double(answer(201, b"garbage")) as site:
        done = invoke("submit", "r.jsonl", "-a", "a", "--site", site.url, "--debug")
    assert SUBMIT_TOKEN not in done.output + done.stderr


# --- settings ---------------------------------------------------------------------------------------------


def config(tmp_path: Path, text: str, mode: int = 0o600) -> Path:
    path = tmp_path / "config" / "emberbench" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_site_and_token_come_from_the_config_file(
    invoke: Invoke, record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMBER_TOKEN")
    with site_double(ACCEPTED) as site:
        config(tmp_path, f'site = "{site.url}/"\ntoken = "ember_of_the_file"\n')
        done = invoke("submit", "r.jsonl", "-a", "a")
    assert done.exit_code == 0, done.stderr
    assert site.asked[0].header("Authorization") == "Token ember_of_the_file"


def test_the_token_of_the_file_goes_to_its_own_site_only(
    send: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMBER_TOKEN")
    config(tmp_path, 'site = "https://home.example"\ntoken = "ember_of_the_file"\n')
    with site_double(ACCEPTED) as site:
        done = send(site.url)
        assert site.asked == []
    assert done.exit_code == 2
    assert "expected a token" in done.stderr


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ('site = "https://x"\ntoken = "t"\n', 0o644, "chmod 600"),
        ('site = "https://x"\ntoken = "t"\n', 0o640, "chmod 600"),
        ("token = ember_secret\n", 0o600, "expected lines like"),
        ('tokens = "ember_secret"\n', 0o600, "expected only the texts site and token, got tokens"),
        ("token = 5\n", 0o600, "expected only the texts"),
        ('site = "ftp://x"\n', 0o600, "expected the address of a site"),
    ],
)
def test_a_config_file_that_will_not_do_is_refused(
    invoke: Invoke, record: str, tmp_path: Path, text: str, mode: int, said: str
) -> None:
    config(tmp_path, text, mode)
    done = invoke("submit", "r.jsonl", "-a", "a")
    assert done.exit_code == 2
    assert said in done.stderr
    assert "ember_secret" not in done.stderr


def test_a_config_file_without_a_token_may_be_read_by_others(
    invoke: Invoke, record: str, tmp_path: Path
) -> None:
    with site_double(ACCEPTED) as site:
        config(tmp_path, f'site = "{site.url}"\n', 0o644)
        assert invoke("submit", "r.jsonl", "-a", "a").exit_code == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["r.jsonl", "--site", "https://x"], "wrong_use"),
        (["r.jsonl", "-a", "a"], "no_site"),
        (["-", "-", "-a", "a", "--site", "https://x"], "wrong_use"),
        (["r.jsonl", "-a", "a", "--site", "https://user:pass@x"], "wrong_use"),
        (["r.jsonl", "-a", "a", "--site", "https://x/?q"], "wrong_use"),
        (["r.jsonl", "-a", "a", "--site", "https://x:99999"], "wrong_use"),
        (["r.jsonl", "-a", "a", "--site", "https://x y"], "wrong_use"),
        (["r.jsonl", "-a", "a", "--site", "https://"], "wrong_use"),
        (["absent.jsonl", "-a", "a", "--site", "https://x"], "file_unreadable"),
    ],
)
def test_wrong_use_is_said_before_anything_is_sent(
    invoke: Invoke, record: str, options: list[str], code: str
) -> None:
    done = invoke("submit", *options, "--json")
    assert done.exit_code == 2
    [failure] = [json.loads(text) for text in done.stdout.splitlines()]
    assert failure["error"]["code"] == code


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "é", "x" * 501])
def test_a_token_that_would_break_a_header_is_refused(token: str) -> None:
    with pytest.raises(CommandError) as caught:
        site_access("https://x", {"EMBER_TOKEN": token})
    assert caught.value.code == "no_token"
    assert token not in caught.value.message


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTPS://Ember.Example:443/", "https://ember.example"),
        ("ember.example", "https://ember.example"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://localhost:80/a/b/", "http://localhost/a/b"),
    ],
)
def test_an_address_has_one_form(text: str, url: str) -> None:
    assert site_url(text) == url
