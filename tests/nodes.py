"""Writes run folders whose agents are on several nodes, and what the engine notes of them."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.run_folder import CLOCK, NANO, Row, RunFolder, change_rows, rows, write_rows

NODES = ("10.77.0.2", "10.77.0.3", "10.77.0.4")
AHEAD = 5_000_000_000_000
MICRO = 1_000


def spread(folder: Path, nodes: Sequence[str | None] = NODES, notes: Sequence[Row] = (), **made: object) -> Path:
    """Write a run whose agents are on nodes, each with a clock of its own; `notes` follow each agent's first row."""
    arguments: Row = {"agents": len(nodes), "users": (len(nodes),), "settle": 10, "measure": 50, **made}
    RunFolder(folder, **arguments).write()
    begun = [
        {"at": CLOCK, "agent": agent, "clock": f"c{agent}", "offset": AHEAD, "error": 20 * MICRO, "start_at": CLOCK}
        | ({"node": node} if node else {})
        for agent, node in enumerate(nodes)
    ]
    write_rows(folder / "agents.jsonl", [*begun, *notes])
    for agent in range(len(nodes)):
        timeline = folder / f"agent-{agent}" / "timeline.json"
        timeline.write_text(timeline.read_text().replace(str(CLOCK), str(CLOCK + AHEAD)))
    return folder


def reading(agent: int, seconds: float, moved_us: float, error_us: int = 20) -> Row:
    at, offset = CLOCK + round(seconds * NANO), AHEAD + round(moved_us * MICRO)
    return {"at": at, "agent": agent, "clock": f"c{agent}", "offset": offset, "error": error_us * MICRO}


def drift(ppm: Mapping[int, float], until: int = 60) -> list[Row]:
    """Readings every 10 s of clocks that gain `ppm` microseconds a second, by agent."""
    return [reading(agent, at, rate * at) for at in range(10, until + 1, 10) for agent, rate in ppm.items()]


def silence(agent: int, end: float, seconds: float) -> Row:
    return {"at": CLOCK + round(end * NANO), "agent": agent, "silent": round(seconds * NANO)}


def add_durations(folder: Path, agent: int, durations: Mapping[str, Sequence[float]], second: int = 10) -> None:
    """Add durations of an agent in a second, by SOURCE/SERIES."""
    log = folder / f"agent-{agent}" / "histograms.hlog"
    named = [(f"interactive/{name}", values) for name, values in durations.items()]
    log.write_text(log.read_text() + "".join(rows(0, second, named)))


def make_odd(folder: Path, nodes: Sequence[str | None] = (), echo: float = 0.012, cpu: float = 0.02) -> Path:
    """Write a run on 8 nodes with 12 users each; 10.77.0.5 has other echoes than 7 ms, 10.77.0.3 other CPU time."""
    rng, names = random.Random(1), nodes or [f"10.77.0.{number}" for number in range(1, 9)]
    spread(folder, names, users=(12 * len(names),))
    for agent in range(len(names)):
        median = echo if agent == 4 else 0.007
        add_durations(folder, agent, {"keys/echo": [rng.gauss(median, 0.001) for _ in range(400)]})
    change_rows(folder / "agent-2" / "series.jsonl", lambda row: row | {"cpu": cpu})
    return folder
