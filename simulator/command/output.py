"""What the command prints, and how a failure becomes one line and an exit code."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Annotated, Any, TextIO, TypeAlias

import typer
from rich.console import Console
from rich.text import Text

from simulator.errors import EmberError

#: Characters that could move the cursor, change colours or hide text on a terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
DebugOption: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]


class ExitCode(IntEnum):
    """What the exit code of ``ember`` says."""

    GOOD = 0
    REFUSED = 1
    WRONG_USE = 2
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandError(Exception):
    """The command cannot go on: a sentence, a stable code, the file and the place in it."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        exit_code: ExitCode = ExitCode.REFUSED,
        file: str | None = None,
        place: str | None = None,
        **data: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.exit_code = exit_code
        self.file = file
        self.place = place or None
        self.data = data

    @classmethod
    def wrong_use(cls, message: str, *, file: str | None = None, code: str = "wrong_use") -> CommandError:
        """What was asked for cannot be done as asked: exit code 2."""
        return cls(message, code=code, exit_code=ExitCode.WRONG_USE, file=file)

    @classmethod
    def of(cls, problem: EmberError, *, code: str, file: str) -> CommandError:
        """A refusal of the simulator, about a file."""
        return cls(problem.message, code=code, file=file, place=problem.place)

    @property
    def sentence(self) -> str:
        """File, place and message in one line."""
        return ": ".join(part for part in (self.file, self.place, self.message) if part)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, with the keys that every failure has."""
        return {
            "code": self.code,
            "message": self.message,
            "file": self.file,
            "place": self.place,
            **self.data,
        }


class Output:
    """Prints for people or for machines: lines and notes for the one, JSON objects for the other."""

    def __init__(self, *, as_json: bool, stream: TextIO | None = None) -> None:
        self.as_json = as_json
        self._stream = stream

    def line(self, text: str | Text = "") -> None:
        """A line of the answer (standard output), for people only."""
        if not self.as_json:
            _print(text, self._stream or sys.stdout)

    def note(self, text: str) -> None:
        """A remark beside the answer (standard error), for people only."""
        if not self.as_json:
            _print(text, sys.stderr)

    def data(self, value: Mapping[str, Any]) -> None:
        """One JSON object on one line (standard output), for machines only."""
        if self.as_json:
            sys.stdout.write(json.dumps(value) + "\n")


def visible(text: str) -> str:
    """Text with control characters made visible: nothing in a file may steer the terminal."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def complain(sentence: str) -> None:
    """One line on standard error."""
    _print(f"ember: {' '.join(sentence.split())}", sys.stderr)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich would exit with 1 here; :func:`reporting` decides what a closed pipe means."""
        raise  # the BrokenPipeError that is being handled


def _print(text: str | Text, stream: TextIO) -> None:
    shown = text if isinstance(text, Text) else Text(visible(text))
    console = _Console(file=stream, highlight=False, markup=False, emoji=False)
    console.print(shown, soft_wrap=True)


@contextmanager
def reporting(*, as_json: bool, debug: bool, stream: TextIO | None = None) -> Iterator[Output]:
    """
    Run the body of a command; turn whatever goes wrong into one clear line and the right exit code.

    Raises:
        typer.Exit: With the exit code, after any failure.
    """
    output = Output(as_json=as_json, stream=stream)
    try:
        yield output
        sys.stdout.flush()
    except CommandError as problem:
        _report(problem, output, debug=debug)
        raise typer.Exit(problem.exit_code) from None
    except KeyboardInterrupt:
        complain("interrupted")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        leave_pipe()
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as problem:
        failure = CommandError(_os_sentence(problem), code="io_failed", file=_os_file(problem))
        _report(failure, output, debug=debug)
        raise typer.Exit(ExitCode.REFUSED) from None
    except (typer.Exit, SystemExit):
        raise
    except Exception as problem:
        failure = CommandError(
            f"this is a fault of ember itself ({type(problem).__name__}: {problem}); --debug shows where",
            code="internal",
        )
        _report(failure, output, debug=debug)
        raise typer.Exit(ExitCode.REFUSED) from problem


def leave_pipe() -> None:
    """The reader of standard output has gone: let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(problem: CommandError, output: Output, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    if output.as_json:
        output.data({"ok": False, "error": problem.to_dict()})
        sys.stdout.flush()
    else:
        complain(problem.sentence)


def os_reason(problem: OSError) -> str:
    """Why the system refused, in words: ``no such file or directory``."""
    return (problem.strerror or type(problem).__name__).lower()


def _os_sentence(problem: OSError) -> str:
    return os_reason(problem)


def _os_file(problem: OSError) -> str | None:
    return problem.filename if isinstance(problem.filename, str) else None
