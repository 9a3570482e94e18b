"""The network interfaces of the host's machine that have a speed. The kernel does not say whose packets they carry."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    rate = measured.work.per_s if measured.work else 0.0
    for name, interface in (measured.report.interfaces if measured.report else {}).items():
        if busy := interface.busy.value:
            yield Resource(
                name=f"the network interface {name}{measured.of_host}",
                kind=Kind.NETWORK,
                busy=busy / 100,
                source="bytes ÷ speed, of the busier direction and the whole machine (/proc/net/dev)",
                demand=busy / 100 / rate if rate else None,
            )
