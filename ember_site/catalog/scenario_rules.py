"""The rules of one scenario in words, each with the number of the published rule it follows from."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.scenario import EnterFirePolicy, FireModelName, Scenario


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule: its number (`R7`), what it is about, what holds here in short, and in a sentence."""

    number: str
    subject: str
    value: str
    text: str

    @property
    def anchor(self) -> str:
        """Fragment of the rule on the rules page."""
        return self.number.lower()


def scenario_rules(scenario: Scenario) -> list[RuleLine]:
    """Every rule that a run on this scenario obeys, R1 to R10, with the scenario's values filled in."""
    return [
        RuleLine(
            "R1",
            "Two want one cell",
            "lowest ID wins",
            "Of several people who step toward one cell, the lowest ID gets it; the others wait.",
        ),
        RuleLine(
            "R2", "Changing places", "blocked", "Two people cannot swap cells; both stay where they are."
        ),
        RuleLine(
            "R3",
            "Going round in a ring",
            "blocked",
            "A closed ring of people cannot rotate; all of them stay.",
        ),
        RuleLine(
            "R4",
            "Through an exit",
            "one a step",
            "Each exit cell lets out one person a step. The next in line may enter it in the step after.",
        ),
        _exits(scenario),
        _enter_fire(scenario),
        _spread(scenario),
        RuleLine("R8", "Burning out", "never", "A cell that burns goes on burning until the end of the run."),
        RuleLine(
            "R9",
            "Trapped",
            "only noted",
            "A person without a way to an unburned exit counts as trapped. It is noted for the evaluation, "
            "changes nothing in the run, and the agent is not told.",
        ),
        RuleLine(
            "R10",
            "The end",
            f"step {scenario.max_steps}",
            f"The run ends when nobody is left inside, and at the latest after step {scenario.max_steps}.",
        ),
    ]


def _exits(scenario: Scenario) -> RuleLine:
    if scenario.fire.exits_flammable:
        text = (
            "Fire can take an exit, and a burning exit lets nobody out. Who steps onto it in the very step "
            "in which it catches fire still gets out."
        )
        return RuleLine("R5", "Exits can burn", "yes", text)
    text = "Exits never catch fire, though fire can cut off the way to them."
    return RuleLine("R5", "Exits can burn", "no", text)


def _enter_fire(scenario: Scenario) -> RuleLine:
    if scenario.movement.enter_fire is EnterFirePolicy.CASUALTY:
        return RuleLine(
            "R6", "Stepping into fire", "casualty", "Who moves onto a burning cell becomes a casualty."
        )
    text = "A move onto a burning cell is refused; the person stays and loses the step."
    return RuleLine("R6", "Stepping into fire", "blocked", text)


def _spread(scenario: Scenario) -> RuleLine:
    fire = scenario.fire
    every = "in every step" if fire.spread_interval == 1 else f"every {fire.spread_interval} steps"
    after = "It does so after people have moved; whoever then stands on a cell that ignites is a casualty."
    if fire.model is FireModelName.DETERMINISTIC:
        text = f"Fire spreads {every} to each neighbouring cell that can burn. {after}"
        return RuleLine("R7", "Fire", f"certain, {every}", text)
    text = (
        f"Fire tries to spread {every}: each burning neighbour lights a cell with probability "
        f"{fire.spread_probability!r}, drawn from the run's seed. {after}"
    )
    return RuleLine("R7", "Fire", f"by chance, {every}, p = {fire.spread_probability!r}", text)
