"""`ember submit` against the real site: its API, its queue, its worker."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.command.conftest import ROOT, ember_command, ember_environment
from tests.patience import PATIENCE_S
from tests.site_server import SiteServer, port_keep

Answers = list[dict[str, object]]
MEMBER = """
import django
django.setup()
from ember_site.accounts.models import User
from ember_site.accounts import services as accounts
from ember_site.runs import services as runs
user = User.objects.create_user("sender")
agent = runs.agent_create(owner=user, fields={"name": "Sent agent"})
for scope in ("submit", "read"):
    print(accounts.token_create(owner=user, name=scope, scope=scope, days=1)[1])
print(agent.slug)
"""


@dataclass
class Site:
    """The running site, and an account with an agent."""

    server: SiteServer
    data: Path
    port: int
    url: str
    token: str
    read_token: str
    agent: str

    def restart(self) -> None:
        """Stop it and start it again at the same address."""
        self.server.stop()
        self.server = SiteServer(self.data, "--no-demo", port=self.port)
        self.server.wait_ready()

    def run_count(self) -> int:
        """How many runs the agent has, as the API counts them."""
        url = f"{self.url}/api/v1/runs/?agent={self.agent}&mine=true"
        with urlopen(Request(url, headers={"Authorization": f"Token {self.token}"})) as reply:
            return len(json.load(reply)["results"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("site")
    holder = port_keep()
    port = holder.getsockname()[1]
    server = SiteServer(data, "--no-demo", port=port)
    try:
        url = server.wait_ready()
        environment = {**os.environ, "EMBER_DATA": str(data), "DJANGO_SETTINGS_MODULE": "ember_site.settings"}
        environment.pop("SECRET_KEY", None)
        done = subprocess.run(
            [sys.executable, "-c", MEMBER],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        token, read_token, agent = done.stdout.split()
        found = Site(server, data, port, url, token, read_token, agent)
        yield found
        server = found.server
    finally:
        server.stop()
        holder.close()


@pytest.fixture
def start(site: Site, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start `ember submit` as a process that knows the site and the token."""

    def run(*arguments: str, token: str | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ember_command(*arguments),
            cwd=tmp_path,
            env={**ember_environment(), "EMBER_SITE": site.url, "EMBER_TOKEN": token or site.token},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return run


@pytest.fixture
def send(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., tuple[int, str, str]]:
    """Run it to the end: exit code, standard output, standard error."""

    def run(*arguments: str, token: str | None = None) -> tuple[int, str, str]:
        process = start("submit", *arguments, token=token)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    return run


@pytest.fixture
def files(tmp_path: Path, greedy_lines: list[str]) -> Path:
    """Ten good records, and four of which some are not."""
    (tmp_path / "good.jsonl").write_text("\n".join(greedy_lines) + "\n")
    forged = greedy_lines[1].replace('"moved"', '"stayed"', 1)
    unknown = re.sub('"scenario_hash":"[0-9a-f]*"', f'"scenario_hash":"{"0" * 64}"', greedy_lines[2])
    (tmp_path / "mixed.jsonl").write_text("\n".join([greedy_lines[0], forged, "{bad", "", unknown]))
    (tmp_path / "hopeless.jsonl").write_text("{bad\n17\n")
    return tmp_path


def lines_of(out: str) -> list[str]:
    """The verdict lines, without the addresses between them."""
    return [line for line in out.splitlines() if not line.startswith("  ")]


@pytest.mark.parametrize("name", ["good.jsonl", "mixed.jsonl", "hopeless.jsonl"])
def test_the_site_says_what_verify_says(
    name: str, send: Callable[..., tuple[int, str, str]], files: Path, site: Site
) -> None:
    code, out, err = send(name, "--agent", site.agent)
    here = subprocess.run(
        ember_command("verify", name), cwd=files, env=ember_environment(), capture_output=True, text=True
    )
    assert lines_of(out) == here.stdout.splitlines(), err
    assert code == here.returncode
    for link in (line.strip() for line in out.splitlines() if line.startswith("  ")):
        assert re.fullmatch(re.escape(site.url) + r"/runs/[0-9a-f-]{36}/", link)
        with urlopen(Request(link.replace("/runs/", "/api/v1/runs/"), headers=auth(site))) as reply:
            assert reply.status == 200


def auth(site: Site) -> dict[str, str]:
    return {"Authorization": f"Token {site.token}"}


def test_the_same_file_again_goes_on_where_it_was_interrupted(
    send: Callable[..., tuple[int, str, str]],
    start: Callable[..., subprocess.Popen[str]],
    files: Path,
    site: Site,
) -> None:
    first = start("submit", "good.jsonl", "--agent", site.agent)
    assert first.stderr is not None
    assert "10 sent" in first.stderr.readline()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    before = site.run_count()
    code, out, _ = send("good.jsonl", "--agent", site.agent, "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["code"] for answer in answers] == ["verified"] * 10
    assert all(answer["known"] for answer in answers)
    assert site.run_count() == before
    assert code == 0


def test_the_command_survives_a_restart_of_the_site(
    start: Callable[..., subprocess.Popen[str]], files: Path, site: Site, greedy_lines: list[str]
) -> None:
    seeds = [
        line.replace('"seed":0,', f'"seed":{seed},') for seed in range(1, 60) for line in greedy_lines[:4]
    ]
    (files / "many.jsonl").write_text("\n".join(seeds))
    process = start("submit", "many.jsonl", "--agent", site.agent, "--json")
    assert process.stderr is not None
    site.restart()
    out, err = process.communicate(timeout=5 * PATIENCE_S)
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == len(seeds), err
    assert {answer["code"] for answer in answers} == {"verified"}
    assert process.returncode == 0


def test_what_the_site_refuses_is_said_with_its_code(
    send: Callable[..., tuple[int, str, str]], files: Path, site: Site
) -> None:
    def failure(*arguments: str, token: str | None = None) -> dict[str, object]:
        code, out, _ = send(*arguments, "--json", token=token)
        assert code == 1
        error: dict[str, object] = json.loads(out.splitlines()[-1])["error"]
        return error

    assert failure("good.jsonl", "-a", "nobody")["code"] == "not_found"
    assert failure("good.jsonl", "-a", "greedy")["code"] == "forbidden"
    assert failure("good.jsonl", "-a", site.agent, token="ember_unknown")["code"] == "bad_token"
    assert failure("good.jsonl", "-a", site.agent, token=site.read_token)["code"] == "token_scope"
    (files / "large").write_bytes(os.urandom(17 * 1024 * 1024))
    large = failure("large", "-a", site.agent)
    assert (large["code"], large["status"], large["file"]) == ("too_large", 413, "large")
