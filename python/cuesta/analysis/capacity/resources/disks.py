"""The block devices of the host's machine that did anything. The kernel does not say whose requests they serve."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    rate = measured.work.per_s if measured.work else 0.0
    for name, device in (measured.report.devices if measured.report else {}).items():
        if busy := device.busy.value:
            yield Resource(
                name=f"the device {name}{measured.of_host}",
                kind=Kind.DISK,
                busy=busy / 100,
                source="share of the time with at least one request, of the whole machine (/proc/diskstats)",
                demand=busy / 100 / rate if rate else None,
                # The mean number of requests outstanding, less the one in service.
                waited=max((device.queue.value or 0.0) - busy / 100, 0.0) / rate if rate else None,
                note="one that serves several requests at once can do more",
            )
