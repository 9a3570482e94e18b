"""How simulated users get the pace of a load: what the tape does by itself, and other think times or key rates."""

import json
import threading
from dataclasses import dataclass, replace
from typing import Any

from cuesta import _native
from cuesta.analysis.predict.points import ONE_PACE, Conditions, Measurements
from cuesta.analysis.predict.workload import Times, Workload, nanoseconds
from cuesta.errors import RefusedError
from cuesta.plan.fields import Load

PROBES = 20
"""Users who play the tape at a host with a server for each, to learn its pace."""
CYCLES = 400
"""Cycles of each of them."""
SERVICE = 1.0
"""Seconds that the host takes for a response: longer than an echo, which would else delay the response on the line."""
ALIKE = 0.05
"""Relative difference of a think time that is asked from the tape's own that needs no other think time."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What users do and wait for by themselves. Seconds, for each transaction."""

    think: float
    keying: float
    line: float
    """The part of a response that is on the line: the time of its characters."""
    waits: float
    """How many responses of the host one transaction waits for; for a tape of mere keys, how many a key has: 1."""
    is_of_keys: bool
    """Whether the tape has no transactions, so that the keys' echoes are its responses."""


def play(spec: dict[str, Any], tapes: dict[str, _native.Tape]) -> dict[str, Any]:
    """The figures of a simulation, in a thread of its own: so it can be interrupted. Raises RefusedError."""
    found: list[str] = []
    failed: list[_native.RunError] = []

    def work() -> None:
        try:
            found.append(_native.simulate(json.dumps(spec), tapes)[0])
        except _native.RunError as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise RefusedError(f"the tape cannot be simulated: {failed[0]}")
    figures: dict[str, Any] = json.loads(found[0])
    return figures


def pace_of(workload: Workload, at: Conditions, seed: int) -> Pace:
    """Play the tape at a host where no user waits for another. Raises RefusedError if the tape waits for no answer."""
    cycle = at.cycle or at.own + SERVICE
    visit = {"name": "host", "demand": f"fixed {SERVICE:g}s", "servers": None}
    run = workload.run_spec(PROBES, Times(cycle / PROBES, 2 * cycle, CYCLES * cycle), seed)
    spec = {"run": run, "host": {"stations": [visit]}, "patient": True}
    (step,) = play(spec, dict(workload.tapes))["steps"]
    counts, series = step["counts"], step["series"]
    if transactions := counts["transactions"]:
        waits = step["stations"][0]["visits"] / transactions
        think, keying, whole = (
            counts["sums"][name] / transactions for name in ("think", "keying", "response_from_sent")
        )
        return Pace(think, keying, max(whole - waits * SERVICE, 0.0), waits, is_of_keys=False)
    if "echo" not in series:
        raise RefusedError("the tape waits for nothing: no response can be simulated")
    return Pace(at.think, at.keying, series["echo"]["mean"]["value"], 1.0, is_of_keys=True)


def paced(workload: Workload, at: Conditions, measurements: Measurements, seed: int) -> tuple[Workload, Pace]:
    """The workload with the pace of a load, and that pace.

    Where rows were measured at this think time, the tape keeps its own: what was measured of it varies by chance.
    """
    if at.is_paced:
        workload = workload.with_groups(load=Load("paced", cycle=nanoseconds(at.cycle or 0.0)))
    own = pace_of(workload, at, seed)
    if own.is_of_keys:
        return workload, own
    changes: dict[str, object] = {}
    if not as_measured(at, "think", own.think, measurements):
        unit = pace_of(workload.with_groups(think="exp 1s"), replace(at, think=1.0), seed)
        changes["think"] = f"exp {nanoseconds(at.think / unit.think)}ns" if at.think else "fixed 0s"
    if not as_measured(at, "keying", own.keying, measurements):
        changes["key_rate"] = 0.0
        if at.keying:
            ten = pace_of(workload.with_groups(key_rate=10.0), replace(at, keying=1.0), seed)
            changes["key_rate"] = 10.0 * ten.keying / at.keying
    if not changes:
        return workload, own
    workload = workload.with_groups(**changes)
    return workload, pace_of(workload, at, seed)


def as_measured(at: Conditions, name: str, own: float, measurements: Measurements) -> bool:
    """Whether a time that is asked is the tape's own, or lies among those that rows of that pace had."""
    asked: float = getattr(at, name)
    if at.is_paced or abs(asked - own) <= ALIKE * max(asked, own):
        return True
    rows = [point.at for point in measurements.points if point.at.configuration == at.configuration]
    found: list[float] = [getattr(row, name) for row in rows if not row.is_paced]
    alike = [each for each in found if abs(each - own) <= ONE_PACE * max(each, own)]
    return bool(alike) and min(alike) <= asked <= max(alike)
