"""Demo agents: real runs by small policies, so that a fresh site has a board to look at.

Everything about them says that they are a demo, and nobody can sign in as their owners.
"""

from __future__ import annotations

from dataclasses import dataclass

from ember_site.accounts.models import User
from ember_site.boards.demo_policies import DEMO_POLICIES
from ember_site.boards.policy_runs import PolicyRuns, open_slots, policy_runs_make
from ember_site.core.errors import WrongState
from ember_site.runs.models import Agent, AgentKind, RunSource
from ember_site.runs.services import agent_create, agent_update, human_agent_for

DEMO_OWNER = "emberbench-demo"
DEMO_PLAYER = "emberbench-demo-player"


@dataclass(frozen=True, slots=True)
class DemoAgent:
    """A demo agent of kind `model`; `slots` limits it to the first slots of each board."""

    name: str
    policy: str
    note: str
    slots: int | None = None


DEMO_MODELS = (
    DemoAgent(
        "Foresight (demo)",
        "foresee",
        "Demo data, not a model: a script that forecasts the fire and plans each person's way in space "
        "and time.",
    ),
    DemoAgent(
        "Exit balance (demo)",
        "balance",
        "Demo data, not a model: a script that shares people among exits by distance and queue, and "
        "ignores where the fire will go.",
    ),
    DemoAgent(
        "Straight line (demo)",
        "line",
        "Demo data, not a model: a script that walks towards the nearest exit as the crow flies. It has "
        "run only part of the suite.",
        slots=7,
    ),
)
DEMO_HUMAN_NAME = "Player (demo)"
DEMO_HUMAN_NOTE = "Demo data, not a person: a script that keeps two cells away from the fire where it can."


def demo_seed() -> dict[str, PolicyRuns]:
    """
    Make the demo agents and their runs on every open board; what is there already stays as it is.

    Returns the number of runs made and known, by name of the agent.

    Raises:
        WrongState: an account of a demo owner's name belongs to somebody who can sign in.
    """
    owner, player = _owner(DEMO_OWNER, "EMBERBench demo"), _owner(DEMO_PLAYER, DEMO_HUMAN_NAME)
    slots = open_slots()
    result: dict[str, PolicyRuns] = {}
    for demo in DEMO_MODELS:
        wanted = [slot for slot in slots if demo.slots is None or slot.position <= demo.slots]
        result[demo.name] = policy_runs_make(
            agent=_model_agent(owner, demo),
            make_policy=DEMO_POLICIES[demo.policy],
            source=RunSource.UPLOAD,
            slots=wanted,
        )
    human = human_agent_for(player)
    if human.note != DEMO_HUMAN_NOTE:
        human = agent_update(viewer=player, agent=human, fields={"note": DEMO_HUMAN_NOTE})
    result[human.name] = policy_runs_make(
        agent=human, make_policy=DEMO_POLICIES["distance"], source=RunSource.PLAY, slots=slots
    )
    return result


def _owner(username: str, display_name: str) -> User:
    """The account behind demo agents; it has no password that would let anybody in."""
    user, created = User.objects.get_or_create(username=username, defaults={"display_name": display_name})
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    elif user.has_usable_password():
        raise WrongState(f"The account {username} can sign in; demo agents need one that cannot.")
    return user


def _model_agent(owner: User, demo: DemoAgent) -> Agent:
    agent = Agent.objects.filter(owner=owner, kind=AgentKind.MODEL, name=demo.name).first()
    return agent or agent_create(owner=owner, fields={"name": demo.name, "note": demo.note})
