"""The front end of the built-in host: its busiest thread, and its buffers."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource
from cuesta.analysis.front_end import FrontEnd, derive_front_end
from cuesta.units import count


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    times, rate = measured.recorded.steps.get(measured.step.step), measured.work.per_s if measured.work else 0.0
    report = derive_front_end(measured.recorded, times) if times else None
    if report and report.idle:
        busy = 1 - min(report.idle)
        yield Resource(
            name="the built-in host's busiest thread",
            kind=Kind.CPU,
            busy=busy,
            source="the scheduler's clock of each of its threads",
            own_busy=busy,
            demand=busy / rate if rate else None,
        )
    if report and report.pool_size:
        yield describe_buffers(report)


def describe_buffers(report: FrontEnd) -> Resource:
    overflows = f"; {count(report.space_overflows)} times it had no room" if report.space_overflows else ""
    return Resource(
        name="the built-in host's buffers",
        kind=Kind.BUFFERS,
        busy=report.pool_used_share,
        source="characters in its pool, read at the ends of the rows of its meters",
        servers=report.pool_size,
        own_busy=report.pool_used_share,
        note=f"{count(report.pool_size)} characters{overflows}",
    )
