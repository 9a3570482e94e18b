"""Gives simulated users the pace of a load: measures the tape's own, and sets other think times or key rates."""

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
"""Users of the simulation that measures the tape's own pace."""
CYCLES = 400
"""Cycles of each of them."""
SERVICE = 1.0
"""Seconds of the host's response in it: longer than an echo, which would else delay the response on the line."""
ALIKE = 0.05
"""Relative difference up to which the tape's own time serves for the one that is asked."""


@dataclass(frozen=True, slots=True)
class Pace:
    """A tape's own times and waits for each transaction, in seconds."""

    think: float
    keying: float
    line: float
    """The time of a response's characters on the line."""
    waits: float
    """Responses of the host that one transaction waits for; 1 for a tape of mere keys."""
    is_of_keys: bool
    """Whether the tape has no transactions, so that echoes are its responses."""


def run_simulation(spec: dict[str, Any], tapes: dict[str, _native.Tape]) -> dict[str, Any]:
    """The figures of a simulation. Raises RefusedError if the tape cannot be simulated.

    It runs in a thread of its own, so that the main thread can be interrupted.
    """
    texts: list[str] = []
    errors: list[_native.RunError] = []

    def work() -> None:
        try:
            texts.append(_native.simulate(json.dumps(spec), tapes)[0])
        except _native.RunError as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise RefusedError(f"the tape cannot be simulated: {errors[0]}")
    figures: dict[str, Any] = json.loads(texts[0])
    return figures


def measure_pace(workload: Workload, at: Conditions, seed: int) -> Pace:
    """Simulate the tape at a pure delay. Raises RefusedError if the tape waits for no answer."""
    cycle = at.cycle or at.own_time + SERVICE
    visit = {"name": "host", "demand": f"fixed {SERVICE:g}s", "servers": None}
    run = workload.run_spec(PROBES, Times(cycle / PROBES, 2 * cycle, CYCLES * cycle), seed)
    spec = {"run": run, "host": {"stations": [visit]}, "patient": True}
    (step,) = run_simulation(spec, dict(workload.tapes))["steps"]
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


def apply_pace(workload: Workload, at: Conditions, measurements: Measurements, seed: int) -> tuple[Workload, Pace]:
    """The workload with the pace of a load, and that pace as simulated.

    Where rows were measured at this pace, the tape keeps its own: their means differ from it by chance.
    """
    if at.is_paced:
        workload = workload.with_groups(load=Load("paced", cycle=nanoseconds(at.cycle or 0.0)))
    own = measure_pace(workload, at, seed)
    if own.is_of_keys:
        return workload, own
    changes: dict[str, object] = {}
    if not is_measured_pace(at, "think", own.think, measurements):
        at_one_second = measure_pace(workload.with_groups(think="exp 1s"), replace(at, think=1.0), seed)
        changes["think"] = f"exp {nanoseconds(at.think / at_one_second.think)}ns" if at.think else "fixed 0s"
    if not is_measured_pace(at, "keying", own.keying, measurements):
        changes["key_rate"] = 0.0
        if at.keying:
            at_ten_keys = measure_pace(workload.with_groups(key_rate=10.0), replace(at, keying=1.0), seed)
            changes["key_rate"] = 10.0 * at_ten_keys.keying / at.keying
    if not changes:
        return workload, own
    workload = workload.with_groups(**changes)
    return workload, measure_pace(workload, at, seed)


def is_measured_pace(at: Conditions, name: str, own: float, measurements: Measurements) -> bool:
    """Whether a time that is asked is the tape's own, or in the range of rows of the tape's own pace."""
    asked: float = getattr(at, name)
    if at.is_paced or abs(asked - own) <= ALIKE * max(asked, own):
        return True
    rows = [point.at for point in measurements.points if point.at.configuration == at.configuration]
    measured: list[float] = [getattr(row, name) for row in rows if not row.is_paced]
    alike = [each for each in measured if abs(each - own) <= ONE_PACE * max(each, own)]
    return bool(alike) and min(alike) <= asked <= max(alike)
