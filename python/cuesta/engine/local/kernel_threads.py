"""CPU time of the kernel's own threads during a run: writeback, journal, reclaim (on Multics, the file system daemon).

They do not belong to the processes that a run meters. Their CPU time is read for the whole machine, whichever process
they worked for, from the scheduler's count (`/proc/PID/schedstat`, nanoseconds).
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from cuesta.engine.local.recorded_readings import record_readings
from cuesta.records.rows import KernelThreadsRow

FILE = "kernel-threads.jsonl"
KTHREADD = 2
"""The parent of all kernel threads."""


class KernelThreads:
    """Adds up the threads' CPU time from the start on."""

    def __init__(self, proc: Path) -> None:
        self.proc = proc
        self.before = cpu_times(proc)
        self.used = 0

    def read(self, at: int) -> KernelThreadsRow:
        """Read the CPU time so far; `at` is the instant, in ns.

        A new thread counts whole; what an ended one used after the last reading is lost.
        """
        now = cpu_times(self.proc)
        self.used += sum(max(used - self.before.get(pid, 0), 0) for pid, used in now.items())
        self.before = now
        return KernelThreadsRow(at=at, seconds=self.used / 1e9)


@contextmanager
def record_kernel_threads(folder: Path, every: float, proc: Path = Path("/proc")) -> Iterator[None]:
    """Take readings during the block, and write them into a folder, which exists when the block ends.

    Nothing is written where the threads cannot be seen.
    """
    threads = KernelThreads(proc)
    with record_readings(folder / FILE, every, threads.read) if threads.before else nullcontext():
        yield


def cpu_times(proc: Path) -> dict[int, int]:
    """CPU time of each kernel thread in ns; empty where they cannot be seen (in a container)."""
    try:
        if (proc / str(KTHREADD) / "comm").read_text() != "kthreadd\n":
            return {}
        children = (proc / str(KTHREADD) / "task" / str(KTHREADD) / "children").read_text().split()
    except OSError:
        return {}
    times: dict[int, int] = {}
    for pid in map(int, children):
        with suppress(OSError, ValueError, IndexError):
            times[pid] = int((proc / str(pid) / "schedstat").read_text().split()[0])
    return times
