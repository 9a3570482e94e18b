"""Makes the runs of a test and judges them. All workers take turns: two runs at a time would disturb each other."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cuesta.analysis.compare.sides import Side, separate_usable
from cuesta.analysis.compare.stored_side import StoredSide, restore_side, store_runs
from cuesta.plain_text import plain_rows
from cuesta.pytest_plugin.baselines import Machine, count_differences, find_entry, read_baseline
from cuesta.pytest_plugin.judging import Judgement, judge_against, judge_run
from cuesta.pytest_plugin.measurement import Measurement
from cuesta.pytest_plugin.options import Options
from cuesta.pytest_plugin.run_figures import describe_series, list_lower_bounds, read_figures
from cuesta.pytest_plugin.terms import TAPE, BaselineTerms, Terms
from cuesta.workflow.library import run
from cuesta.workflow.run_result import Run

OF_MACHINE = {"driver", "hypervisor"}
"""Whom a doubt blames if the same run may be free of it a moment later."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a measurement is made."""

    here: Path
    """The folder of the test's file, to which paths are relative."""
    folder: Path
    """Where its run folders are made."""
    turns: Path
    """The file that all workers lock in turn."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one measurement."""

    counted: list[Run] = field(default_factory=list)
    """Those that count, also if they are INVALID for what the program did."""
    left_out: list[Run] = field(default_factory=list)

    @property
    def judged(self) -> Run:
        """The run that stands for all: one in which the program failed, or else the one in the middle by its echo."""
        if not self.counted:
            return self.left_out[-1]
        spoilt = [run for run in self.counted if not run.valid]
        return spoilt[0] if spoilt else sorted(self.counted, key=_order)[len(self.counted) // 2]


def measure(name: str, terms: Terms, place: Place, options: Options) -> tuple[Run, Measurement]:
    """Measure as a test asks. Raises CuestaError if a run cannot start or the baseline cannot be read."""
    machine = Machine(options.machine)
    baseline = read_baseline(options.baseline) if options.baseline else None
    entry = find_entry(baseline, name, machine.facts()) if baseline and not options.update else None
    is_comparable = entry is not None and not count_differences(entry, machine.facts())
    runs = make_runs(terms.settings, terms.baseline.runs if options.update or is_comparable else 1, place)
    side = separate_usable(place.folder, [machine.read_run(each) for each in (*runs.counted, *runs.left_out)])
    judgement = judge_run(runs.judged)
    if options.baseline and judgement.outcome in {"passed", "measured"}:
        judgement = hold_against_baseline(judgement, entry, side, terms.baseline, options)
    is_stored = options.update and judgement.outcome == "passed"
    about_tape = [f"typed was the tape `{TAPE}`, because the test names none: tape=…"] if terms.is_default_tape else []
    measured, of_runs = runs.judged, list(map(read_figures, runs.counted))
    figures = read_figures(measured)
    return measured, Measurement(
        name=name,
        outcome=judgement.outcome,
        explanation=plain_rows("\n".join([judgement.sentence, *judgement.details, *about_tape])),
        page=str(measured.folder / "report.html"),
        figures=figures,
        lower_bounds=list_lower_bounds(measured),
        runs={name: [value for each in of_runs if (value := each.get(name)) is not None] for name in figures},
        series=describe_series(measured),
        stored=asdict(store_runs(side.runs)) if is_stored else None,
    )


def hold_against_baseline(
    kept_limits: Judgement, entry: StoredSide | None, side: Side, terms: BaselineTerms, options: Options
) -> Judgement:
    """Judge runs that keep their limits by the entry of their test."""
    if options.update:
        return replace(kept_limits, outcome="passed")
    if entry is None:
        why = f"no baseline of this test is in {options.baseline}: --cuesta-update writes it"
        return Judgement("cannot tell", why, [kept_limits.sentence])
    held = judge_against(restore_side(entry, "baseline"), side, terms)
    return replace(held, details=[*held.details, kept_limits.sentence])


def make_runs(settings: Mapping[str, Any], wanted: int, place: Place) -> Runs:
    """Make as many runs as wanted, each with a seed of its own.

    A run that the machine disturbed is made again, but no more are lost than are wanted, and one more. Raises
    CuestaError if a run cannot start.
    """
    runs, settings = Runs(), dict(settings)
    tape, number = settings.pop("tape", None), 0
    while len(runs.counted) < wanted and len(runs.left_out) <= wanted:
        number += 1
        with wait_for_turn(place.turns):
            made = run(tape, here=place.here, out=place.folder / f"run-{number}", **settings)
        settings["seed"] = made.summary.recorded.run["seed"] + 1
        counts = all(each.doubt.blames == "host" for each in made.summary.doubts) and not made.interrupted
        (runs.counted if counts else runs.left_out).append(made)
        if not counts and not was_disturbed(made):
            break
    return runs


def was_disturbed(made: Run) -> bool:
    """Whether the machine made a run INVALID, and neither the program nor the tape."""
    return any(each.doubt.blames in OF_MACHINE for each in made.summary.doubts)


@contextmanager
def wait_for_turn(turns: Path) -> Iterator[None]:
    """Hold a lock that one process has at a time. The kernel frees it if the process dies."""
    with open(turns, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _order(made: Run) -> float:
    return float(made.echo.p95 or made.response.p95 or 0.0)
