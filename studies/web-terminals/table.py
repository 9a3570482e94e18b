#!/usr/bin/env python3
"""Prints the table of the study from what its commands have left in a folder: `table.py runs`.

A row has the search (`limit/SERVER`), the run of equal load (`equal/SERVER`), the run of logins (`logins/SERVER`), and
what a session took (`memory.json`); what is missing is left blank. Below stands what sets each limit.
"""

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuesta.analysis.summary import Summary, summarise
from cuesta.units import count, seconds

WITHOUT = "none"
"""The baseline: the same shell without a server."""
OF_ALL = ("bash", "nano")
"""Programs of a session that are the same at each server."""
HEADS = ("", "people (90 %)", "echo p50", "p95", "CPU a key", "CPU a login", "memory")
WIDTHS = (11, 20, 8, 8, 9, 11, 7)


@dataclass(frozen=True)
class Measured:
    """What was measured of one server; None was not."""

    name: str
    limit: Summary | None
    equal: Summary | None
    logins: Summary | None
    memory: float | None
    """Bytes of a session, without the shell and the editor."""


def main() -> None:
    runs = Path(sys.argv[1])
    servers = list(read_servers(runs))
    baseline = next((cpu_per_key(each) for each in servers if each.name == WITHOUT), None)
    for row in (HEADS, *(make_row(each, baseline) for each in servers)):
        print(align_cells(row))
    for each in servers:
        if each.limit:
            print("\n".join(textwrap.wrap(f"{each.name}: {describe_limit(each.limit)}", 80, subsequent_indent="    ")))


def read_servers(runs: Path) -> Iterator[Measured]:
    memory = read_memory(runs / "memory.json")
    found = sorted(path.name for kind in ("limit", "equal", "logins") for path in (runs / kind).glob("*"))
    for name in dict.fromkeys([*memory, *found]):
        limit, equal, logins = (summarise_if_any(runs / kind / name) for kind in ("limit", "equal", "logins"))
        yield Measured(name, limit, equal, logins, memory.get(name))


def summarise_if_any(folder: Path) -> Summary | None:
    return summarise(folder) if folder.exists() else None


def read_memory(file: Path) -> dict[str, float]:
    """The bytes of a session at each server."""
    reports = json.loads(file.read_text()) if file.exists() else []
    return {
        report["server"]: sum(each["bytes"] for name, each in report["programs"].items() if name not in OF_ALL)
        / max(report["sessions"], 1)
        for report in reports
    }


def make_row(server: Measured, baseline: float | None) -> Sequence[str]:
    """The cells of a server; `baseline` is the CPU time of a key without one."""
    echo = server.equal.last.echo if server.equal else None
    key = cpu_per_key(server)
    login = server.logins.last.host.per_transaction if server.logins else None
    return (
        server.name,
        write_interval(server.limit) if server.limit else "",
        write_seconds(echo.p50 if echo else None),
        write_seconds(echo.p95 if echo else None),
        write_seconds(key - baseline if key and baseline and server.name != WITHOUT else key),
        write_seconds(login.cpu_ms / 1e3 if login and login.cpu_ms else None),
        f"{server.memory / 1e6:.2f} MB" if server.memory else "",
    )


def cpu_per_key(server: Measured) -> float | None:
    return server.equal.last.host.cpu_per_keystroke if server.equal else None


def write_interval(summary: Summary) -> str:
    if summary.search is None:
        return ""
    found = summary.search.figures()
    low, high = ("?" if end is None else count(end) for end in found.interval)
    return f"{'none' if found.users is None else count(found.users)} ({low} to {high})"


def write_seconds(value: float | None) -> str:
    return "" if value is None else seconds(value)


def describe_limit(summary: Summary) -> str:
    """What ended a search, and what limits the host."""
    figures = summary.figures()
    return f"{figures.search.limited_by}: {figures.search.why}. {figures.limited_by}" if figures.search else ""


def align_cells(row: Sequence[str]) -> str:
    first, *others = (f"{cell:>{width}}" for cell, width in zip(row, WIDTHS, strict=True))
    return " ".join([f"{first.strip():<{WIDTHS[0]}}", *others]).rstrip()


if __name__ == "__main__":
    main()
