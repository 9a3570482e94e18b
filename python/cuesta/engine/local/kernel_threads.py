"""CPU time of the kernel's own threads during a run: writeback, journal, reclaim (on Multics, the file system daemon).

They do not belong to the processes that a run meters. Their CPU time is read for the whole machine, whichever process
they worked for, from the scheduler's count (`/proc/PID/schedstat`, nanoseconds).
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cuesta import _native
from cuesta.private_files import write_private

FILE = "kernel-threads.jsonl"
KTHREADD = 2
"""The parent of all kernel threads."""


class KernelThreads:
    """Reads the threads' CPU time at intervals. A row has the instant and the CPU time since the start."""

    def __init__(self, every: float, proc: Path) -> None:
        self.every = every
        self.proc = proc
        self.before = read(proc)
        self.used = 0
        self.rows: list[str] = []
        self.ending = threading.Event()

    def look(self) -> None:
        """Take a reading. A new thread counts whole; what an ended one used after the last reading is lost."""
        now = read(self.proc)
        self.used += sum(max(used - self.before.get(pid, 0), 0) for pid, used in now.items())
        self.before = now
        self.rows.append(json.dumps({"at": _native.now(), "seconds": self.used / 1e9}))

    def keep_looking(self) -> None:
        """Take readings until the end is signalled, and one last reading then."""
        self.look()
        while not self.ending.wait(self.every):
            self.look()
        self.look()


@contextmanager
def kernel_threads(folder: Path, every: float, proc: Path = Path("/proc")) -> Iterator[None]:
    """Take readings during the block, and write them into a folder, which exists when the block ends."""
    threads = KernelThreads(every, proc)
    looking = threading.Thread(target=threads.keep_looking, daemon=True)
    looking.start()
    try:
        yield
    finally:
        threads.ending.set()
        looking.join()
        if folder.is_dir() and threads.before:
            with suppress(OSError):  # the recorder reports a full disk
                write_private(folder / FILE, "\n".join(threads.rows) + "\n")


def read(proc: Path) -> dict[int, int]:
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
