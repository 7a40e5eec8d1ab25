"""``ember run``: play scenarios with a policy and keep the run records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TextIO, TypeAlias

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from simulator.checks import MAX_SEED
from simulator.command.output import CommandError, DebugOption, JsonOption, Output, reporting
from simulator.command.policy_loading import POLICY_HELP, episode_run, policy_find
from simulator.command.sources import scenario_find, suite_read
from simulator.command.verdict_lines import metrics_text
from simulator.command.writing import WriteText, file_replaced
from simulator.metrics import Metrics
from simulator.policies import BASELINES, Policy
from simulator.record import RunRecord
from simulator.scenario import Scenario
from simulator.verification import replay

STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class Request:
    """What is to be run."""

    scenarios: tuple[Scenario, ...]
    policy: Policy
    policy_name: str
    seed: int | None
    output: str | None


def seed_parse(text: str) -> int:
    """A seed in decimal, 0 to 2**64 - 1, and nothing that merely resembles one.

    Raises:
        typer.BadParameter: It is no such text.
    """
    if not text.isascii() or not text.isdigit() or len(text) > 20 or int(text) > MAX_SEED:
        raise typer.BadParameter(f"expected an integer from 0 to {MAX_SEED}, got {text[:40]!r}")
    return int(text)


ScenarioArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="SCENARIO", help="A scenario file, or the ID of a scenario that comes with the project."
    ),
]
SuiteOption: TypeAlias = Annotated[
    str | None, typer.Option("--suite", metavar="DIR", help="Run every scenario of this suite instead.")
]
PolicyOption: TypeAlias = Annotated[str, typer.Option("--policy", "-p", help=POLICY_HELP)]
SeedOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--seed", parser=seed_parse, metavar="N", help="Run seed; the scenario's own by default."),
]
PolicySeedOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--policy-seed", parser=seed_parse, metavar="N", help="Seed of the policy random; 0 by default."
    ),
]
OutputOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Keep the records here; - is standard output."),
]


def run(
    scenario: ScenarioArgument = None,
    suite: SuiteOption = None,
    policy: PolicyOption = "",
    seed: SeedOption = None,
    policy_seed: PolicySeedOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Run a policy on a scenario, or on every scenario of a suite.

    With -o the run records are kept, one a line; a name that ends in .gz is gzipped. The file appears
    when everything has been run, or not at all.
    """
    stream = sys.stderr if output == STANDARD_OUTPUT else None
    with reporting(as_json=as_json, debug=debug, stream=stream) as out:
        if (scenario is None) == (suite is None):
            raise CommandError.wrong_use("expected either a SCENARIO or --suite DIR")
        if not policy:
            raise CommandError.wrong_use(f"expected --policy: {', '.join(BASELINES)} or module:function")
        if as_json and output == STANDARD_OUTPUT:
            raise CommandError.wrong_use("--json and -o - would both write to standard output")
        found = policy_find(policy, policy_seed)
        scenarios = (scenario_find(scenario),) if scenario is not None else suite_read(suite or "").scenarios
        _run_all(Request(scenarios, found, policy, seed, output), out)


def _run_all(request: Request, out: Output) -> None:
    summaries = []
    width = max(len(scenario.scenario_id) for scenario in request.scenarios)
    held_back: list[str] = []
    with ExitStack() as stack:
        write = stack.enter_context(_destination(request.output))
        advance = stack.enter_context(_progress(len(request.scenarios)))
        say = out.line if advance is _no_bar else held_back.append  # lines would cut through the bar
        for scenario in request.scenarios:
            advance(scenario.scenario_id)
            record = episode_run(scenario, request.policy, request.seed, name=request.policy_name)
            write(record.to_json() + "\n")
            metrics = _metrics(record, scenario)
            summaries.append(_summary(record, metrics))
            say(f"{scenario.scenario_id:<{width}}  {metrics_text(metrics)}")
    for line in held_back:
        out.line(line)
    _conclude(request, summaries, out)


def _conclude(request: Request, summaries: list[dict[str, Any]], out: Output) -> None:
    count = "1 record" if len(summaries) == 1 else f"{len(summaries)} records"
    if request.output is None:
        out.note(f"{count} not kept: add -o FILE to keep {'it' if len(summaries) == 1 else 'them'}")
    elif request.output != STANDARD_OUTPUT:
        out.line(f"{count} in {request.output}")
    out.data({"ok": True, "policy": request.policy_name, "output": request.output, "runs": summaries})


def _metrics(record: RunRecord, scenario: Scenario) -> Metrics:
    """The metrics come from a replay, like those of every record; it proves the record on the way."""
    verdict = replay(record.to_json(), scenario)
    if verdict.metrics is None:
        raise AssertionError(f"a new record does not verify: {verdict.message}")
    return verdict.metrics


def _summary(record: RunRecord, metrics: Metrics) -> dict[str, Any]:
    end = record.termination
    return {
        "scenario_id": record.header.scenario_id,
        "scenario_hash": record.header.scenario_hash,
        "seed": str(record.header.seed),
        "digest": record.digest,
        "reason": None if end is None else end.reason,
        "metrics": metrics.to_dict(),
    }


@contextmanager
def _destination(output: str | None) -> Iterator[WriteText]:
    if output is None:
        yield lambda text: None
    elif output == STANDARD_OUTPUT:
        yield partial(_write_line, sys.stdout)
    else:
        with file_replaced(output) as write:
            yield write


def _write_line(stream: TextIO, text: str) -> None:
    stream.write(text)


def _no_bar(scenario_id: str) -> None:
    """Nobody watches."""


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error where that is a terminal and there is more than one run to make."""
    if total == 1 or not sys.stderr.isatty():
        yield _no_bar
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[at]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total, at="")
        started = False

        def advance(scenario_id: str) -> None:
            nonlocal started
            bar.update(task, advance=1 if started else 0, at=scenario_id)
            started = True

        yield advance
