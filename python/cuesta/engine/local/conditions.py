"""The conditions of a certification: settings of the operating system, hardware, and other influences.

Values that cannot be read are left out. Nothing here identifies the machine or its users.
"""

import os
import re
from pathlib import Path

from cuesta import machine
from cuesta.plan import Settings
from cuesta.units import many

SETTINGS = (
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_rr_timeslice_ms",
    "kernel.task_delayacct",
    "kernel.perf_event_paranoid",
    "vm.dirty_background_ratio",
    "vm.dirty_ratio",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "net.core.somaxconn",
)
"""Settings of sysctl that influence how the kernel schedules processes and uses memory."""
FILES = {
    "transparent huge pages": "/sys/kernel/mm/transparent_hugepage/enabled",
    "clock source": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "CPU governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "CPU mitigations: spectre_v2": "/sys/devices/system/cpu/vulnerabilities/spectre_v2",
    "CPU mitigations: meltdown": "/sys/devices/system/cpu/vulnerabilities/meltdown",
    "quota of CPU time": "/sys/fs/cgroup/cpu.max",
}
LOADED = 0.1
"""Load average from which on it is listed as an influence."""


def system() -> str:
    """The distribution and the kernel."""
    release = re.search(r'^PRETTY_NAME="?([^"\n]+)', read("/etc/os-release") or "", re.MULTILINE)
    kernel = f"Linux {os.uname().release}"
    return f"{release[1]}, {kernel}" if release else kernel


def settings() -> dict[str, str]:
    values = {name: read(f"/proc/sys/{name.replace('.', '/')}") for name in SETTINGS}
    values |= {name: read(file) for name, file in FILES.items()}
    values["memory locked, KiB"] = meminfo("Mlocked")
    values["limit of processes"] = read("/proc/sys/kernel/pid_max")
    return {name: value for name, value in sorted(values.items()) if value}


def hardware() -> dict[str, str]:
    facts = machine.facts()
    memory = facts["memory"]
    values = {
        "processors": f"{facts['cpus']}, of them usable {len(facts['affinity'])}",  # type: ignore[arg-type]
        "processor": facts["cpu"],
        "architecture": facts["architecture"],
        "memory": f"{memory / 2**30:.1f} GiB" if isinstance(memory, int) else None,
        "disks": ", ".join(disks()),
        "virtualisation": facts["virtualisation"] or "none seen",
    }
    return {name: str(value) for name, value in values.items() if value}


def factors(plan: Settings) -> list[str]:
    """Other influences on the measurements of a plan, a sentence each."""
    one, five, fifteen = os.getloadavg()
    sentences = [f"load average {one:.2f}, {five:.2f}, {fifteen:.2f} before the first run"] if one >= LOADED else []
    if machine.facts()["virtualisation"]:
        sentences.append("a virtual machine: its neighbours share the hardware")
    if plan.engine.addresses:
        where = (
            f"the driver runs on {many(plan.node_count, 'node')} that {plan.engine.kind} reaches, and the meters here"
        )
        sentences.append(f"{where}; what they take of this machine is in `Used by others`")
    else:
        sentences.append("the driver and the meters run on the same machine; their CPU time is in `Used by others`")
    return sentences


def disks() -> list[str]:
    sizes = {path.name: read(str(path / "size")) for path in sorted(Path("/sys/block").glob("*"))}
    return [f"{name} {int(size) * 512 / 1e9:.0f} GB" for name, size in sizes.items() if size and int(size)]


def meminfo(name: str) -> str | None:
    match = re.search(rf"^{name}:\s+(\d+)", read("/proc/meminfo") or "", re.MULTILINE)
    return match[1] if match else None


def read(file: str) -> str | None:
    """The text of a small file on one row; None if it cannot be read."""
    try:
        return " ".join(Path(file).read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return None
