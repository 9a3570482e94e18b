"""How much memory this machine can still give to a run, and to this process's control groups."""

from collections.abc import Iterator
from pathlib import Path

from cuesta.engine.local.control_groups import CGROUPS, PROC, list_groups, read_number, read_rows
from cuesta.errors import CuestaError

MARGIN = 1.25
"""A run is refused only if its estimate is more than this times what is available: an estimate may be too high."""
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
FILES = (("inactive_file", "active_file"), ("total_inactive_file", "total_active_file"))
"""Memory of a group that holds copies of files, and so can be taken from it: in version 2 and in version 1."""


def check_memory(needed: int, users: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> None:
    """Raise CuestaError if `users` take far more bytes than this machine has. If /proc does not tell, the run will."""
    available, where = min(measure_available(proc, cgroups), default=(needed, ""))
    if needed > MARGIN * available:
        what = f"this run takes about {write_bytes(needed)} of memory for {users:,} users (estimated)"
        remedy = "take fewer users, or spread them over more machines: --engine"
        raise CuestaError(f"{what}, and {write_bytes(available)} are available {where}", remedy)


def measure_available(proc: Path = PROC, cgroups: Path = CGROUPS) -> Iterator[tuple[int, str]]:
    """The bytes that are available, and where. Swap counts as available: what runs beside may go there."""
    machine = read_rows(proc / "meminfo")
    if "MemAvailable" in machine:
        yield (machine["MemAvailable"] + machine.get("SwapFree", 0)) * KIB, "here (MemAvailable)"
    for group in list_groups("memory", proc, cgroups):
        for limit, usage, files in zip(
            ("memory.max", "memory.limit_in_bytes"), ("memory.current", "memory.usage_in_bytes"), FILES, strict=True
        ):
            most, used = read_number(group / limit), read_number(group / usage)
            if most is not None and used is not None:
                reclaimable = sum(read_rows(group / "memory.stat").get(name, 0) for name in files)
                yield max(most - used + reclaimable, 0), f"in its control group ({limit})"


def write_bytes(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / MIB:.0f} MiB"
