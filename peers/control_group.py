"""The processes of a program, in a control group of their own (cgroup v2).

The kernel counts the CPU time of all of them, those that have ended included, and stops or ends all of them at once.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TOOL_CPU = 0
HOST_CPU = 1
START = 'echo $$ >"$0/cgroup.procs" && exec taskset -c "$@"'
"""A shell that enters the group and becomes the program, on one CPU."""


@dataclass(frozen=True)
class ControlGroup:
    path: Path
    leader: subprocess.Popen[bytes]

    @classmethod
    @contextmanager
    def started(cls, name: str, command: list[str], *, cpu: int, out: Path, folder: Path) -> Iterator["ControlGroup"]:
        """Start a program; end all its processes with the block. `folder` is its home and its working directory."""
        path = mounted() / f"cuesta-peers-{os.getpid()}-{name}"
        path.mkdir()
        leader = None
        try:
            with out.open("wb") as file:
                leader = subprocess.Popen(
                    ["/bin/sh", "-c", START, str(path), str(cpu), *command],
                    stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=folder,
                    env=os.environ | {"HOME": str(folder)}, start_new_session=True,
                )  # fmt: skip
            yield cls(path, leader)
        finally:
            (path / "cgroup.kill").write_text("1", encoding="utf-8")
            if leader:
                leader.wait()
            until(lambda: event(path, "populated") == 0, f"the end of the processes of {path}")
            path.rmdir()

    def cpu(self) -> float:
        """CPU time so far, in seconds."""
        return words(self.path / "cpu.stat")["usage_usec"] / 1e6

    def processes(self) -> list[int]:
        return [int(pid) for pid in (self.path / "cgroup.procs").read_text(encoding="utf-8").split()]

    def memory(self) -> int:
        """Bytes of resident memory; what several processes share is divided among them (PSS)."""
        total = 0
        for pid in self.processes():
            with suppress(OSError):  # it may have ended
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
                total += int(rollup.split("Pss:")[1].split()[0]) * 1024
        return total

    def ended(self) -> bool:
        return self.leader.poll() is not None

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop all processes during the block."""
        (self.path / "cgroup.freeze").write_text("1", encoding="utf-8")
        until(lambda: event(self.path, "frozen") == 1, f"{self.path} to be stopped")
        try:
            yield
        finally:
            (self.path / "cgroup.freeze").write_text("0", encoding="utf-8")


def mounted() -> Path:
    """The folder of control groups."""
    for mount in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, place, kind, *_ = mount.split()
        if kind == "cgroup2":
            return Path(place)
    raise OSError("no control groups (cgroup v2) are mounted here")


def event(path: Path, name: str) -> int:
    return words(path / "cgroup.events")[name]


def words(file: Path) -> dict[str, int]:
    """Read a file of rows of a name and a number."""
    pairs = (row.split() for row in file.read_text(encoding="utf-8").splitlines())
    return {name: int(number) for name, number in pairs}


def until(happened: Callable[[], bool], what: str, group: ControlGroup | None = None, seconds: float = 60) -> None:
    """Wait until something has happened. It is a failure if it takes too long, or if the group ends before."""
    give_up = time.monotonic() + seconds
    while not happened():
        if group and group.ended() and not happened():
            raise TimeoutError(f"waited for {what}, but the program ended with {group.leader.returncode}")
        if time.monotonic() > give_up:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.005)
