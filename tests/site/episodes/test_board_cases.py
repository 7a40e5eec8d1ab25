"""The cases that tests/js read are what the simulator gives."""

from tests.site.episodes.board_cases import FILE, cases, text


def test_the_committed_cases_are_those_of_the_simulator() -> None:
    assert FILE.read_text() == text(), "run: python -m tests.site.episodes.board_cases"


def test_the_cases_show_every_outcome() -> None:
    outcomes = {outcome for case in cases()["steps"] for outcome in case["movements"].values()}
    assert outcomes == {
        "stayed",
        "moved",
        "blocked_bounds",
        "blocked_wall",
        "blocked_fire",
        "blocked_conflict",
        "blocked_cycle",
        "blocked_occupied",
    }
