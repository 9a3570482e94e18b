"""One tool at one host: what it costs, and what it tells of a host that stops."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from peers.control_group import TOOL_CPU, ControlGroup, until
from peers.hosts import Start, Work
from peers.job import Job, Told, Tool

SETTLE = 2
"""Seconds between the last user's start and what is measured."""
WINDOW = 6
"""Seconds that are measured."""
SPARE = 3
"""Seconds that the load goes on after that, so that its end is not measured."""
STOP = 1.4
"""Seconds for which the host stops."""
STALL_LOAD = 30
"""Seconds of load around a stop."""


@dataclass(frozen=True)
class Load:
    """What a tool is to do."""

    work: Work
    start: Start
    """Starts the host."""
    users: int
    pause: float
    """Seconds between two keys or transactions of a user."""
    ramp: float


@dataclass(frozen=True)
class Cost:
    cpu: float
    """Seconds of CPU time for each operation."""
    rate: float
    """Operations a second, as the host counts them."""
    memory: int
    """Bytes of all processes of the tool."""
    told: Told


@dataclass(frozen=True)
class Stall:
    told: Told
    kept: float
    """Operations that the host got in the seconds around its stop, as a share of the rate before."""


class ToolError(Exception):
    """A tool did not do what it was asked to; the text says how."""


@contextmanager
def playing(tool: Tool, load: Load, seconds: float, *, percentiles: bool) -> Iterator[tuple[Job, ControlGroup]]:
    """Start host and tool; the block begins when all users have a line."""
    with TemporaryDirectory(prefix="cuesta-peers-") as name:
        at_host, folder = Path(name) / "host", Path(name) / "tool"
        at_host.mkdir()
        folder.mkdir()
        out = folder / "out"
        try:
            with load.start(load.work, at_host) as host:
                job = Job(load.work, host, load.users, load.pause, load.ramp, seconds, percentiles, folder)
                with ControlGroup.started("tool", tool.command(job), cpu=TOOL_CPU, out=out, folder=folder) as group:
                    until(lambda: host.users() >= load.users, f"{load.users} users", group)
                    yield job, group
        except (LookupError, OSError, TimeoutError, ValueError) as failure:
            raise ToolError(f"{tool.name}: {failure}; it printed: {last_of(out)}") from failure


def cost(tool: Tool, load: Load) -> Cost:
    with playing(tool, load, SETTLE + WINDOW + SPARE, percentiles=False) as (job, group):
        time.sleep(SETTLE)
        before, cpu_before = job.host.mark(), group.cpu()
        time.sleep(WINDOW)
        after, cpu = job.host.mark(), group.cpu() - cpu_before
        memory = group.memory()
        until(group.ended, "its end", seconds=120)
        operations = after.operations - before.operations
        if operations <= 0:
            raise ValueError("the host counted nothing")
        return Cost(cpu / operations, operations / (after.at - before.at), memory, tool.read_figures(job))


def stall(tool: Tool, load: Load) -> Stall:
    with playing(tool, load, STALL_LOAD, percentiles=True) as (job, group):
        time.sleep(SETTLE)
        first = job.host.mark()
        time.sleep(WINDOW)
        before = job.host.mark()
        with job.host.group.stopped():
            time.sleep(STOP)
        time.sleep(WINDOW)
        after = job.host.mark()
        until(group.ended, "its end", seconds=120)
        rate = (before.operations - first.operations) / (before.at - first.at)
        return Stall(tool.read_figures(job), (after.operations - before.operations) / (after.at - before.at) / rate)


def last_of(out: Path) -> str:
    """The last row that a tool printed."""
    rows = out.read_text(encoding="utf-8", errors="replace").split("\n") if out.exists() else []
    return next((row for row in reversed(rows) if row.strip()), "nothing")
