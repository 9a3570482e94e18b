"""The host's CPUs: those that it may use, also if other programs use them too."""

from collections.abc import Iterator

from cuesta.analysis.capacity.measured import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource
from cuesta.figures.system_under_test import CpuUse
from cuesta.units import share

WORTH_SAYING = 0.05
"""Share of the CPUs from which on what others use, or the hypervisor takes, is said."""


def resources(of: MeasuredStep) -> Iterator[Resource]:
    cpu, work = of.step.host.cpu, of.work
    if cpu is None:
        return
    number = cpus(of)
    own = None if of.step.host.per_transaction_missing else own_share(cpu)
    rate = work.per_s if work else 0.0
    yield Resource(
        name="CPU of the host",
        kind=Kind.CPU,
        busy=1 - (cpu.idle + cpu.iowait) / 100,
        source="the CPUs' clocks: all but idle; a transaction's part from the clocks of the host's own tasks",
        servers=number,
        own=own,
        demand=own * number / rate if own is not None and rate else None,
        waited=ready(of) / rate if rate and of.report and cpu.others is not None and is_timed(of) else None,
        note=note(cpu),
    )


def cpus(of: MeasuredStep) -> int:
    """The number of CPUs that percentages are of."""
    if of.report and of.report.cpus:
        return len(of.report.cpus)
    rows = of.recorded.metered.rows
    return max(len(rows[-1].report.cpus), 1) if rows and rows[-1].report.cpus else 1


def own_share(cpu: CpuUse) -> float:
    """The share of the CPUs that the host itself used; its interrupts too if it is the whole machine."""
    return (cpu.usr + cpu.sys + ((cpu.irq or 0.0) if cpu.others is None else 0.0)) / 100


def is_timed(of: MeasuredStep) -> bool:
    """Whether the kernel timed how long the host's tasks were ready and did not run."""
    return of.report is not None and of.report.traffic.ready.value is not None


def ready(of: MeasuredStep) -> float:
    """The mean number of the host's tasks that were ready and did not run."""
    return (of.report.traffic.ready.value if of.report else None) or 0.0


def note(cpu: CpuUse) -> str:
    others, stolen = (cpu.others or 0.0) / 100, cpu.steal / 100
    parts = [f"{share(others)} by others" if others >= WORTH_SAYING else ""]
    parts += [f"{share(stolen)} taken by the hypervisor" if stolen >= WORTH_SAYING else ""]
    return ", ".join(filter(None, parts))
