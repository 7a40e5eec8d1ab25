"""
How commands that run until they are told to stop take Ctrl-C and SIGTERM.

Python's own way is an exception wherever the program happens to be. While modules are imported that may
be a callback of the import system, where an exception is printed and forgotten, and Ctrl-C with it. So
a command either leaves at once or notes that it is to stop, and never depends on an exception.
"""

import gc
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

STOPPED = b"\nStopped.\n"

Handler = Callable[[int, FrameType | None], object]


def stop_at_once(*, quiet: bool = False) -> None:
    """
    From now on Ctrl-C and SIGTERM end the process on the spot, with 128 + the signal's number.

    For stages in which nothing has to be brought to an end: whatever is half done is undone by the
    database or done again at the next start, as after a power cut. It says so unless `quiet`.
    """
    stop_with(_leave_quietly if quiet else _leave)


def end_promptly() -> None:
    """Spare the interpreter its last search for garbage, which takes a second where a site is loaded."""
    gc.freeze()


def stop_with(handler: Handler) -> None:
    """From now on Ctrl-C and SIGTERM call the handler, in the main thread, between two instructions."""
    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)


def _leave(signum: int, frame: FrameType | None) -> None:
    with suppress(OSError):  # nobody reads any more
        os.write(1, STOPPED)
    _leave_quietly(signum, frame)


def _leave_quietly(signum: int, frame: FrameType | None) -> None:
    os._exit(128 + signum)
