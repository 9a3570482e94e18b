"""The CPU quota of the host's control group (`cpu.max`)."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    report, work = measured.report, measured.work
    if report is None or not (quota := report.idle.quota.value):
        return
    used = report.own.seconds.value
    if used is None or not report.seconds:
        return
    throttled, busy = report.idle.throttled.value, used / report.seconds / quota
    waited = None if throttled is None or not work else throttled / 100 * len(report.cpus) / work.per_s
    yield Resource(
        name=f"the CPU quota of {measured.owner}",
        kind=Kind.CPU,
        busy=busy,
        source="CPU time of the control group ÷ cpu.max; the time for which it was throttled",
        servers=quota,
        own_busy=busy,
        demand=busy * quota / work.per_s if work else None,
        waited=waited,
    )
