"""`ic_sample` of 1979 for a terminal: samples by location, largest first, and by module, with idle."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from cuesta.columns import align_left, align_right, cut, cut_start
from cuesta.plain_text import plain
from cuesta.records.meter_report import MeterReport
from cuesta.report.cells import bracket_tiers
from cuesta.units import ABSENT, percent

BAR = 20
"""Columns of the longest bar."""
MODULE, FUNCTION = 14, 36
"""Columns of names."""


def text(listing: Mapping[str, Any], meter_report: MeterReport) -> str:
    """Lay out the histogram. 100 % is the busy samples; idle is a share of the CPUs' time, by counters."""
    return "\n".join(_rows(listing, meter_report))


def _rows(listing: Mapping[str, Any], meter_report: MeterReport) -> Iterator[str]:
    yield f"idle {_idle(meter_report)}"
    if not listing["samples"]:
        yield "no sample fell into the subject: it was not on a CPU"
        return
    covered = f"{100 * listing['covered']:.1f} % of {listing['samples']} busy samples"
    yield f"\nby location: {covered}; {listing['more']} more locations had the rest"
    if rare := listing.get("rare"):
        yield f"{rare} samples have rare call stacks: they count for their last function alone, or as others"
    yield from _histogram(listing["locations"], listing["samples"])
    yield "\nby module"
    yield from _histogram(listing["modules"], listing["samples"])


def _histogram(rows: list[Mapping[str, Any]], samples: int) -> Iterator[str]:
    widest = max((row["percent"] for row in rows), default=1.0)
    for row in rows:
        module = align_left(cut(plain(row["module"]), MODULE), MODULE)
        end = cut_start(plain(row["function"]), FUNCTION)  # a long path is recognized by its end
        function = align_left(end, FUNCTION)
        part = min(row["percent"] / 100, 1.0)
        error = 100 * math.sqrt(part * (1 - part) / samples) if part < 1 else None
        bar = "*" * max(1, round(BAR * row["percent"] / widest))
        yield f"{module} {function}{align_right(percent(row['percent'], error), 6)} {bar}"


def _idle(meter_report: MeterReport) -> str:
    idle, waiting = meter_report.cpu.idle, meter_report.cpu.iowait
    if idle.value is None:
        return f"{ABSENT} of the CPUs' time: no meter data: {plain(idle.why or '')}"
    share = idle.value + (waiting.value or 0.0)
    return f"{share:.1f} % of the CPUs' time: counted, not sampled{bracket_tiers(idle)}"
