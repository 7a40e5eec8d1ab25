"""How long tests wait before they call something hung, and how they wait.

Two cores that are busy with something else can hold a process up for many seconds, and no test is about that.
A limit costs nothing where all is well, so there is one, large enough for every machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S = 120.0


def wait_until(
    condition: Callable[[], object],
    what: str = "something",
    *,
    pause_s: float = 0.02,
    patience_s: float = PATIENCE_S,
) -> None:
    """Look again and again until something is true; fail when it never is."""
    ticker, deadline = threading.Event(), time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        ticker.wait(pause_s)
