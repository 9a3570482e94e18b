"""What to meter next: resources that a step's meters do not show, the likeliest first."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.capacity.measured_step import MeasuredStep

STALLED = 10.0
"""Percent of the time that tasks stalled for a resource, from which on it is suspected first."""
MOST = 3
"""Suspects that one sentence names."""
STALLS = {"memory_some": "memory ({} tasks stalled for it)", "io_some": "the disks ({} tasks stalled for them)"}


def list_suspects(measured: MeasuredStep) -> Sequence[str]:
    """Name up to three resources that could make users wait and are not metered, the likeliest first."""
    views = measured.by_host()
    if all(view.report is None for view in views):
        return ["the host's CPU and disks (--meters)", "the network", "the driver's machine"]
    of_hosts = [
        suspect for suspects in (stalled_resources, hidden_waits) for view in views for suspect in suspects(view)
    ]
    return list(dict.fromkeys([*of_hosts, *ALWAYS]))[:MOST]


ALWAYS = ("limits on its processes or threads", "the network and what stands between driver and host")


def stalled_resources(view: MeasuredStep) -> Iterator[str]:
    """Resources of a host with pressure stall information (PSI) above STALLED."""
    for name, what in STALLS.items():
        figure = view.report.pressure.get(name) if view.report else None
        if figure and (figure.value or 0.0) >= STALLED:
            yield what.format(name_owner(view))


def hidden_waits(view: MeasuredStep) -> Iterator[str]:
    """Waits of a host that only further meters show."""
    if view.report is None:
        yield f"{name_owner(view)} CPU and disks"
        return
    if view.report.traffic.off_cpu.value is None:
        yield f"{name_owner(view)} waits off the CPU, such as locks (--meters exact)"
    if not view.report.devices:
        yield f"{name_owner(view)} disks"


def name_owner(view: MeasuredStep) -> str:
    return f"{view.host_name}'s" if view.host_name else "its"
