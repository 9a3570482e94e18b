"""What to meter next: resources that a step's meters do not show, the likeliest first."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.records.meter_report import MeterReport

STALLED = 10.0
"""Percent of the time that tasks stalled for a resource, from which on it is suspected first."""
MOST = 3
"""Suspects that one sentence names."""
STALLS = {"memory_some": "memory (its tasks stalled for it)", "io_some": "the disks (its tasks stalled for them)"}


def list_suspects(measured: MeasuredStep) -> Sequence[str]:
    """Name up to three resources that could make users wait and are not metered, the likeliest first."""
    report = measured.report
    if report is None:
        return ["the host's CPU and disks (--meters)", "the network", "the driver's machine"]
    return list(dict.fromkeys([*stalled_resources(report), *hidden_waits(report), *ALWAYS]))[:MOST]


ALWAYS = ("limits on its processes or threads", "the network and what stands between driver and host")


def stalled_resources(report: MeterReport) -> Iterator[str]:
    """Resources with pressure stall information (PSI) above STALLED."""
    for name, what in STALLS.items():
        figure = report.pressure.get(name)
        if figure and (figure.value or 0.0) >= STALLED:
            yield what


def hidden_waits(report: MeterReport) -> Iterator[str]:
    """Waits that only further meters show."""
    if report.traffic.off_cpu.value is None:
        yield "its waits off the CPU, such as locks (--meters exact)"
    if not report.devices:
        yield "its disks"
