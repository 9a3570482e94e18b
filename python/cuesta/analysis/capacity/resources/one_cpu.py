"""The one CPU that a host with a single busy thread can use, however many CPUs there are."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import IMPOSSIBLE, Kind, Resource

SUSPECT = 0.9
"""Share of one CPU from which on a process of several threads may have one that is busy all the time."""


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    """Yield it for a host of one process that uses no more than one CPU."""
    report, work = measured.report, measured.work
    if report is None or len(report.cpus) < 2 or measured.step.host.builtin or report.own.processes.value != 1:
        return
    used, threads = report.own.seconds.value, report.own.tasks.value
    if used is None or not report.seconds:
        return
    busy = used / report.seconds
    if busy > IMPOSSIBLE or not (threads == 1 or busy >= SUSPECT):
        return
    several = threads is None or threads > 1
    yield Resource(
        name=f"one CPU of {measured.owner}",
        kind=Kind.CPU,
        busy=busy,
        source="the clocks of the host's own tasks, as a share of one CPU",
        own_busy=busy,
        demand=busy / work.per_s if work else None,
        note="its process has several threads: which one is busy is not metered" if several else "it has one thread",
    )
