"""Describes this machine for the record: enough to tell whether two runs had alike machines, without its name."""

import hashlib
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path

Facts = Mapping[str, object]


def facts() -> Facts:
    """The facts about this machine; one that cannot be read is None."""
    return {
        "id": hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": [round(load, 2) for load in os.getloadavg()],
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "virtualisation": _virtualisation(),
        "python": platform.python_version(),
    }


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _cpu_model() -> str | None:
    match = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo") or "", re.MULTILINE)
    return match[1] if match else None


def _virtualisation() -> str | None:
    """The hypervisor's name from DMI (`QEMU`, `KVM`, …); `unknown` if DMI has none; None on real hardware."""
    flags = re.search(r"^flags\s*:.*\bhypervisor\b", _read("/proc/cpuinfo") or "", re.MULTILINE)
    return (_read("/sys/class/dmi/id/sys_vendor") or "unknown") if flags else None
