"""The only saturated CPU, where the host's tasks wait for it while others are idle: they may not use those."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.cpus import count_ready
from cuesta.analysis.capacity.resources.resource import IMPOSSIBLE, Kind, Resource
from cuesta.records.meter_report import Cpu

FULL = 0.9
"""Utilization from which on a CPU counts as saturated."""
QUEUE = 0.2
"""Mean length of the run queue from which on the host's tasks wait for that CPU."""


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    """Yield the CPU if it is the only saturated one and the host uses no more than one."""
    report, work = measured.report, measured.work
    if report is None or not report.seconds or len(report.cpus) < 2 or count_ready(measured) < QUEUE:
        return
    busy = {name: share for name, cpu in report.per_cpu.items() if (share := busy_share(cpu)) is not None}
    full = [name for name, share in busy.items() if share >= FULL]
    used = report.own.seconds.value
    if len(full) != 1 or len(busy) < 2 or used is None or used / report.seconds > IMPOSSIBLE:
        return
    own = min(used / report.seconds, busy[full[0]])
    yield Resource(
        name=f"CPU {full[0]} of {measured.owner}",
        kind=Kind.CPU,
        busy=busy[full[0]],
        source="that CPU's clock: all but idle; a transaction's part from the clocks of the host's own tasks",
        own_busy=own,
        demand=own / work.per_s if work else None,
        waited=count_ready(measured) / work.per_s if work else None,
        note="its tasks wait for it while other CPUs are idle",
    )


def busy_share(cpu: Cpu) -> float | None:
    """All but idle and I/O wait, as a share; None if that was not metered."""
    idle, waiting = cpu.idle.value, cpu.iowait.value
    return None if idle is None or waiting is None else 1 - (idle + waiting) / 100
