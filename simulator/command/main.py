"""The ``ember`` command put together."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from simulator.command.hash import hash_files
from simulator.command.output import ExitCode, complain, leave_pipe
from simulator.command.run import run
from simulator.command.show import show
from simulator.command.submit import submit
from simulator.command.suite import suite_app
from simulator.command.verify import LIMITS_TEXT, verify
from simulator.versions import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

app = typer.Typer(
    help="EMBERBench: evacuation under fire, simulated exactly. Run policies and verify run records.",
    epilog="Exit codes: 0 good, 1 refused or mismatch, 2 wrong use.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # joins the lines of a paragraph
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run)
app.command("verify", epilog=LIMITS_TEXT)(verify)
app.command("submit", epilog=LIMITS_TEXT)(submit)
app.command("show")(show)
app.command("hash")(hash_files)
app.add_typer(suite_app, name="suite")


def version_text() -> str:
    """The versions that decide whether two results can be compared."""
    return (
        f"ember: simulator {SIMULATOR_VERSION}, observation {OBSERVATION_VERSION}, "
        f"scenario schema {SCHEMA_VERSION}"
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_text())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the versions and stop."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a letter gets its code
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="ember")
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        leave_pipe()
        sys.exit(ExitCode.BROKEN_PIPE)


if __name__ == "__main__":
    main()
