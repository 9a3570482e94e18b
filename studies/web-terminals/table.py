#!/usr/bin/env python3
"""Prints the table of the study from what its commands have left in a folder: `table.py runs`.

A row has the search (`limit/SERVER`), the run of equal load (`equal/SERVER`), what its sessions took (`memory.json`),
and the run of logins (`logins/SERVER`); what is missing is left blank. CPU time and memory are beyond those of the
baseline `none`: the same shell without a server. Below stands what sets each limit.
"""

import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.step import StepFigures
from cuesta.units import count, seconds

WITHOUT = "none"
Figure = Callable[[StepFigures], float | None]
HEADS = ("", "people (90 %)", "echo p50", "echo p95", "CPU a key", "CPU a login", "memory")
WIDTHS = (11, -20, 8, 8, 9, 11, 7)


def main() -> None:
    runs = Path(sys.argv[1])
    memory = read_memory(runs / "memory.json")
    names = list(dict.fromkeys([*memory, *(path.name for path in sorted(runs.glob("*/*")) if path.is_dir())]))
    summaries = {
        name: {
            kind: summarise(runs / kind / name)
            for kind in ("limit", "equal", "logins")
            if (runs / kind / name).exists()
        }
        for name in names
    }
    baseline = summaries.get(WITHOUT, {})
    for row in (HEADS, *(make_row(name, found, baseline, memory) for name, found in summaries.items())):
        print(
            " ".join(
                f"{cell:<{-width}}" if width < 0 else f"{cell:>{width}}"
                for cell, width in zip(row, WIDTHS, strict=True)
            ).rstrip()
        )
    for name, found in summaries.items():
        if "limit" in found:
            print("\n".join(textwrap.wrap(f"{name}: {describe_end(found['limit'])}", 80, subsequent_indent="    ")))


def make_row(
    name: str, found: dict[str, Summary], baseline: dict[str, Summary], memory: dict[str, float]
) -> tuple[str, ...]:
    def beyond(kind: str, figure: Figure) -> str:
        """A figure of CPU time in seconds, less that of the baseline."""
        values = [figure(each[kind].last) for each in (found, baseline) if kind in each]
        known = [value for value in values if value is not None]
        return seconds(known[0] - known[1]) if len(known) == 2 and name != WITHOUT else ""

    echo = found["equal"].last.echo if "equal" in found else None
    return (
        name,
        write_interval(found["limit"]) if "limit" in found else "",
        *(seconds(value) if echo and (value := getattr(echo, which)) is not None else "" for which in ("p50", "p95")),
        beyond("equal", lambda step: step.host.cpu_per_keystroke),
        beyond(
            "logins", lambda step: each.cpu_ms / 1e3 if (each := step.host.per_transaction) and each.cpu_ms else None
        ),
        f"{memory[name] / 1e6:.2f} MB" if name in memory and name != WITHOUT else "",
    )


def write_interval(summary: Summary) -> str:
    if summary.search is None:
        return ""
    found = summary.search.figures()
    low, high = ("?" if end is None else count(end) for end in found.interval)
    return f"{'none' if found.users is None else count(found.users)} ({low} to {high})"


def describe_end(summary: Summary) -> str:
    """What ended a search, and what limits the host then."""
    figures = summary.figures()
    return f"{figures.search.limited_by}: {figures.search.why}. {figures.limited_by}" if figures.search else ""


def read_memory(file: Path) -> dict[str, float]:
    """The bytes of a session of each server, without those of the programs that the baseline has too."""
    reports = json.loads(file.read_text()) if file.exists() else []
    return {report["server"]: sum(list_bytes(report)) / max(report["sessions"], 1) for report in reports}


def list_bytes(report: dict[str, dict[str, dict[str, int]]]) -> Iterator[int]:
    """The memory of each program but the shell and the editor."""
    yield from (each["bytes"] for name, each in report["programs"].items() if name not in ("bash", "nano"))


if __name__ == "__main__":
    main()
