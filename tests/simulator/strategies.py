"""Hypothesis strategies: adversarial scenarios and actions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.simulator.reference_engine import ACTIONS

# IDs whose order by code point surprises.
IDS = ("P1", "P2", "P10", "P02", "A", "a", "Z", "_", "-", "--", "0", "10", "9", "E1", "b", "B", "AA", "P-1")


@st.composite
def scenario_documents(draw: st.DrawFn, largest_side: int = 6, largest_population: int = 8) -> dict[str, Any]:
    """A small crowded scenario: both models, both fire policies, lists in any order."""
    width, height = draw(st.integers(2, largest_side)), draw(st.integers(2, largest_side))
    cells = draw(st.permutations([[row, col] for row in range(height) for col in range(width)]))
    free = iter(cells)
    spare = len(cells) - 2
    obstacles = [next(free) for _ in range(draw(st.integers(0, spare // 3)))]
    exits = [next(free) for _ in range(draw(st.integers(1, min(3, spare - len(obstacles) + 1))))]
    left = len(cells) - len(obstacles) - len(exits)
    people = [next(free) for _ in range(draw(st.integers(1, min(largest_population, left))))]
    left -= len(people)
    ignitions = [next(free) for _ in range(draw(st.integers(0, min(3, left))))]
    flammable = draw(st.booleans())
    if flammable and draw(st.integers(0, 5)) == 0:
        ignitions.append(exits[0])
    fire: dict[str, Any] = {
        "model": draw(st.sampled_from(["deterministic", "stochastic"])),
        "spread_interval": draw(st.integers(1, 3)),
        "exits_flammable": flammable,
    }
    if fire["model"] == "stochastic":
        fire["spread_probability"] = draw(st.sampled_from([0, 1, 0.0, 1.0, 0.3, 0.5, 1e-07, 0.999]))
    names = draw(st.permutations(IDS))
    return {
        "schema_version": "1.0",
        "scenario_id": "generated",
        "grid": {"width": width, "height": height},
        "obstacles": obstacles,
        "exits": [{"id": f"E{index}", "position": cell} for index, cell in enumerate(exits)],
        "people": [{"id": names[index], "position": cell} for index, cell in enumerate(people)],
        "ignitions": ignitions,
        "fire": fire,
        "movement": {
            "conflict_resolution": "lowest_id_wins",
            "enter_fire": draw(st.sampled_from(["blocked", "casualty"])),
        },
        "termination": {"max_steps": draw(st.integers(1, 14))},
        "seed": draw(st.integers(0, 2**64 - 1)),
    }


class ActionChooser:
    """Adversarial actions from a drawn random source: mostly moves, often everybody the same way."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __call__(self, active: list[str]) -> dict[str, str]:
        if self.source.random() < 0.3:
            common = self.source.choice(ACTIONS[1:])
            return {person: common if self.source.random() < 0.8 else "stay" for person in active}
        return {person: self.source.choice(ACTIONS[1:] + ACTIONS) for person in active}


def action_choosers() -> st.SearchStrategy[ActionChooser]:
    """A chooser that gives one action for each active person."""
    return st.randoms(use_true_random=False).map(ActionChooser)
