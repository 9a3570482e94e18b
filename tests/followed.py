"""Writes what is known of followed keys into a run folder: `followed.csv`, and their paths in `paths.jsonl`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuesta.analysis.path.ranges import MODULUS, is_control
from cuesta.ledger.paths import NAMES
from tests.run_folder import CLOCK, NANO, Row, write_rows

HOST_CLOCK = 123_456 * NANO
"""What the host's clock shows at the start of the run: another one than the driver's."""
OUTSIDE = 30_000
"""ns of network and client."""


def hop(kind: str, task: str = "", us: float = 0.0, **more: Any) -> Row:
    """A hop of a path."""
    pid = {"": 0, "sshd": 271, "bash": 902, "relay.py": 4711}.get(task, 77)
    return {"kind": kind, "task": task, "pid": pid, "ns": round(1000 * us), **more}


def visit(task: str, on_cpu: float, run_queue: float = 0.0, *others: Row, **more: Any) -> list[Row]:
    """The hops of one task's visit; `more` is of the run queue."""
    waited = [hop("run_queue", task, run_queue, **more)] if run_queue else []
    return [hop("on_cpu", task, on_cpu), *waited, *others]


def worker(us: float) -> list[Row]:
    return [hop("worker_queue", "kworker/u8:1", us), hop("on_cpu", "kworker/u8:1", 3.0)]


def at_shell(*slow: Row, run_queue: float = 7.0, other: str | None = None) -> list[Row]:
    """The chain of a key at bash through sshd; `slow` hops are of sshd's way back."""
    return [
        hop("network_stack", "", 4.0),
        *visit("sshd", 50.0, run_queue, other=other),
        *worker(9.0),
        *visit("bash", 28.0, 5.0),
        *worker(7.0),
        *visit("sshd", 14.0, 3.0, *slow),
        hop("sent", "", 4.0),
    ]


def end_visits(hops: Sequence[Row]) -> list[Row]:
    """Say of each hop when its visit ended; hops of one task in a row, but the kernel's, are one visit."""
    ends, total = list[int](), 0
    for each in hops:
        total += each["ns"]
        ends.append(total)
    for place in reversed(range(len(hops) - 1)):
        if hops[place]["task"] and hops[place]["task"] == hops[place + 1]["task"]:
            ends[place] = ends[place + 1]
    return [each | {"ended": end} for each, end in zip(hops, ends, strict=True)]


@dataclass
class Line:
    """A probe line: the offsets of its streams so far, the rows of its keys, and the paths of these."""

    port: int | None = 20_000
    user: int = 0
    group: str = "interactive"
    sent: int = 0
    """Bytes to the host."""
    received: int = 0
    terminal: int | None = None
    rows: list[Row] = field(default_factory=list)
    paths: list[Row] = field(default_factory=list)

    def type(
        self, at: float, hops: Sequence[Row], *, what: str = "echo", outside: int = OUTSIDE, size: int = 1, **path: Any
    ) -> None:
        """Type a key at an instant of the run, in seconds. Of a control key nothing is followed."""
        shown = self.answer(at, hops, size, **path) + outside
        self.note(what, at, self.sent, self.received - 1, shown)

    def answer(self, at: float, hops: Sequence[Row], size: int = 1, **path: Any) -> int:
        """A segment of `size` bytes, and an answer of one, after a time in ns at the host that is returned."""
        key_from, echo_from = self.sent, self.received
        self.sent, self.received = key_from + size, echo_from + 1
        total = sum(int(each["ns"]) for each in hops)
        if not is_control(self.port, self.sent % MODULUS):
            row = {"port": self.port, "terminal": self.terminal, "key_from": key_from % MODULUS}
            row |= {"key_to": self.sent % MODULUS, "echo_from": echo_from % MODULUS, "ns": total, "whole": True}
            row |= {"echo_to": self.received % MODULUS, "begun": HOST_CLOCK + round(at * NANO) + OUTSIDE // 2}
            self.paths.append(row | {"hops": end_visits(hops)} | path)
        return total

    def note(self, what: str, at: float, key: int, echo_from: int, took: int) -> None:
        """Write a row of the driver: from an instant to `took` ns later."""
        sent = CLOCK + round(at * NANO)
        row = {"user_group": self.group, "user": self.user, "what": what, "port": self.port, "terminal": self.terminal}
        row |= {"key": key % MODULUS, "echo_from": echo_from % MODULUS, "echo_to": self.received % MODULUS}
        stamps = {"kernel_sent": sent, "kernel_shown": sent + took} if self.port is not None else {}
        self.rows.append(row | {"sent": sent - 5000, "shown": sent + took + 9000} | stamps)


def write_followed(folder: Path, lines: Sequence[Line], agent: int = 0) -> None:
    """The driver's side of the lines."""
    rows = sorted((row for line in lines for row in line.rows), key=lambda row: int(row["shown"]))
    texts = [",".join(write_cell(row.get(name), name) for name in NAMES) for row in rows]
    (folder / f"agent-{agent}" / "followed.csv").write_text("\n".join([",".join(NAMES), *texts]) + "\n")


def write_cell(value: object, name: str) -> str:
    if name == "user_group":
        return '"' + str(value).replace('"', '""') + '"'
    return "" if value is None else str(value)


def write_paths(folder: Path, lines: Sequence[Line], name: str = "paths.jsonl", missing: Sequence[str] = ()) -> None:
    """The host's side of the lines, in the order in which paths ended."""
    paths = sorted((path for line in lines for path in line.paths), key=find_end)
    counts = {"keys": len(paths), "finished": len(paths), "lost": 0, "unknown": 0, "missing": list(missing)}
    rows = [{"host_at": find_end(path), "path": path} for path in paths]
    write_rows(folder / name, [*rows, {"host_at": HOST_CLOCK, "counts": counts}])


def find_end(path: Row) -> int:
    return int(path["begun"] + path["ns"])


def write_lines(folder: Path, lines: Sequence[Line]) -> Path:
    write_followed(folder, lines)
    write_paths(folder, lines)
    return folder


def read_rows(file: Path) -> list[Row]:
    return [json.loads(row) for row in file.read_text().splitlines()]
