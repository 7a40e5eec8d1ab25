"""``ember show``: a scenario on the terminal, as a coloured map with legend and rules."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

import typer
from rich.text import Text

from simulator.command.output import DebugOption, JsonOption, Output, reporting
from simulator.command.sources import scenario_find
from simulator.scenario import FireModelName, Scenario

#: Colours of the Okabe-Ito palette, as on the site; each state has its own sign, too.
STYLES = {
    "#": "color(244)",
    ".": "color(240)",
    "E": "bold #009e73",
    "F": "bold #d55e00",
    "P": "bold #56b4e9",
}


def show(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A scenario file, or the ID of a scenario that comes with the project."
        ),
    ],
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Show a scenario: map, legend, rules and content hash."""
    with reporting(as_json=as_json, debug=debug) as out:
        found = scenario_find(scenario)
        _print_scenario(found, out)
        out.data(scenario_facts(found))


def scenario_facts(scenario: Scenario) -> dict[str, Any]:
    """What there is to say of a scenario, JSON-ready. The seed is a decimal string."""
    return {
        "ok": True,
        "scenario_id": scenario.scenario_id,
        "scenario_hash": scenario.content_hash,
        "description": scenario.description,
        "width": scenario.width,
        "height": scenario.height,
        "population": len(scenario.people),
        "exit_count": len(scenario.exits),
        "ignition_count": len(scenario.ignitions),
        "hazard": scenario.hazard,
        "rules": {
            "fire_model": str(scenario.fire.model),
            "spread_interval": scenario.fire.spread_interval,
            "spread_probability": scenario.fire.spread_probability,
            "exits_flammable": scenario.fire.exits_flammable,
            "enter_fire": str(scenario.movement.enter_fire),
            "conflict_resolution": str(scenario.movement.conflict_resolution),
            "max_steps": scenario.max_steps,
        },
        "seed": str(scenario.seed),
        "layout": scenario.ascii_layout(),
    }


def _print_scenario(scenario: Scenario, out: Output) -> None:
    if out.as_json:
        return
    out.line(Text(scenario.scenario_id, style="bold"))
    if scenario.description is not None:
        for line in scenario.description.splitlines():
            out.line(line)
    out.line()
    for row in scenario.ascii_layout():
        out.line(_coloured(row))
    out.line()
    for sign, meaning in _legend(scenario):
        out.line(Text.assemble("  ", (sign, STYLES[sign]), "  ", meaning))
    out.line()
    for name, value in _rules(scenario):
        out.line(f"  {name:<12}  {value}")


def _coloured(row: str) -> Text:
    return Text.assemble(*(("".join(cells), STYLES[sign]) for sign, cells in groupby(row)))


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _legend(scenario: Scenario) -> list[tuple[str, str]]:
    burning = set(scenario.ignitions)
    lit = [spec.id for spec in scenario.exits if spec.position in burning]
    exits = ", ".join(f"{spec.id} {list(spec.position)}" for spec in scenario.exits[:12])
    more = f" and {len(scenario.exits) - 12} more" if len(scenario.exits) > 12 else ""
    burns = f"; burning: {', '.join(lit[:12])}" if lit else ""
    return [
        ("#", "wall"),
        (".", "floor"),
        ("E", f"{_counted(len(scenario.exits), 'exit', 'exits')}: {exits}{more}{burns}"),
        ("F", f"{_counted(len(scenario.ignitions), 'cell', 'cells')} burning at the start"),
        ("P", _counted(len(scenario.people), "person", "people")),
    ]


def _rules(scenario: Scenario) -> list[tuple[str, str]]:
    fire, enter = scenario.fire, str(scenario.movement.enter_fire)
    every = "every step" if fire.spread_interval == 1 else f"every {fire.spread_interval} steps"
    spread = "to every neighbour"
    if fire.model is FireModelName.STOCHASTIC:
        spread = f"with probability {fire.spread_probability!r} for each burning neighbour"
    return [
        (
            "size",
            f"{scenario.width} x {scenario.height}, at most {_counted(scenario.max_steps, 'step', 'steps')}",
        ),
        ("fire", f"{fire.model}: {every}, {spread} ({scenario.hazard})"),
        ("exits", "can burn, and are closed when they do" if fire.exits_flammable else "cannot burn"),
        ("enter fire", "refused" if enter == "blocked" else "possible, and deadly"),
        ("conflict", "the lowest ID wins a contested cell"),
        ("seed", str(scenario.seed)),
        ("hash", scenario.content_hash),
    ]
