"""Baseline policies: ``stay``, ``random``, ``greedy`` and ``cautious``.

A policy is a callable from an observation to one action for each active person. One that
remembers something has a method ``for_episode()`` that gives a fresh one.
"""

from collections.abc import Callable
from typing import Final

from simulator.policies.cautious import CautiousPolicy, cautious
from simulator.policies.simple import (
    Policy,
    RandomPolicy,
    exit_distances,
    greedy,
    make_random,
    random,
    stay,
)

BASELINES: Final[dict[str, Callable[[], Policy]]] = {
    "stay": lambda: stay,
    "random": RandomPolicy,
    "greedy": lambda: greedy,
    "cautious": CautiousPolicy,
}
"""Factories of the published baselines: a fresh policy for each episode."""

__all__ = [
    "BASELINES",
    "CautiousPolicy",
    "Policy",
    "RandomPolicy",
    "cautious",
    "exit_distances",
    "greedy",
    "make_random",
    "random",
    "stay",
]
