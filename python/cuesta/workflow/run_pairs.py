"""Runs two plans in turn, pair by pair, to be compared."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cuesta.analysis.compare.comparability import KINDS, collect_facts, list_differences
from cuesta.analysis.compare.comparison import Terms
from cuesta.analysis.compare.metrics import ECHO, ECHO_HEADLINES, HEADLINE
from cuesta.analysis.compare.sides import read_compared_run
from cuesta.analysis.compare.verdict import ALPHA, MOST_RUNS, least_change, runs_to_show
from cuesta.analysis.hodges_lehmann import least_runs
from cuesta.engine.folder import describe_run, run_folder
from cuesta.engine.interleaved import INDEX, Interleaved, Turn, run_in_turn
from cuesta.engine.job import Job, seconds_of_run
from cuesta.errors import CuestaError, Exit, RefusedError, UsageError
from cuesta.figures.durations import class_label
from cuesta.plain_text import plain
from cuesta.plan import RawOptions
from cuesta.units import many, share
from cuesta.workflow.control import Control

PAIRS = 8
"""Pairs unless told otherwise, or more if a claim needs them: 8 make whole ABBAs."""
SPREADS = (0.01, 0.03, 0.10)
"""Standard deviations between pairs for which the least change that can be detected is said: the real one is not known
before the first run."""


class NoPairError(CuestaError):
    """Interrupted before there was anything to compare."""

    exit = Exit.INTERRUPTED


@dataclass(frozen=True, slots=True)
class PlannedPairs:
    """The pairs to run, checked."""

    series: Interleaved
    jobs: tuple[Job, Job]
    """Those of the first pair."""
    figures: Sequence[str]
    """Labels of the figures that are tested."""
    margin: float

    def announcement(self) -> Iterator[str]:
        """Rows that tell how long the runs take, which figures are tested, and how small a change they can detect."""
        pairs = self.series.pairs
        total = pairs * sum(map(seconds_of_run, self.jobs))
        takes = f"{total / 60:.0f} minutes" if total >= 90 else f"{total:.0f} s"
        yield f"{pairs} pairs, {2 * pairs} runs: about {takes}"
        yield f"{many(len(self.figures), 'figure')} judged together: {', '.join(map(plain, self.figures))}"
        yield f"detected four times in five by {pairs} pairs; pairs that detect the margin, {100 * self.margin:g} %:"
        alpha = ALPHA / len(self.figures)
        for spread in SPREADS:
            least = least_change(pairs, spread, in_pairs=True, alpha=alpha) or 0.0
            enough = runs_to_show(math.log1p(self.margin), spread, in_pairs=True, alpha=alpha)
            differ = f"where pairs differ by {100 * spread:g} % (standard deviation)"
            yield f"  {differ}: a change of {share(math.expm1(least))}; {many(enough, 'pair')}"


def prepare_pairs(base: RawOptions, new: RawOptions, here: Path, pairs: str | None, terms: Terms) -> PlannedPairs:
    """Read and check both plans. Raises RefusedError if they differ in what the comparison would refuse afterwards."""
    series = Interleaved(base, new, here, PAIRS)
    jobs = series.jobs(1)
    check_likeness(jobs, terms.despite)
    check_engines(jobs)
    figures = figures_to_test(jobs[0])
    series = replace(series, pairs=_read_number(pairs, len(figures)))
    return PlannedPairs(series, jobs, figures, terms.margin)


def run_pairs(planned: PlannedPairs, out: Path, step: int | None, control: Control) -> Path:
    """Make the pairs; returns their folder. `step` is the one that is compared later; None: the last."""

    def announce(turn: Turn) -> None:
        pairs = planned.series.pairs
        more = f" of {pairs}" if turn.pair <= pairs else ", in place of one that is not used"
        control.tell(f"pair {turn.pair}{more}: {turn.name}")

    def judge(run: Path) -> list[str]:
        return [why] if (why := read_compared_run(run, step).why_excluded) else []

    for job in planned.jobs:
        control.prepare_lines(job)
    with run_folder(out) as folder, control.open_engine(planned.jobs[0].plan.settings) as engine:
        turns = run_in_turn(planned.series, folder, judge, announce, control.console, engine)
        for turn, reasons in turns:
            for reason in reasons:
                control.tell(f"pair {turn.pair}, {turn.name}, is not used: {reason}")
    if not (folder / INDEX).exists():
        raise NoPairError("interrupted before the first pair was complete", f"what was measured is in {folder}")
    return folder


def figures_to_test(job: Job) -> list[str]:
    """Labels of the figures that will be tested: those of the meters, and those that the tapes time."""
    tapes = {group.name: job.tape(group) for group in job.plan.settings.group}
    classes = [class_label(group, name) for group, tape in tapes.items() for name in tape.classes]
    groups = [group for group, tape in tapes.items() if tape.times_echo]
    metrics = (*HEADLINE, ECHO) if classes else ECHO_HEADLINES
    parts = {"response.p95": classes, ECHO.name: groups}
    metered = job.plan.settings.meters != "none"
    return [
        f"{metric.label} of {part}" if len(parts.get(metric.name, ())) > 1 else metric.label
        for metric in metrics
        if metered or not metric.needs_meters
        for part in parts.get(metric.name, [""])
    ]


def _read_number(text: str | None, figures: int) -> int:
    """Read the number of pairs. With fewer than the least, none of `figures` figures could change significantly."""
    least = least_runs(1 - ALPHA / figures, in_pairs=True)
    if text is None:
        return max(PAIRS, least + least % 2)
    if not (text.isdigit() and least <= int(text) <= MOST_RUNS):
        remedy = f"{many(figures, 'figure')} judged together need {least} pairs for any claim"
        raise UsageError(
            f"cuesta compare: --pairs: expected a number from {least} to {MOST_RUNS}, got {text!r}", remedy
        )
    return int(text)


def check_engines(jobs: tuple[Job, Job]) -> None:
    """Raise RefusedError if the plans are for different engines: pairs are made on one."""
    base, new = (job.plan.settings for job in jobs)
    if base.engine.kind == new.engine.kind == "local":
        return  # which is there for any run
    if (base.engine, base.nodes, base.agents, base.threads) != (new.engine, new.nodes, new.agents, new.threads):
        what = "the plans differ in engine, nodes, agents or threads, and pairs are made on one engine"
        raise RefusedError(what, "make them alike, or run each by itself and compare the folders")


def check_likeness(jobs: tuple[Job, Job], despite: str | None, kinds: Sequence[str] = KINDS) -> None:
    """Raise RefusedError before the first run if the plans differ in what the comparison would refuse afterwards."""
    now = datetime.now(UTC)
    base, new = (collect_facts(describe_run(job, now)) for job in jobs)
    unlike = list_differences(base, new, kinds)
    if unlike and not despite:
        remedy = "make both sides alike, or give a reason to compare them anyway: --despite REASON"
        raise RefusedError(f"the plans differ: {'; '.join(map(str, unlike))}", remedy)
