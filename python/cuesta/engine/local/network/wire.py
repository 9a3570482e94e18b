"""Records what crossed the wire in each step: `wire.jsonl` (docs/folder.md).

A thread reads the counters of both ends at the bounds of each measurement interval, and the agents of TMux, whose
counters begin anew with the interval. It reads files of /proc, so that nothing is started while keys are due.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from cuesta import _native
from cuesta.engine.local.expected_steps import ExpectedSteps
from cuesta.engine.local.network.deferral import defer_receiving
from cuesta.engine.local.network.isolation import WIRE, NetNsPair
from cuesta.engine.local.network.multiplexing import TmuxAgents, multiplex
from cuesta.plan import Settings
from cuesta.private_files import RecordFile, record_file
from cuesta.records.reading import to_row
from cuesta.records.rows import TmuxReadings, WireCounters, WireReading, WireRow

COUNTERS = {
    "received_bytes": 0,
    "received_packets": 1,
    "received_dropped": 3,
    "sent_bytes": 8,
    "sent_packets": 9,
    "sent_dropped": 11,
}
"""Columns of /proc/net/dev."""


@dataclass(slots=True)
class WireRecord:
    """A thread that records each step that it is told to expect."""

    file: RecordFile
    processes: Mapping[str, int]
    """A process in each side's network, by side."""
    tmux: TmuxAgents | None
    expected: ExpectedSteps = field(default_factory=ExpectedSteps)
    """The steps to record."""

    def expect(self, number: int, settled: int, end: int) -> None:
        """Record a step between two instants of the monotonic clock, in ns. Steps are given in order."""
        self.expected.expect(number, settled, end)

    def cut(self, number: int, at: int) -> None:
        """Have an expected step end at an instant ahead."""
        self.expected.cut(number, at)

    def run(self) -> None:
        """Record steps until there are no more. A step that is cut short ends when the run does."""
        begun: tuple[int, WireReading] | None = None
        for number, ends in self.expected.bounds():
            if ends and begun:
                self._record(*begun)
            begun = None if ends else (number, self._read(self._ask("reset")))
        if begun:
            self._record(*begun)

    def _record(self, number: int, begin: WireReading) -> None:
        """Write the row of a step that ends now."""
        end = self._read(None)
        self.file.write(to_row(WireRow(step=number, begin=begin, end=replace(end, tmux=self._ask("status")))))

    def _read(self, tmux: TmuxReadings | None) -> WireReading:
        ends = {side: counters(process) for side, process in self.processes.items()}
        return WireReading(at=_native.now(), tmux=tmux, driver=ends["driver"], host=ends["host"])

    def _ask(self, request: str) -> TmuxReadings | None:
        if self.tmux is None:
            return None
        return TmuxReadings(driver=self.tmux.driver.ask(request), host=self.tmux.host.ask(request))


Recording = Callable[[Path, Mapping[str, int]], AbstractContextManager[WireRecord]]
"""Records a wire in a folder, by a process in each side's network; `record_wire` that knows the agents of TMux."""


@contextmanager
def shape_traffic(settings: Settings, sides: NetNsPair) -> Iterator[Recording]:
    """Defer and multiplex between the sides during the block, as the settings of a segment say."""
    with defer_receiving(settings.defer, sides), multiplex(settings.tmux, sides) as agents:
        yield partial(record_wire, tmux=agents)


@contextmanager
def record_wire(folder: Path, processes: Mapping[str, int], tmux: TmuxAgents | None) -> Iterator[WireRecord]:
    """Record the wire during the block; `processes` has one in each side's network."""
    with record_file(folder / "wire.jsonl", "w") as file:
        record = WireRecord(file, processes, tmux)
        thread = threading.Thread(target=record.run, daemon=True)
        thread.start()
        try:
            yield record
        finally:
            record.expected.stop()
            thread.join()


def counters(process: int) -> WireCounters | None:
    """The counters of the wire's end in a process's network; None if the process has ended."""
    try:
        rows = Path(f"/proc/{process}/net/dev").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    cells = next((row.partition(":")[2].split() for row in rows if row.strip().startswith(f"{WIRE}:")), None)
    return WireCounters(**{name: int(cells[column]) for name, column in COUNTERS.items()}) if cells else None
