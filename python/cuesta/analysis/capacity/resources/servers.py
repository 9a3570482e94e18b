"""The servers of the built-in host, by its own meters."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    host, work = measured.step.host.builtin, measured.work
    if host is None or host.busy is None:
        return
    rate = work.per_s if work else 0.0
    yield Resource(
        name="the built-in host's servers",
        kind=Kind.SERVERS,
        busy=host.busy,
        source="the built-in host's own meters: busy time, and the mean number of messages waiting",
        servers=max(host.servers, 1),
        own_busy=host.busy,
        demand=host.busy * max(host.servers, 1) / rate if rate else None,
        waited=(host.queue or 0.0) / rate if rate else None,
    )
