"""The host's CPU time by use and by cause: over the time of a run, and for each transaction."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuesta.analysis.certainty import TWO_SIDED_95
from cuesta.analysis.host_figures import shares_by_cause
from cuesta.analysis.over_time import MOST_POINTS
from cuesta.figures.step import StepFigures
from cuesta.ledger import Recorded
from cuesta.ledger.meters import MeterRow
from cuesta.records.meter_report import MeterReport

BREAK = 1.5
"""Rows further apart than this many times their length have a gap between them, which is not drawn."""

Shares = Mapping[str, float]
"""Percent of the host's CPUs, by name."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive meter rows without a gap, or groups of them put together."""

    at: list[float]
    """Middles, in seconds from the start of the run."""
    shares: list[Shares]


def uses_over_time(recorded: Recorded) -> list[Stretch]:
    """The use of the host's CPUs; the rest to 100 is idle. For a process or group, its own use and others'."""
    return _make_stretches(recorded.metered.rows, _uses)


def causes_over_time(recorded: Recorded) -> list[Stretch]:
    """The host's own CPU time by cause, if it was sampled."""
    return _make_stretches(recorded.metered.rows, shares_by_cause)


def half_width(recorded: Recorded) -> float | None:
    """Half the 95 % interval of the least certain share of a point of `causes_over_time`: the median over rows."""
    reports = [row.report for row in recorded.metered.rows if shares_by_cause(row.report)]
    errors = list(map(_errors, reports))
    largest = sorted(max(each) for each in errors if each)
    if not largest:
        return None
    at_once = max(recorded.metered.rows[-1].end / MOST_POINTS, 1.0)  # a point of several rows rests on more samples
    return TWO_SIDED_95 * largest[len(largest) // 2] / math.sqrt(at_once)


def _errors(report: MeterReport) -> list[float]:
    found = report.by_cause.value
    errors = [cause.standard_error.value for cause in found.causes.values()] if found else []
    return [error for error in errors if error is not None]


def error_by_cause(step: StepFigures) -> Mapping[str, float]:
    """One standard error of each value of `cost_by_cause`."""
    costs, shares, errors = cost_by_cause(step) or {}, step.host.cpu_by_cause or {}, step.host.cpu_by_cause_se or {}
    return {name: cost * errors[name] / shares[name] for name, cost in costs.items() if errors.get(name)}


def cost_by_cause(step: StepFigures) -> Mapping[str, float] | None:
    """CPU seconds for each transaction by cause; None without samples or completed transactions."""
    by_cause = step.host.meter_report.by_cause.value if step.host.meter_report else None
    each = step.host.per_transaction
    if not by_cause or not each:
        return None
    seconds = {name: cause.seconds.value for name, cause in by_cause.causes.items()}
    return {name: value / each.transactions for name, value in seconds.items() if value}


def _uses(report: MeterReport) -> Shares | None:
    cpu, own = report.cpu, report.own
    if cpu.idle.value is None or own.usr.value is None:  # the subject has ended
        return None
    if own.others.value is None:
        shown = {"user": cpu.usr, "system": cpu.sys, "interrupts": cpu.irq}
    else:
        shown = {"the host itself": own.percent, "others on its CPUs": own.others, "interrupts": own.irq}
    shown |= {"waiting for a device": cpu.iowait, "stolen": cpu.steal}
    return {name: figure.value or 0.0 for name, figure in shown.items()}


def _make_stretches(rows: Sequence[MeterRow], take_shares: Callable[[MeterReport], Shares | None]) -> list[Stretch]:
    known = [(row, shares) for row in rows if (shares := take_shares(row.report)) is not None]
    width = known[-1][0].end / MOST_POINTS if known else 0.0
    return [_merge_rows(stretch, width) for stretch in _split_at_gaps(known)]


def _split_at_gaps(known: Sequence[tuple[MeterRow, Shares]]) -> Iterator[list[tuple[MeterRow, Shares]]]:
    stretch: list[tuple[MeterRow, Shares]] = []
    for row, shares in known:
        if stretch and row.end - stretch[-1][0].end > (1 + BREAK) * row.length:
            yield stretch
            stretch = []
        stretch.append((row, shares))
    if stretch:
        yield stretch


def _merge_rows(rows: Sequence[tuple[MeterRow, Shares]], width: float) -> Stretch:
    """Put rows together so that each covers at least `width` seconds."""
    groups: list[list[tuple[MeterRow, Shares]]] = []
    for row, shares in rows:
        if groups and row.end - (groups[-1][0][0].end - groups[-1][0][0].length) <= width:
            groups[-1].append((row, shares))
        else:
            groups.append([(row, shares)])
    middles = [(group[0][0].end - group[0][0].length + group[-1][0].end) / 2 for group in groups]
    return Stretch(middles, [_mean_shares(group) for group in groups])


def _mean_shares(rows: Sequence[tuple[MeterRow, Shares]]) -> Shares:
    whole = sum(row.length for row, _ in rows)
    names = dict.fromkeys(name for _, shares in rows for name in shares)
    return {name: sum(shares.get(name, 0.0) * row.length for row, shares in rows) / whole for name in names}
