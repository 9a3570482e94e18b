"""Cuesta's built-in host: it counts what it receives, each second."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.control_group import HOST_CPU, ControlGroup, until
from peers.hosts.host import ANSWER, Mark, Work

CUESTA = str(Path(__file__).parents[2] / ".venv/bin/cuesta")
SERVICES = {
    Work.KEYS: ["--service", "echo"],
    Work.TRANSACTIONS: ["--service", f"transaction {ANSWER}", "--echo", "false"],
}


@dataclass
class Builtin:
    group: ControlGroup
    target: str
    way: tuple[str, str]
    series: Path
    """The host's figures, one row a second."""

    def users(self) -> int:
        rows = self._rows()
        return int(rows[-1]["lines"]["connected"]) if rows else 0

    def mark(self) -> Mark:
        before = len(self._rows())
        until(lambda: len(self._rows()) > before, "a row of the host's meters")
        rows = self._rows()
        return Mark(rows[-1]["at"] / 1e9, sum(row["messages"]["in"] for row in rows))

    def _rows(self) -> list[dict[str, Any]]:
        whole = self.series.read_bytes().rpartition(b"\n")[0] if self.series.exists() else b""
        return [json.loads(row) for row in whole.splitlines()]


@contextmanager
def builtin(work: Work, folder: Path) -> Iterator[Builtin]:
    command = [CUESTA, "host", "--listen", "tcp://127.0.0.1:0", *SERVICES[work], "--meters", str(folder / "meters")]
    out = folder / "host.out"
    with ControlGroup.started("host", command, cpu=HOST_CPU, out=out, folder=folder) as group:
        until(lambda: out.read_bytes().count(b"\n") > 0, "the built-in host's address", group)
        target = out.read_text(encoding="utf-8").splitlines()[0]
        yield Builtin(group, target, ("tcp", target.rpartition(":")[2]), folder / "meters/series.jsonl")
