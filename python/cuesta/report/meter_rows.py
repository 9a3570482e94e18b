"""Meters as rows, like those of `sar`: one interval each."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from cuesta.analysis.host_figures import read_cpu_use
from cuesta.columns import in_columns
from cuesta.records.meter_figure import MeterFigure
from cuesta.records.meter_report import Count, MeterReport
from cuesta.report.cells import number, per_s, percent, rate

HEADS = ("time", "%usr", "%sys", "%irq", "%iow", "%steal", "%idle", "%load", "queue", "faults/s", "switch/s", "io/s")
WIDTHS = (8, 6, 6, 6, 6, 7, 7, 7, 6, 9, 9, 6)


def head() -> str:
    return f"{align_cells(HEADS)}  (plain)"


def interval_row(meter_report: MeterReport) -> str:
    """An interval as one row. For a process or control group %usr and %sys are its own."""
    *shares, queue, minor, major, switches, ios = figures(meter_report)
    cells = [time.strftime("%H:%M:%S", time.localtime(meter_report.wall / 1e9)), *map(percent, shares)]
    return align_cells([*cells, number(queue), rate(add_counts(minor, major)), per_s(switches), per_s(ios)])


def list_gaps(meter_report: MeterReport) -> Iterator[str]:
    names = (*HEADS[1:9], HEADS[9], *HEADS[9:])  # two kinds of faults are in one cell
    reasons: dict[str, dict[str, None]] = {}
    for name, figure in zip(names, figures(meter_report), strict=True):
        if figure.why:
            reasons.setdefault(figure.why, {})[name] = None
    yield from (f"no meter data for {', '.join(columns)}: {why}" for why, columns in reasons.items())


def figures(meter_report: MeterReport) -> Sequence[MeterFigure[Any]]:
    cpu, own, counts = read_cpu_use(meter_report), meter_report.own, meter_report.counts
    shares = [own.usr, own.sys, *(cpu[name] for name in ("irq", "iowait", "steal", "idle", "load"))]
    counted = (counts.minor_faults, counts.major_faults, counts.switches, counts.ios)
    return [*shares, meter_report.traffic.ready, *counted]


def align_cells(cells: Sequence[str]) -> str:
    return in_columns("", 0, cells, WIDTHS).rstrip()


def add_counts(*figures: MeterFigure[Count]) -> float | None:
    known = [figure.value.per_s for figure in figures if figure.value]
    return sum(known) if len(known) == len(figures) else None
