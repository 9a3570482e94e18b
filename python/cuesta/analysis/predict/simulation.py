"""Simulates users at the stations of a fitted model, in virtual time, for percentiles (docs/simulation.md).

Services are exponential unless the model has fixed ones; the rest of a response is constant. Where the lines have a
speed, their time is taken out of that constant part, and the lines are simulated.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from cuesta import _native
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.band import Band
from cuesta.analysis.predict.changes import Change, mean_response
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.pace import Pace, run_simulation
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import SystemPrediction
from cuesta.analysis.predict.what_if import Estimate, network_with
from cuesta.analysis.predict.workload import NANO, Times, Workload, nanoseconds
from cuesta.errors import RefusedError

CYCLES = 0.5
"""Fewest cycles of a user that are measured."""
BATCHES = 10
"""Number of batches of the batch means that give the intervals."""
BATCH = 10
"""Cycles of a user in a batch.

Queue lengths are correlated over about a think time: near saturation, batches of one cycle would make intervals half as
wide as they must be. With ten cycles a 90 % interval covers the mean in 83 to 90 of 100 simulations there, and in more
elsewhere.
"""
WARM_UP = 5
"""Cycles before the measurement, where affordable: the transient falls to about a third in each think time."""
NO_INTERVAL = Band(-math.inf, math.inf)
PERCENTILES = ("p50", "p95", "p99")
DISAGREES = 2.0
"""Half-widths of its interval by which a mean disagrees with the exact one: by chance once in some hundred loads."""
NEGLIGIBLE = 0.005
"""Relative difference of means that never counts as a disagreement."""
LONGEST = 86_400.0
"""The largest duration of a histogram, in seconds: there are no percentiles above it."""
BYTES_A_USER = 4096
"""Memory of a simulated user (docs/bench.md)."""


@dataclass(frozen=True, slots=True)
class Length:
    """The length of a simulation, in transactions of all users together."""

    transactions: int
    """Fewest that are measured."""
    most: int
    """Most that are measured to make batches long enough, and most that pass before."""

    def cycles(self, users: int) -> float:
        """Cycles of a user that are measured."""
        return max(self.transactions / users, min(BATCHES * BATCH, self.most / users), CYCLES)

    def has_intervals(self, users: int) -> bool:
        return self.cycles(users) >= BATCHES * BATCH

    def cycles_before(self, users: int) -> float:
        return max(min(WARM_UP, self.most / users), 1.0)


WHOLE = Length(50_000, 5_000_000)
"""Of a load that is reported: seconds to a few minutes."""


@dataclass(frozen=True, slots=True)
class Series:
    """Durations of one kind, in seconds, with 90 % intervals."""

    name: str
    """`response` or `echo`; with the transaction, `response{log in}`, if there are several."""
    count: int
    mean: Estimate | None
    percentiles: Mapping[str, Estimate]
    """By `p50`, …; without those that are too rare for an interval, or above LONGEST."""


@dataclass(frozen=True, slots=True)
class SimulatedFigure:
    """The simulation of one load."""

    at: Conditions
    """The load, with the pace that was played."""
    asked: Conditions
    series: Sequence[Series]
    """Since due, as in a run: with the wait for a line that is still busy with earlier keys."""
    mean: Estimate | None
    """Seconds since sent, as in models: of the response, or of the echo of keys."""
    exact: float
    """The same by the exact model, at this pace."""
    transactions: int
    unanswered: int
    virtual: float
    """Seconds of virtual time that were measured."""
    events: int
    elapsed: float
    """Seconds of real time."""
    has_intervals: bool
    """Whether batches are long enough; else each band is infinite."""

    @property
    def agrees(self) -> bool | None:
        """Whether the mean agrees with the exact model; None without an interval."""
        if self.mean is None or not self.has_intervals:
            return None
        within = self.mean.band.high - self.mean.value
        return abs(self.mean.value - self.exact) <= max(DISAGREES * within, NEGLIGIBLE * self.exact)


@dataclass(frozen=True, slots=True)
class Simulator:
    """Users of one configuration and pace at the stations of a model."""

    system: SystemPrediction
    at: Conditions
    changes: Sequence[Change]
    workload: Workload
    pace: Pace
    seed: int
    percentiles: Sequence[str]

    def network(self, at: Conditions) -> Network:
        network = network_with(self.system, self.system.model, at, self.changes)
        assert network
        return network

    def simulate(self, users: int, length: Length = WHOLE) -> SimulatedFigure:
        """Simulate a number of users. Raises RefusedError if there is too little memory."""
        insist_on_memory(users)
        at = replace(self.at, users=users, think=self.pace.think, keying=self.pace.keying)
        workload, stations = self.build_host(at)
        spec = {
            "run": workload.run_spec(users, self.plan_times(at, length), self.seed),
            "host": {"stations": stations},
            "batches": BATCHES,
            "percentiles": [float(name.removeprefix("p")) for name in self.percentiles],
            "patient": True,
        }
        begun = _native.now()
        figures = run_simulation(spec, dict(workload.tapes))
        elapsed = (_native.now() - begun) / NANO
        (step,) = figures["steps"]
        has_intervals = length.has_intervals(users)
        counts = step["counts"]
        if counts["transactions"]:
            think, keying = (counts["sums"][name] / counts["transactions"] for name in ("think", "keying"))
            at = replace(at, think=think, keying=keying)
        return SimulatedFigure(
            at=at,
            asked=replace(self.at, users=users),
            series=read_series(step, self.pace.is_of_keys, self.percentiles, has_intervals),
            mean=read_estimate(
                step["series"]["echo_from_sent"]["mean"] if self.pace.is_of_keys else step["response"], has_intervals
            ),
            exact=mean_response(self.network(at), at),
            transactions=counts["transactions"],
            unanswered=counts["unanswered"],
            virtual=step["seconds"],
            events=figures["events"],
            elapsed=elapsed,
            has_intervals=has_intervals,
        )

    def build_host(self, at: Conditions) -> tuple[Workload, list[dict[str, Any]]]:
        """The workload and the stations. Lines keep their speed if their time fits into the constant part."""
        network = self.network(at)
        constant = sum(station.demand for station in network.stations if station.is_delay)
        has_lines = self.workload.is_on_slow_lines and self.pace.line <= constant
        waits = self.pace.waits
        rest = max(constant - self.pace.line, 0.0) if has_lines else constant
        visit = "key_demand" if self.pace.is_of_keys else "demand"
        stations: list[dict[str, Any]] = [
            {"name": station.name, visit: service_law(station, waits), "servers": int(station.servers)}
            for station in network.queueing
        ]
        if rest:
            stations.append({"name": "delay", visit: fixed_law(rest / waits), "servers": None})
        return self.workload if has_lines else self.workload.with_groups(line_speed=0), stations

    def plan_times(self, at: Conditions, length: Length) -> Times:
        """Starts are spread over the cycle of a user alone; then the warm-up passes."""
        network = self.network(at)
        alone, response = network.least_response, mean_response(network, at)
        shortest, cycle = (
            at.cycle or alone + at.own_time,
            max(at.cycle, response) if at.cycle else response + at.own_time,
        )
        measure = cycle * length.cycles(at.users)
        return Times(shortest / at.users, max(cycle * length.cycles_before(at.users), measure / 10), measure)


def service_law(station: Station, waits: float) -> str | float:
    """The distribution of a service for one wait of a transaction; a number is an exponential mean."""
    mean = station.demand / waits
    return fixed_law(mean) if station.is_fixed else mean


def fixed_law(seconds: float) -> str:
    return f"fixed {nanoseconds(seconds)}ns"


def insist_on_stations(system: SystemPrediction, at: Conditions) -> None:
    """Raise RefusedError for a model without stations, or a bound."""
    model = system.model
    network = model.network(at) if isinstance(model.form, OneStation | Metered) else None
    if network is None or network.bottleneck is None:
        raise RefusedError(
            f"the model that fits ({model.form.name}) has no stations where users wait by chance",
            "a simulation needs one station, or metered stations",
        )


def read_series(
    step: Mapping[str, Any], is_of_keys: bool, percentiles: Sequence[str], has_intervals: bool
) -> list[Series]:
    """All responses, then those of each transaction if there are several; of a tape of mere keys, the echoes."""
    figures: Mapping[str, Any] = step["series"]
    if is_of_keys:
        return [read_one_series("echo", figures["echo"], percentiles, has_intervals)]
    whole = read_one_series("response", figures["response"], percentiles, has_intervals)
    own = {name: each for name, each in figures.items() if name.count("/") == 1 and name.endswith("/response")}
    if len(own) < 2:
        return [whole]
    named = ((unquote(name.removesuffix("/response")), each) for name, each in own.items())
    return [whole, *(read_one_series(f"response{{{name}}}", each, percentiles, has_intervals) for name, each in named)]


def read_one_series(name: str, figures: Mapping[str, Any], percentiles: Sequence[str], has_intervals: bool) -> Series:
    known = {each: read_estimate(figures[each], has_intervals) for each in percentiles}
    mean = read_estimate(figures["mean"], has_intervals)
    return Series(name, figures["count"], mean, {p: each for p, each in known.items() if each and each.value < LONGEST})


def read_estimate(figure: Mapping[str, float] | None, has_intervals: bool) -> Estimate | None:
    """A figure with its interval, infinite if batches are too short."""
    if figure is None:
        return None
    value, within = figure["value"], figure["within"]
    return Estimate(value, Band(max(value - within, 0.0), value + within) if has_intervals else NO_INTERVAL)


def insist_on_memory(users: int) -> None:
    """Raise RefusedError if this machine has too little memory for that number of users."""
    needed = users * BYTES_A_USER
    free = available_memory()
    if needed > free:
        most = 10 ** math.floor(math.log10(free / BYTES_A_USER))
        raise RefusedError(
            f"{users:,} simulated users need about {needed / 2**30:.1f} GiB of memory, and {free / 2**30:.1f} are free",
            f"simulate fewer, such as {most:,}",
        )


def available_memory() -> float:
    """Available memory in bytes; infinite if it is not known."""
    try:
        rows = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * int(row.split()[1]) for row in rows if row.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return math.inf
