"""Runs the neighbours of a segment: `python -m cuesta.engine.local.neighbour_process '{"folder": …, "cpus": …}'`.

stdin   rows of JSON, one for each step that has a neighbour: {"step", "command", "settled", "end"}, instants in ns; the
        end means stop, also when the engine was killed
stdout  a row when this process is ready: it takes a while to load on a busy machine
files   beside.jsonl, a `NeighbourRow` for each of these steps; beside.log, what the neighbours print on standard error

A command runs in a process group and session of its own, as in another terminal, from a second before the measurement
interval to its end. It is started again when its group has ended. This process adopts what daemons it leaves behind, so
that none outlives it, and all their CPU time is known.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cuesta import _native
from cuesta.private_files import RecordFile, private, record_file
from cuesta.records.reading import to_row
from cuesta.records.rows import CpuReading, NeighbourRow, NeighbourRun
from cuesta.terminal import show

SECOND = 1_000_000_000
LEAD = SECOND
"""Nanoseconds from a neighbour's start to the measurement interval: a shell and a compiler need some of them."""
PACE = SECOND
"""Nanoseconds between two starts at least: a command that ends at once would make the machine busy with starting it."""
LOOK_EVERY = SECOND
"""Nanoseconds between two looks whether the group has ended, if no signal says it."""
GRACE = SECOND
"""Nanoseconds from SIGTERM to SIGKILL: a compiler deletes what it has half written."""
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals at which this process ends, with the neighbour."""
LONGEST_LOG = 1 << 20
"""Bytes of `beside.log`; what follows is dropped."""
TICK = 1 / os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


@dataclass(slots=True)
class Events:
    """What this process waits for: orders, output of neighbours on standard error, and ends of children."""

    log: IO[bytes]
    errors: int
    """The end of the pipe that neighbours write to."""
    signals: int
    """The end of the pipe that gets a byte for each signal: a child has ended, or this process is to end."""
    orders: deque[dict[str, Any]] = field(default_factory=deque)
    stopped: bool = False
    """Whether standard input has ended, or a signal asked for the end."""
    partial: bytes = b""
    left: int = LONGEST_LOG

    def wait(self, until: int | None) -> None:
        """Wait for one of them, at most until an instant."""
        sources = [self.errors, self.signals, *([] if self.stopped else [0])]
        timeout = None if until is None else max(until - _native.now(), 0) / SECOND
        for source in select.select(sources, [], [], timeout)[0]:
            piece = os.read(source, 1 << 16)
            if source == self.errors:
                self._keep(piece)
            elif source == self.signals:
                self.stopped = self.stopped or any(number in ENDS for number in piece)
            elif source == 0:
                self._take(piece)

    def _keep(self, piece: bytes) -> None:
        with suppress(OSError):  # the recorder reports a full disk
            self.log.write(piece[: self.left])
        self.left -= min(len(piece), self.left)

    def _take(self, piece: bytes) -> None:
        self.stopped = not piece
        *rows, self.partial = (self.partial + piece).split(b"\n")
        self.orders.extend(map(json.loads, rows))


@dataclass(slots=True)
class Command:
    """A command of the shell, started again and again."""

    text: str
    errors: int
    """Where it writes its standard error."""
    shell: subprocess.Popen[bytes] | None = None
    """The shell that runs; its number is its group's."""
    begin: int = 0
    runs: list[NeighbourRun] = field(default_factory=list)

    @property
    def next_start(self) -> int:
        """The earliest instant of its next start."""
        return self.begin + PACE if self.runs else 0

    def start(self) -> None:
        self.begin = _native.now()
        try:
            self.shell = subprocess.Popen(
                ["/bin/sh", "-c", self.text],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                start_new_session=True,
            )
        except OSError as error:
            self._note_end(f"could not be started: {error.strerror}")

    def look(self) -> None:
        """Reap ended children; note it if the whole group has ended."""
        reap(self.shell)
        if self.shell and not self._group_runs():
            code = self.shell.returncode
            self._note_end(f"was killed by signal {-code}" if code < 0 else f"ended with code {code}")

    def stop(self) -> None:
        """Note that it is ended because its time is over."""
        if self.shell:
            self._note_end(None)

    def _note_end(self, how: str | None) -> None:
        self.shell = None
        self.runs.append(NeighbourRun(begin=self.begin, end=_native.now(), ended=how))

    def _group_runs(self) -> bool:
        assert self.shell
        try:
            os.killpg(self.shell.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it runs as somebody else, as under sudo
            return True
        return True


def reap(shell: subprocess.Popen[bytes] | None) -> None:
    """Reap children that have ended, orphans too; the shell gets its return code."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if shell and ended[0] == shell.pid:
                shell.returncode = os.waitstatus_to_exitcode(ended[1])


def accompany(order: dict[str, Any], events: Events, errors: int) -> NeighbourRow:
    """Run a neighbour beside a measurement interval; returns the record of it."""
    command = Command(order["command"], errors)
    settled, end = order["settled"], order["end"]
    begun: CpuReading | None = None
    while not events.stopped and (now := _native.now()) < end:
        command.look()
        if begun is None and now >= settled:
            begun = read_cpu(now)
        start = max(settled - LEAD, command.next_start)
        if command.shell is None and now >= start:
            command.start()
            start = now + LOOK_EVERY
        events.wait(min(end, settled if begun is None else end, start if command.shell is None else now + LOOK_EVERY))
    ended = read_cpu(_native.now())
    command.look()
    command.stop()
    return NeighbourRow(step=order["step"], begin=begun or ended, end=ended, runs=command.runs)


def read_cpu(at: int) -> CpuReading:
    """The CPU time of all descendants so far: of those that were reaped, and of those that live."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    alive = sum(map(cpu_time, descendants(os.getpid())))
    return CpuReading(at=at, cpu=ended.ru_utime + ended.ru_stime + alive)


def cpu_time(pid: int) -> float:
    """Seconds of a process and of its reaped children; 0 if it has ended meanwhile."""
    try:
        values = (PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, values[11:15])) * TICK  # utime, stime, cutime, cstime: proc_pid_stat(5)


def descendants(pid: int) -> Iterator[int]:
    """The living descendants of a process, parents first."""
    children = list[int]()
    with suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            children += map(int, (task / "children").read_text().split())
    for child in children:
        yield child
        yield from descendants(child)


def end_all(events: Events) -> None:
    """End all descendants: by SIGTERM, after a while by SIGKILL."""
    begun = _native.now()
    asked = set[int]()
    while alive := list(descendants(os.getpid())):
        is_over = _native.now() >= begun + GRACE
        for pid in alive:
            if is_over or pid not in asked:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL if is_over else signal.SIGTERM)
                asked.add(pid)
        events.wait(_native.now() + GRACE // 100)
        reap(None)
        if _native.now() > begun + 3 * GRACE:
            return  # of somebody else's, or in the kernel


def listen(log: IO[bytes]) -> tuple[Events, int]:
    """What this process waits for, and the end of the pipe to which neighbours write their errors."""
    (errors, to_errors), (signals, to_signals) = os.pipe(), os.pipe()
    os.set_blocking(to_signals, False)
    for number in (signal.SIGCHLD, *ENDS):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(to_signals, warn_on_full_buffer=False)
    return Events(log, errors, signals), to_errors


def main() -> None:
    about = json.loads(sys.argv[1])
    folder = Path(about["folder"])
    _native.adopt_orphans()
    if about["cpus"]:
        os.sched_setaffinity(0, about["cpus"])
    with (
        open(folder / "beside.log", "wb", buffering=0, opener=private) as log,
        record_file(folder / "beside.jsonl", "w") as record,
    ):
        events, errors = listen(log)
        show("ready")
        serve(events, errors, record)


def serve(events: Events, errors: int, record: RecordFile) -> None:
    """Accompany the steps that are ordered, until standard input ends."""
    try:
        while not events.stopped:
            if events.orders:
                record.write(to_row(accompany(events.orders.popleft(), events, errors)))
                end_all(events)
            else:
                events.wait(None)
    finally:
        end_all(events)


if __name__ == "__main__":
    main()
