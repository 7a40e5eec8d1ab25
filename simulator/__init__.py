"""EMBERBench simulator 0.2.0: a pure library without a clock, global randomness or a web framework."""

from simulator.errors import EmberError, RecordFormatError, ScenarioError, SimulationError, SuiteError
from simulator.scenario import Position, Scenario
from simulator.strict_json import canonical_json, indented_json, parse_json
from simulator.suite import Suite, SuiteEntry, load_suite
from simulator.versions import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

__all__ = [
    "OBSERVATION_VERSION",
    "SCHEMA_VERSION",
    "SIMULATOR_VERSION",
    "EmberError",
    "Position",
    "RecordFormatError",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Suite",
    "SuiteEntry",
    "SuiteError",
    "canonical_json",
    "indented_json",
    "load_suite",
    "parse_json",
]
