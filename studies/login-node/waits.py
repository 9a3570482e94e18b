#!/usr/bin/env python3
"""Prints the table of the study from one or several runs of a plan: `waits.py runs/1 runs/2 runs/3`.

A row for each step: the median and the 95th percentile of the echo of followed keys, and what the keys around the 95th
percentile wait for. Of several runs it is the median, and of the 95th percentile the range as well.

A machine that does something else meanwhile disturbs: keys that waited for a CPU that a program had which is none of
the node's are left out, and so is a step that loses more than a quarter of its keys by this. Where such programs ran,
long waits are therefore a little rarer than they would be.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from cuesta.analysis.path.composition import divide_bands, pick_quantile
from cuesta.analysis.path.derive import ECHO, join_run, select_step
from cuesta.analysis.path.explain import ENOUGH, SLOW
from cuesta.analysis.path.followed_key import KeyPath
from cuesta.analysis.planned import write_swept_value
from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.path import PathHop
from cuesta.figures.step import StepFigures
from cuesta.report.plots.path import sum_kinds
from cuesta.units import seconds

HEADS = ("", "runs", "p50", "p95", "(range)", "CPU", "worker", "rest", "who has the CPU")
WIDTHS = (15, 4, 7, 7, 17, 7, 7, 7, 0)
CPU, WORKER = "run_queue", "worker_queue"
PROGRAMS = "sshd bash sh make cc gcc cc1 as rm yes cat dd find grep perl sed wc ls head sleep"
SCRIPTS = "limited compile flood work allocate"
KERNEL = "kworker/.* ksoftirqd.* migration.* rcu.* swapper.* kcompactd.* kswapd.*"
KNOWN = re.compile("|".join([*PROGRAMS.split(), *SCRIPTS.split(), *KERNEL.split(), "cuesta-.*"]))
"""Programs of the node, Cuesta's own, and the kernel's."""
STRANGERS = 0.25
"""Largest share of a step's keys that may wait for another program."""
SMALL = 0.15
"""Share of the waits below which who has the CPU is not named."""


@dataclass(frozen=True)
class Measured:
    """One step of a run, in seconds."""

    p50: float
    p95: float
    slow: Sequence[PathHop]
    """The parts of the keys around the 95th percentile."""

    def sum_of(self, kind: str) -> float:
        return sum_kinds(self.slow).get(kind, 0.0)

    @property
    def rest(self) -> float:
        return sum(part.seconds for part in self.slow if part.kind not in (CPU, WORKER))


def main() -> None:
    steps: dict[str, list[Measured]] = {}
    for folder in sys.argv[1:]:
        summary = summarise(Path(folder))
        for step in summary.steps:
            steps.setdefault(name_step(step), []).extend(measure_step(summary, step))
    for row in (HEADS, *(make_row(name, runs) for name, runs in steps.items())):
        cells = zip(row, WIDTHS[: len(row)], strict=True)
        print(" ".join(f"{cell:<{width}}" for cell, width in cells).rstrip())


def name_step(step: StepFigures) -> str:
    return ", ".join(write_swept_value(name, value) for name, value in step.swept.items()).removesuffix(".csv")


def measure_step(summary: Summary, step: StepFigures) -> Iterator[Measured]:
    """Nothing if too few keys were followed, or too many met a stranger."""
    hosts = [select_step(host, summary.recorded.steps[step.step], ()) for host in join_run(summary.recorded)]
    echoes = [key for host in hosts for key in host.keys if key.path and key.followed.row.what == ECHO]
    keys = [KeyPath.from_joined(key) for key in echoes]
    own = [key for key in keys if not meets_stranger(key)]
    if len(own) >= max(ENOUGH, (1 - STRANGERS) * len(keys)):
        slow = next(band.parts for band in divide_bands(own) if band.percentile == SLOW)
        took = sorted(key.took for key in own)
        yield Measured(pick_quantile(took, 0.5) / 1e9, pick_quantile(took, SLOW / 100) / 1e9, slow)


def meets_stranger(key: KeyPath) -> bool:
    return any(hop.kind == CPU and hop.other and not KNOWN.fullmatch(hop.other) for hop in key.hops)


def make_row(name: str, runs: Sequence[Measured]) -> Sequence[str]:
    if not runs:
        return name, "0"
    p95 = [run.p95 for run in runs]
    spread = f"({seconds(min(p95))}–{seconds(max(p95))})" if len(runs) > 1 else ""
    values = [[run.p50 for run in runs], p95]
    parts = [[run.sum_of(CPU) for run in runs], [run.sum_of(WORKER) for run in runs], [run.rest for run in runs]]
    medians = [seconds(median(each)) for each in (*values, *parts)]
    return name, str(len(runs)), *medians[:2], spread, *medians[2:], name_others(runs)


def name_others(runs: Iterable[Measured]) -> str:
    """Who mostly has the CPU that slow keys wait for: of each task that waits, those with most of that time."""
    times: dict[str, float] = {}
    for run in runs:
        for part in run.slow:
            if part.kind == CPU:
                who = part.other or "nobody"
                times[who] = times.get(who, 0.0) + part.seconds
    whole = sum(times.values())
    return ", ".join(sorted((who for who in times if times[who] > SMALL * whole), key=lambda who: -times[who]))


if __name__ == "__main__":
    main()
