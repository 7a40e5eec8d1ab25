"""EMBERBench simulator 0.2.0: a pure library without a clock, global randomness or a web framework.

The names here are the public ones; the site, the ``ember`` command and outside users call
nothing else to run, record and judge an evacuation.
"""

from simulator import policies
from simulator.engine import Outcome
from simulator.errors import (
    EmberError,
    RecordFormatError,
    RecordLimitError,
    ScenarioError,
    SimulationError,
    SuiteError,
)
from simulator.metrics import Metrics
from simulator.observation import Action, Observation, PersonState, PersonStatus
from simulator.policies import Policy
from simulator.record import RecordHeader, RunRecord, Termination, record_header
from simulator.runner import run_episode
from simulator.scenario import Position, Scenario
from simulator.simulation import Simulator
from simulator.strict_json import canonical_json, indented_json, parse_json
from simulator.suite import Suite, SuiteEntry, load_suite
from simulator.verification import Verdict, VerdictCode, is_canonical_replay, record_unknown, replay
from simulator.versions import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

__all__ = [
    "OBSERVATION_VERSION",
    "SCHEMA_VERSION",
    "SIMULATOR_VERSION",
    "Action",
    "EmberError",
    "Metrics",
    "Observation",
    "Outcome",
    "PersonState",
    "PersonStatus",
    "Policy",
    "Position",
    "RecordFormatError",
    "RecordHeader",
    "RecordLimitError",
    "RunRecord",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Simulator",
    "Suite",
    "SuiteEntry",
    "SuiteError",
    "Termination",
    "Verdict",
    "VerdictCode",
    "canonical_json",
    "indented_json",
    "is_canonical_replay",
    "load_suite",
    "parse_json",
    "policies",
    "record_header",
    "record_unknown",
    "replay",
    "run_episode",
]
