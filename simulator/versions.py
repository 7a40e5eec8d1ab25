"""The three versions that a run record pins (fairness spec, head and section 6)."""

from typing import Final

SIMULATOR_VERSION: Final = "0.2.0"
"""Semantics of the simulator and format of the run record."""

OBSERVATION_VERSION: Final = "1.0"
"""Fields and meaning of the model-visible observation."""

SCHEMA_VERSION: Final = "1.0"
"""Format of a scenario file."""
