"""The host's CPUs: those that it may use, also if other programs use them too."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource
from cuesta.figures.system_under_test import CpuUse
from cuesta.units import share

NOTED = 0.05
"""Share of the CPUs from which on a note mentions other programs, or the hypervisor."""


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    cpu, work = measured.step.host.cpu, measured.work
    if cpu is None:
        return
    number = count_cpus(measured)
    own = None if measured.step.host.per_transaction_missing else share_of_own_work(cpu)
    rate = work.per_s if work else 0.0
    is_ready_metered = measured.report is not None and measured.report.traffic.ready.value is not None
    yield Resource(
        name=f"CPU of {measured.owner}",
        kind=Kind.CPU,
        busy=1 - (cpu.idle + cpu.iowait) / 100,
        source="the CPUs' clocks: all but idle; a transaction's part from the clocks of the host's own tasks",
        servers=number,
        own_busy=own,
        demand=own * number / rate if own is not None and rate else None,
        waited=count_ready(measured) / rate if rate and cpu.others is not None and is_ready_metered else None,
        note=note_other_use(cpu),
    )


def count_cpus(measured: MeasuredStep) -> int:
    if measured.report and measured.report.cpus:
        return len(measured.report.cpus)
    rows = measured.recorded.metered.rows
    return max(len(rows[-1].report.cpus), 1) if rows and rows[-1].report.cpus else 1


def share_of_own_work(cpu: CpuUse) -> float:
    """The host's own share; with its interrupts if it is the whole machine."""
    return (cpu.usr + cpu.sys + ((cpu.irq or 0.0) if cpu.others is None else 0.0)) / 100


def count_ready(measured: MeasuredStep) -> float:
    """The mean length of the run queue of the host's tasks: ready, and not running."""
    return (measured.report.traffic.ready.value if measured.report else None) or 0.0


def note_other_use(cpu: CpuUse) -> str:
    others, stolen = (cpu.others or 0.0) / 100, cpu.steal / 100
    parts = [f"{share(others)} by others" if others >= NOTED else ""]
    parts += [f"{share(stolen)} taken by the hypervisor" if stolen >= NOTED else ""]
    return ", ".join(filter(None, parts))
