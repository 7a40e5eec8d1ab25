"""`ember run` with a policy of one's own: what it gets, what it may print, and its faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simulator import RunRecord, Scenario, replay
from tests.command.conftest import PUBLIC, Process

Invoke = Callable[..., Result]
FIXTURE = "narrow_corridor"

OWN_POLICIES = '''
import sys


def still(observation):
    return {p.id: "stay" for p in observation.people if p.status == "active"}


def east(observation):
    return {p.id: "east" for p in observation.people if p.status == "active"}


def breaks(observation):
    if observation.step == 2:
        return 1 / 0
    return still(observation)


def leaves(observation):
    sys.exit("enough")


def forgets(observation):
    actions = still(observation)
    if observation.step == 1:
        actions.pop("P2")
    return actions


def flies(observation):
    return {**still(observation), "P3": "up"}


def nothing(observation):
    return None


def looks(observation):
    assert not hasattr(observation, "seed") and not hasattr(observation, "trapped")
    assert type(observation).__name__ == "Observation"
    return still(observation)


class Counting:
    """East in the odd steps of an episode: wrong if it does not start anew."""

    def __init__(self):
        self.calls = 0

    def for_episode(self):
        return Counting()

    def __call__(self, observation):
        assert self.calls == observation.step
        self.calls += 1
        return east(observation) if self.calls % 2 else still(observation)


class Tricky(dict):
    """A mapping that fails while it is read."""

    def __iter__(self):
        raise LookupError("not today")

    keys = __iter__


def tricks(observation):
    return Tricky(still(observation))


def changes(observation):
    observation.step = 7


def pairs(observation):
    return tuple(still(observation).items())


counting = Counting()
number = 7
'''


@pytest.fixture(autouse=True)
def own_policies(tmp_path: Path) -> Path:
    """A module of policies in the directory where the command runs."""
    path = tmp_path / f"mine_{tmp_path.name.replace('-', '_')}.py"
    path.write_text(OWN_POLICIES)
    return path


@pytest.fixture
def mine(own_policies: Path) -> Callable[[str], str]:
    return lambda name: f"{own_policies.stem}:{name}"


def test_an_own_function_is_found_in_the_current_directory(
    ember: Callable[..., Process], tmp_path: Path, mine: Callable[[str], str]
) -> None:
    done = ember("run", FIXTURE, "-p", mine("east"), "-o", "r.json")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "r.json").read_text()
    scenario = load_fixture()
    assert replay(text, scenario).verified


def load_fixture() -> Scenario:
    return Scenario.from_json((PUBLIC.parents[1] / "fixtures" / f"{FIXTURE}.json").read_bytes())


def test_a_policy_sees_nothing_but_observations(invoke: Invoke, mine: Callable[[str], str]) -> None:
    assert invoke("run", FIXTURE, "-p", mine("looks")).exit_code == 0


def test_a_policy_with_memory_starts_anew_in_each_episode(invoke: Invoke, mine: Callable[[str], str]) -> None:
    done = invoke("run", "--suite", str(PUBLIC), "-p", mine("counting"))
    assert done.exit_code == 0, done.stderr


TALKATIVE_POLICY = """
print("imported")


class Talkative:
    def for_episode(self):
        print("asked")
        return self

    def __call__(self, observation):
        print("thinking about", observation.step)
        return {p.id: "stay" for p in observation.people if p.status == "active"}


policy = Talkative()
"""


def test_what_a_policy_prints_does_not_mix_with_the_answer(
    ember: Callable[..., Process], tmp_path: Path
) -> None:
    (tmp_path / "talkative.py").write_text(TALKATIVE_POLICY)
    done = ember("run", FIXTURE, "-p", "talkative:policy", "-o", "-")
    assert RunRecord.from_json(done.stdout)
    assert "imported\nasked\nthinking about 0\nthinking about 1\n" in done.stderr
    done = ember("run", FIXTURE, "-p", "talkative:policy", "--json")
    assert json.loads(done.stdout)["ok"] is True
    assert done.stderr.startswith("imported\nasked\nthinking about 0\n")


@pytest.mark.parametrize(
    ("policy", "code", "place", "said"),
    [
        (
            "breaks",
            "policy_failed",
            None,
            "failed in step 3 of narrow_corridor: ZeroDivisionError: division by zero",
        ),
        ("leaves", "policy_failed", None, "failed in step 1 of narrow_corridor: SystemExit: enough"),
        ("forgets", "wrong_actions", "actions.P2", "gave wrong actions in step 2 of narrow_corridor"),
        ("flies", "wrong_actions", "actions.P3", 'got "up"'),
        ("nothing", "wrong_actions", "actions", "expected an object of actions"),
        ("pairs", "wrong_actions", "actions", "got a Python tuple"),
        ("tricks", "policy_failed", None, "failed in step 1 of narrow_corridor: LookupError: not today"),
        ("changes", "policy_failed", None, "FrozenInstanceError: cannot assign to field 'step' (mine_"),
    ],
)
def test_a_faulty_policy_is_named_with_step_and_place(
    invoke: Invoke, mine: Callable[[str], str], policy: str, code: str, place: str | None, said: str
) -> None:
    done = invoke("run", FIXTURE, "-p", mine(policy))
    assert done.exit_code == 1
    assert said in done.stderr
    assert place is None or place in done.stderr
    assert "Traceback" not in done.output
    assert len(done.stderr.splitlines()) == 1
    answer = json.loads(invoke("run", FIXTURE, "-p", mine(policy), "--json").stdout)
    assert answer["ok"] is False
    assert (answer["error"]["code"], answer["error"]["place"]) == (code, place)
    assert answer["error"]["scenario_id"] == FIXTURE
    assert answer["error"]["step"] in (1, 2, 3)


def test_the_fault_of_a_policy_is_shown_with_its_line_and_on_request_whole(
    ember: Callable[..., Process], mine: Callable[[str], str], own_policies: Path
) -> None:
    line = OWN_POLICIES.splitlines().index("        return 1 / 0") + 1
    assert f"({own_policies.name}, line {line})" in ember("run", FIXTURE, "-p", mine("breaks")).stderr
    assert "Traceback" in ember("run", FIXTURE, "-p", mine("breaks"), "--debug").stderr


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("nobody", "no policy 'nobody': expected one of stay, random, greedy"),
        ("no_such_module:f", "no module 'no_such_module'"),
        ("simulator.nothing:f", "no module 'simulator.nothing'"),
        ("json:", "expected one of"),
        (":f", "expected one of"),
        (".beside:f", "expected one of"),
    ],
)
def test_a_policy_that_is_not_there_is_wrong_use(invoke: Invoke, policy: str, said: str) -> None:
    done = invoke("run", FIXTURE, "-p", policy)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("name", "said"), [("absent", "has no absent"), ("number", "is of the type int"), ("Counting", "a class")]
)
def test_what_is_no_function_is_wrong_use(
    invoke: Invoke, mine: Callable[[str], str], name: str, said: str
) -> None:
    done = invoke("run", FIXTURE, "-p", mine(name))
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_module_that_fails_while_it_is_imported_is_the_policys_fault(
    invoke: Invoke, tmp_path: Path
) -> None:
    (tmp_path / "broken_module_of_mine.py").write_text("import nothing_of_this_name\n")
    done = invoke("run", FIXTURE, "-p", "broken_module_of_mine:f")
    assert done.exit_code == 1
    assert "could not be imported: ModuleNotFoundError" in done.stderr
    assert "(broken_module_of_mine.py, line 1)" in done.stderr
    (tmp_path / "misspelt_module_of_mine.py").write_text("def f(:\n")
    done = invoke("run", FIXTURE, "-p", "misspelt_module_of_mine:f")
    assert done.exit_code == 1
    assert done.stderr.rstrip().endswith("SyntaxError: invalid syntax (misspelt_module_of_mine.py, line 1)")
