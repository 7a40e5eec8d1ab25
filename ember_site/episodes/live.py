"""The simulator of each live episode, kept in memory by the process that serves it.

Nothing here is the truth. Every object can be thrown away at any moment and is then rebuilt
from scenario, seed and log.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from uuid import UUID

from ember_site.episodes.deltas import Wire, delta_between
from simulator import Observation, Scenario, SimulationError, Simulator

LogRow = tuple[int, Mapping[str, str], str]
"""A logged step: its number, the actions, the digest of the state that it led to."""

#: Deltas kept in memory for clients that come back; older ones are covered by a snapshot.
DELTAS_KEPT = 64


class LogDiffers(Exception):
    """The simulator did not reproduce a logged step; the episode must not go on."""

    def __init__(self, step: int, expected: str, actual: str) -> None:
        """`expected` is the digest of the log, `actual` that of the simulator; empty where there is none."""
        what = "gives another state than the one in the log" if expected else "is missing in the log"
        super().__init__(f"step {step} {what}")
        self.step = step
        self.expected = expected
        self.actual = actual


def log_follow(simulator: Simulator, rows: Iterable[LogRow]) -> Iterator[None]:
    """Make logged steps, in order, and check the digest of each; pauses after each that agrees.

    Raises:
        LogDiffers: the state differs from the logged one, or the step cannot be made.
    """
    for step, actions, digest in rows:
        made = simulator.step_count
        if step != made + 1:
            raise LogDiffers(made + 1, "", "")
        try:
            simulator.advance(simulator.action_codes(actions))
        except SimulationError as error:
            raise LogDiffers(step, digest, "") from error
        if simulator.state_digest != digest:
            raise LogDiffers(step, digest, simulator.state_digest)
        yield


def record_from_log(scenario: Scenario, seed: int, rows: Iterable[LogRow]) -> str:
    """The run record of an ended episode, as canonical JSON. For storage only, never for a client.

    Raises:
        LogDiffers: the log gives other states than it says, or does not reach the end of the run.
    """
    simulator = Simulator(scenario, seed)
    for _ in log_follow(simulator, rows):
        pass
    if not simulator.done:
        raise LogDiffers(simulator.step_count + 1, "", "")
    return simulator.record_text()


class LiveEpisode:
    """One simulator with its newest observation and the last few deltas.

    All methods need `lock`: a process has several threads, an episode has one writer. Who gets the
    lock of an object that is `discarded` asks the registry for another: this one may be ahead of the log.
    The record is not kept here, or memory would grow with every step; the log gives it at the end.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        """Start at step 0; `advance` then brings it to the end of the log."""
        self.lock = threading.RLock()
        self.discarded = False
        self._simulator = Simulator(scenario, seed, keep_record=False)
        self._observation = self._simulator.observe()
        self._deltas: deque[Wire] = deque(maxlen=DELTAS_KEPT)

    @property
    def step(self) -> int:
        """Number of completed steps."""
        return self._observation.step

    @property
    def observation(self) -> Observation:
        """The newest observation: all that players and watchers may know."""
        return self._observation

    @property
    def done(self) -> bool:
        """Whether the run has ended by the rules (R10)."""
        return self._simulator.done

    @property
    def reason(self) -> str:
        """Why the run ended; empty while it goes on."""
        termination = self._simulator.termination
        return "" if termination is None else str(termination.reason)

    def make_step(self, actions: Mapping[str, str]) -> str:
        """Make one step and return the digest of the state it led to.

        Raises:
            SimulationError: the actions do not fit; nothing changed.
        """
        self._show(self._simulator.step(actions))
        return self._simulator.state_digest

    def advance(self, rows: Iterable[LogRow]) -> None:
        """Make logged steps, in order.

        Raises:
            LogDiffers: as :func:`log_follow` does. The last observation that agreed with the log stays
                the newest; the object is of no more use.
        """
        for _ in log_follow(self._simulator, rows):
            self._show(self._simulator.observe())

    def _show(self, after: Observation) -> None:
        self._deltas.append(delta_between(self._observation, after))
        self._observation = after

    def deltas_after(self, step: int) -> list[Wire] | None:
        """The deltas from `step` to the present, oldest first; None where they are not all kept."""
        missing = self.step - step
        if missing < 0 or missing > len(self._deltas):
            return None
        return list(self._deltas)[len(self._deltas) - missing :]


class LiveRegistry:
    """The live episodes of this process, least recently used ones given up first."""

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` simulators."""
        self._limit = limit
        self._episodes: OrderedDict[UUID, LiveEpisode] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_make(self, episode_id: UUID, make: Callable[[], LiveEpisode]) -> LiveEpisode:
        """The live episode, made by `make` where this process has none yet."""
        with self._lock:
            live = self._episodes.get(episode_id)
            if live is not None:
                self._episodes.move_to_end(episode_id)
                return live
        made = make()
        with self._lock:
            live = self._episodes.setdefault(episode_id, made)
            while len(self._episodes) > self._limit:
                self._episodes.popitem(last=False)
            return live

    def forget(self, episode_id: UUID, live: LiveEpisode) -> None:
        """Give up an object, whose lock is held; the next use rebuilds the episode from the log."""
        live.discarded = True
        with self._lock:
            if self._episodes.get(episode_id) is live:
                del self._episodes[episode_id]

    def clear(self) -> None:
        """Give up everything."""
        with self._lock:
            self._episodes.clear()
