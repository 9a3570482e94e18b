"""The network interfaces of the host's machine that have a speed. The kernel does not say whose packets they carry."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource


def resources(of: MeasuredStep) -> Iterator[Resource]:
    rate = of.work.per_s if of.work else 0.0
    for name, interface in (of.report.interfaces if of.report else {}).items():
        if busy := interface.busy.value:
            yield Resource(
                name=f"the network interface {name}",
                kind=Kind.NETWORK,
                busy=busy / 100,
                source="bytes ÷ speed, of the busier direction and the whole machine (/proc/net/dev)",
                demand=busy / 100 / rate if rate else None,
            )
