"""Writes a simulated closed loop as a run folder.

Everything that a driver and the built-in host would have counted is computed from the same list of transactions.
"""

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.analysis.closed_loop import Load, Transaction, transactions
from tests.report.made_up import host_row
from tests.run_folder import Row, RunFolder

__all__ = ["Load", "Simulated", "simulate", "write"]

DUE = 0.001
"""How much later than due a key is sent in a `RunFolder`."""
WARM = 20


@dataclass
class Simulated:
    """What happened in the measured seconds."""

    load: Load
    seconds: int

    def __post_init__(self) -> None:
        self.responses: list[list[float]] = [[] for _ in range(self.seconds)]
        self.waiting, self.served, self.queued = ([0.0] * self.seconds for _ in range(3))
        self.under_way = [0] * self.seconds
        """Transactions under way at the end of each second."""
        self.under_way_before = 0
        """Those under way when the measurement began."""

    def add(self, done: Transaction) -> None:
        """Count a transaction; its instants count from the begin of the measurement."""
        if 0 <= done.answered < self.seconds:
            self.responses[int(done.answered)].append(done.answered - done.sent)
        self.under_way_before += done.sent <= 0 < done.answered
        self._spread(self.waiting, done.sent, done.answered)
        self._spread(self.queued, done.sent, done.begun)
        self._spread(self.served, done.begun, done.served)
        for second in range(max(math.ceil(done.sent), 1), min(math.ceil(done.answered), self.seconds + 1)):
            self.under_way[second - 1] += 1

    def _spread(self, seconds: list[float], begin: float, end: float) -> None:
        for second in range(max(math.floor(begin), 0), min(math.ceil(end), self.seconds)):
            seconds[second] += max(min(end, second + 1) - max(begin, second), 0.0)


def simulate(load: Load, seconds: int, seed: int = 1) -> Simulated:
    """Simulate until the end and count from WARM on; instants count from there."""
    simulated = Simulated(load, seconds)
    for each in transactions(random.Random(seed), load, WARM + seconds):
        simulated.add(Transaction(*(instant - WARM for instant in each)))
    return simulated


def write(
    path: Path,
    loads: list[Load],
    seconds: int = 60,
    seed: int = 1,
    edit: Callable[[Row], Row] = lambda row: row,
    limits: Sequence[str] = (),
) -> Path:
    """Write a sweep over the loads, a step each, with the built-in host's own meters; `edit` changes measured rows."""
    steps = [simulate(load, seconds, seed) for load in loads]
    settle = 2
    length = settle + seconds

    def responses(step: int, _: int, second: int) -> list[float]:
        return [each + DUE for each in steps[step].responses[second]]

    def simulated(row: Row) -> Row:
        step, second = row["step"], int(row["start"]) - row["step"] * length - settle
        if second < 0:
            return row | {"unfinished": steps[step].under_way_before}
        sums = {**row["sums"], "think": loads[step].users - steps[step].waiting[second], "keying": 0.0}
        return edit(row | {"sums": sums, "unfinished": steps[step].under_way[second]})

    users = tuple(load.users for load in loads)
    run = RunFolder(
        path, users=users, settle=settle, measure=seconds, responses=responses, edit=simulated, limits=limits
    )
    folder = run.write()
    (folder / "host").mkdir()
    rows = [host(steps[at // length], at % length - settle, at) for at in range(length * len(loads))]
    (folder / "host" / "series.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def host(simulated: Simulated, second: int, at: int) -> Row:
    """The built-in host's row of a second; `second` counts from the measurement, `at` from the start."""
    row, load = host_row(at), simulated.load
    if second >= 0:
        busy = simulated.served[second] / load.servers
        row["servers"] |= {"number": load.servers, "busy": busy, "mean_queue": simulated.queued[second]}
        row["characters"]["line_out"] = 160 * len(simulated.responses[second])
    return row
