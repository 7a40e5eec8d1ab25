"""The fast engine writes the same bytes as the naive one, and keeps its promises on random runs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from simulator import Action, RunRecord, Scenario, SimulationError, Simulator, replay
from tests.simulator.boards import assert_same_record
from tests.simulator.builders import Document, document_from_map, public_documents, scenario_of
from tests.simulator.reference_engine import ReferenceEngine, canonical
from tests.simulator.strategies import ActionChooser, action_choosers, scenario_documents


@settings(max_examples=250)
@given(scenario_documents(), action_choosers())
def test_records_of_random_runs_are_byte_identical(document: Document, chooser: ActionChooser) -> None:
    simulator, engine = Simulator(scenario_of(document)), ReferenceEngine(document)
    assert simulator.record().to_json() == engine.record_text()
    while engine.termination is None:
        actions = chooser(engine.active())
        engine.step(actions)
        simulator.step(actions)
        assert simulator.observe().to_dict() == engine.observation()
    assert_same_record(document, engine.record_text(), simulator.record().to_json())
    assert simulator.done


@settings(max_examples=60)
@given(scenario_documents(largest_side=4, largest_population=14), action_choosers())
def test_crowded_boards_with_chains_and_cycles_are_byte_identical(
    document: Document, chooser: ActionChooser
) -> None:
    document["ignitions"] = []
    simulator, engine = Simulator(scenario_of(document)), ReferenceEngine(document)
    while engine.termination is None:
        actions = chooser(engine.active())
        engine.step(actions)
        simulator.step(actions)
    assert_same_record(document, engine.record_text(), simulator.record().to_json())


@settings(max_examples=60)
@given(scenario_documents(), action_choosers())
def test_a_prefix_of_the_actions_gives_a_prefix_of_the_states(
    document: Document, chooser: ActionChooser
) -> None:
    scenario = scenario_of(document)
    whole = Simulator(scenario)
    played, observations, digests = [], [whole.observe()], [whole.state_digest]
    while not whole.done:
        active = [person.id for person in whole.observe().people if person.status.value == "active"]
        played.append(chooser(active))
        observations.append(whole.step(played[-1]))
        digests.append(whole.state_digest)
    steps = json.loads(whole.record().to_json())["steps"]
    for length in range(len(played) + 1):
        part = Simulator(scenario)
        for actions in played[:length]:
            part.step(actions)
        assert part.observe() == observations[length]
        assert part.state_digest == digests[length]
        assert json.loads(part.record().to_json())["steps"] == steps[:length]


@settings(max_examples=60)
@given(scenario_documents(), action_choosers())
def test_a_record_decodes_to_itself_and_replays(document: Document, chooser: ActionChooser) -> None:
    scenario = scenario_of(document)
    simulator = Simulator(scenario)
    while not simulator.done:
        simulator.step(
            chooser([person.id for person in simulator.observe().people if person.status.value == "active"])
        )
        record = simulator.record()
        assert RunRecord.from_json(record.to_json()) == record
        assert canonical(record.to_dict()) == record.to_json()
    verdict = replay(record.to_json(), scenario)
    assert verdict.verified
    assert verdict.digest == record.digest
    indented = replay(json.dumps(record.to_dict(), indent=2), scenario)
    assert (indented.verified, indented.digest, indented.metrics) == (True, record.digest, verdict.metrics)


@settings(max_examples=60)
@given(scenario_documents(), action_choosers())
def test_no_two_active_people_ever_share_a_cell(document: Document, chooser: ActionChooser) -> None:
    simulator = Simulator(scenario_of(document))
    while not simulator.done:
        active = [person for person in simulator.observe().people if person.status.value == "active"]
        assert len({person.position for person in active}) == len(active)
        assert not {person.position for person in active} & simulator.observe().burning
        simulator.step(chooser([person.id for person in active]))


@settings(max_examples=40)
@given(scenario_documents(), action_choosers())
def test_two_simulators_in_lock_step_never_part(document: Document, chooser: ActionChooser) -> None:
    scenario = scenario_of(document)
    one, other = Simulator(scenario), Simulator(Scenario.from_json(json.dumps(document)))
    while not one.done:
        actions = chooser([person.id for person in one.observe().people if person.status.value == "active"])
        one.step(actions)
        other.step(dict(reversed(actions.items())))
        assert one.observe() == other.observe()
        assert one.state_digest == other.state_digest
    assert one.record().to_json() == other.record().to_json()


def test_many_simulators_may_run_interleaved() -> None:
    documents = [document for name, document in public_documents().items() if "09" not in name]
    simulators = [Simulator(scenario_of(document)) for document in documents]
    engines = [ReferenceEngine(document) for document in documents]
    for _ in range(8):
        for simulator, engine in zip(simulators, engines, strict=True):
            if engine.termination is None:
                actions = dict.fromkeys(engine.active(), "east")
                simulator.step(actions)
                engine.step(actions)
    for simulator, engine in zip(simulators, engines, strict=True):
        assert simulator.record().to_json() == engine.record_text()


def test_actions_are_accepted_as_enum_or_string() -> None:
    document = document_from_map("A.X", "B.X")
    named, typed = Simulator(scenario_of(document)), Simulator(scenario_of(document))
    named.step({"A": "east", "B": "stay"})
    typed.step({"B": Action.STAY, "A": Action.EAST})
    assert named.record().to_json() == typed.record().to_json()


WRONG_ACTIONS = {
    "nothing": ({}, "actions.A"),
    "one missing": ({"A": "stay"}, "actions.B"),
    "a stranger": ({"A": "stay", "B": "stay", "C": "stay"}, "actions.C"),
    "an exit": ({"A": "stay", "B": "stay", "X1": "stay"}, "actions.X1"),
    "an unknown action": ({"A": "stay", "B": "up"}, "actions.B"),
    "an empty action": ({"A": "", "B": "stay"}, "actions.A"),
    "an action in capitals": ({"A": "EAST", "B": "stay"}, "actions.A"),
    "no action": ({"A": None, "B": "stay"}, "actions.A"),
    "a number": ({"A": 0, "B": "stay"}, "actions.A"),
    "a list": ({"A": ["east"], "B": "stay"}, "actions.A"),
    "an unhashable mapping": ({"A": {}, "B": "stay"}, "actions.A"),
    "a key that is no ID": ({"A": "stay", "B": "stay", 3: "stay"}, "actions"),
}


@pytest.mark.parametrize("name", WRONG_ACTIONS)
def test_wrong_actions_are_refused_and_change_nothing(name: str) -> None:
    actions, place = WRONG_ACTIONS[name]
    simulator = Simulator(scenario_of(document_from_map("A.X", "B.X")))
    before = (simulator.record().to_json(), simulator.observe(), simulator.state_digest)
    with pytest.raises(SimulationError) as caught:
        simulator.step(actions)  # type: ignore[arg-type]
    assert caught.value.place == place
    assert caught.value.message
    assert (simulator.record().to_json(), simulator.observe(), simulator.state_digest) == before
    simulator.step({"A": "east", "B": "east"})
    assert simulator.step_count == 1


@pytest.mark.parametrize("actions", [None, [], "stay", 3, [("A", "stay")]])
def test_actions_must_be_a_mapping(actions: object) -> None:
    simulator = Simulator(scenario_of(document_from_map("A.X")))
    with pytest.raises(SimulationError) as caught:
        simulator.step(actions)  # type: ignore[arg-type]
    assert caught.value.place == "actions"


def test_the_evacuated_and_the_dead_get_no_action() -> None:
    simulator = Simulator(scenario_of(document_from_map("AX..", "*B.C", "####")))
    simulator.step({"A": "east", "B": "stay", "C": "stay"})
    assert [str(person.status) for person in simulator.observe().people] == [
        "evacuated",
        "casualty",
        "active",
    ]
    for extra in ("A", "B"):
        with pytest.raises(SimulationError) as caught:
            simulator.step({"C": "stay", extra: "stay"})
        assert caught.value.place == f"actions.{extra}"
    simulator.step({"C": "stay"})


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, "1"])
def test_a_seed_out_of_range_is_refused(seed: object) -> None:
    with pytest.raises(SimulationError) as caught:
        Simulator(scenario_of(document_from_map("A.X")), seed)  # type: ignore[arg-type]
    assert caught.value.place == "seed"
