"""What to meter next: resources that a step's meters do not show, the likeliest first."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.capacity.measured import MeasuredStep
from cuesta.records.meter_report import MeterReport

STALLED = 10.0
"""Percent of the time that tasks stalled for a resource, from which on it is suspected first."""
MOST = 3
"""Suspects that one sentence names."""
STALLS = {"memory_some": "memory (its tasks stalled for it)", "io_some": "the disks (its tasks stalled for them)"}


def suspects(of: MeasuredStep) -> Sequence[str]:
    """Name what could make users wait and is not metered, the likeliest first."""
    report = of.report
    if report is None:
        return ["the host's CPU and disks (--meters)", "the network", "the driver's machine"]
    return list(dict.fromkeys([*stalled(report), *hidden(report), *ALWAYS]))[:MOST]


ALWAYS = ("limits on its processes or threads", "the network and what stands between driver and host")


def stalled(report: MeterReport) -> Iterator[str]:
    """Resources for which tasks stalled, by the kernel's pressure figures."""
    for name, what in STALLS.items():
        figure = report.pressure.get(name)
        if figure and (figure.value or 0.0) >= STALLED:
            yield what


def hidden(report: MeterReport) -> Iterator[str]:
    """Waits that only further meters show."""
    if report.traffic.off_cpu.value is None:
        yield "its waits off the CPU, such as locks (--meters exact)"
    if not report.devices:
        yield "its disks"
