"""Rows of a table: how long the subject's tasks were off their CPUs and in run queues, if the kernel was traced."""

from collections.abc import Iterator

from cuesta.records.meter_report import MeterReport, Quantiles
from cuesta.units import count, seconds

WHY = {
    "sleep": "asleep",
    "page": "for a page",
    "loading": "for its program",
    "io": "for a device",
    "quota": "barred by its quota",
    "preempted": "preempted",
}
"""Why a task leaves its CPU."""
HEADS = ("count", "total", "p50", "p90", "p99", "max")
ABOUT = (
    "from leaving a CPU to having one again, traced; in a run queue: the part of that in which the task was ready "
    "(run-queue delay). p50 to max are known within 6 %"
)


def rows(meter_report: MeterReport) -> Iterator[tuple[str, ...]]:
    """A row for each reason that occurred, then one for waits in run queues; none if the kernel was not traced."""
    off_cpu = meter_report.traffic.off_cpu.value or {}
    yield from ((label, *cells(off_cpu[why])) for why, label in WHY.items() if why in off_cpu)
    if queued := meter_report.traffic.run_queue_delay.value:
        yield "in a run queue", *cells(queued)


def cells(times: Quantiles) -> tuple[str, ...]:
    return count(times.count), *map(seconds, (times.sum, times.p50, times.p90, times.p99, times.max))
