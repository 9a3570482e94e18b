"""Plays users at the stations of a fitted model, in virtual time: percentiles, which no exact theory gives.

The users are the driver's own (docs/simulation.md). Services are exponential unless the model has fixed ones; the rest
of a response is constant. Where the lines have a speed, their time is taken out of that constant part, and the lines
are simulated.
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
from cuesta.analysis.predict.changes import Change, response_of
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.pace import Pace, play
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import SystemPrediction
from cuesta.analysis.predict.what_if import Estimate, network_with
from cuesta.analysis.predict.workload import NANO, Times, Workload, nanoseconds
from cuesta.errors import RefusedError

CYCLES = 0.5
"""How many cycles of a user are measured at least."""
BATCHES = 10
"""Into how many parts the measurement is divided, whose differences give the intervals."""
BATCH = 10
"""How many cycles of a user each of them must last.

Users who wait do not think, so a queue that is long by chance is long for about a think time, and where just enough
users saturate a station, so are those of a batch as long as a cycle: their intervals would be half as wide as they
must be. With ten cycles an interval of 90 % holds the mean in 83 to 90 of 100 simulations there, and elsewhere in more.
"""
WARM_UP = 5
"""How many cycles pass before the measurement, where that is affordable.

The difference from the steady state falls to about a third in each think time: less than a hundredth of it is left.
"""
NO_INTERVAL = Band(-math.inf, math.inf)
PERCENTILES = ("p50", "p95", "p99")
DISAGREES = 2.0
"""How many times its interval a mean is off the exact one if that is no chance: once in some hundred loads."""
NEGLIGIBLE = 0.005
"""Relative difference of means that is never called a disagreement."""
LONGEST = 86_400.0
"""Seconds above which histograms do not tell durations apart: there are no percentiles of them."""
BYTES_A_USER = 4096
"""Memory of a simulated user (docs/bench.md)."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long a simulation is."""

    transactions: int
    """How many are measured at least, of all users together."""
    most: int
    """How many are measured at most so that batches are long enough for intervals, and pass at most before."""

    def cycles(self, users: int) -> float:
        """How many cycles of a user are measured."""
        return max(self.transactions / users, min(BATCHES * BATCH, self.most / users), CYCLES)

    def has_intervals(self, users: int) -> bool:
        """Whether the batches are long enough."""
        return self.cycles(users) >= BATCHES * BATCH

    def cycles_before(self, users: int) -> float:
        """How many cycles pass before that."""
        return max(min(WARM_UP, self.most / users), 1.0)


WHOLE = Length(50_000, 5_000_000)
"""Of a load that is reported: seconds to a few minutes."""


@dataclass(frozen=True, slots=True)
class Series:
    """Durations of one kind, in seconds, each figure with its 90 % interval."""

    name: str
    """`response` or `echo`; with the transaction, `response{log in}`, if there are several."""
    count: int
    mean: Estimate | None
    percentiles: Mapping[str, Estimate]
    """By `p50`, …; without those that are too rare for an interval, or longer than histograms tell."""


@dataclass(frozen=True, slots=True)
class SimulatedFigure:
    """What a simulation shows of one load."""

    at: Conditions
    """The load, with the pace that was played."""
    asked: Conditions
    series: Sequence[Series]
    """Since a key was due, as a run counts: with the time in which the line was still busy with the keys before."""
    mean: Estimate | None
    """Of the response since sent, in seconds, as models have it; of keys, of the echo."""
    exact: float
    """The same by the exact model, at this pace."""
    transactions: int
    unanswered: int
    virtual: float
    """Seconds that were measured, by the users' clock."""
    events: int
    elapsed: float
    """Seconds that it took."""
    has_intervals: bool
    """Whether batches are long enough for intervals; else each band is without ends."""

    @property
    def agrees(self) -> bool | None:
        """Whether the mean is that of the exact model, as far as chance allows; None where no interval tells."""
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
        found = network_with(self.system, self.system.model, at, self.changes)
        assert found
        return found

    def figure(self, users: int, length: Length = WHOLE) -> SimulatedFigure:
        """Simulate a number of users. Raises RefusedError if memory is too small for them."""
        insist_on_memory(users)
        at = replace(self.at, users=users, think=self.pace.think, keying=self.pace.keying)
        workload, stations = self.host(at)
        spec = {
            "run": workload.run_spec(users, self.times(at, length), self.seed),
            "host": {"stations": stations},
            "batches": BATCHES,
            "percentiles": [float(name.removeprefix("p")) for name in self.percentiles],
            "patient": True,
        }
        begun = _native.now()
        figures = play(spec, dict(workload.tapes))
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
            series=series_of(step, self.pace.is_of_keys, self.percentiles, has_intervals),
            mean=estimate(
                step["series"]["echo_from_sent"]["mean"] if self.pace.is_of_keys else step["response"], has_intervals
            ),
            exact=response_of(self.network(at), at),
            transactions=counts["transactions"],
            unanswered=counts["unanswered"],
            virtual=step["seconds"],
            events=figures["events"],
            elapsed=elapsed,
            has_intervals=has_intervals,
        )

    def host(self, at: Conditions) -> tuple[Workload, list[dict[str, Any]]]:
        """The stations as the simulation takes them, and the workload, whose lines have their speed only if it fits."""
        network = self.network(at)
        constant = sum(station.demand for station in network.stations if station.is_delay)
        has_lines = self.workload.is_on_slow_lines and self.pace.line <= constant
        waits = self.pace.waits
        rest = max(constant - self.pace.line, 0.0) if has_lines else constant
        visit = "key_demand" if self.pace.is_of_keys else "demand"
        stations: list[dict[str, Any]] = [
            {"name": station.name, visit: service(station, waits), "servers": int(station.servers)}
            for station in network.queueing
        ]
        if rest:
            stations.append({"name": "delay", visit: fixed(rest / waits), "servers": None})
        return self.workload if has_lines else self.workload.with_groups(line_speed=0), stations

    def times(self, at: Conditions, length: Length) -> Times:
        """Users begin spread over the cycle of one who is alone; then cycles pass before the measurement."""
        network = self.network(at)
        alone, response = network.least_response, response_of(network, at)
        shortest, cycle = (at.cycle or alone + at.own, max(at.cycle, response) if at.cycle else response + at.own)
        measure = cycle * length.cycles(at.users)
        return Times(shortest / at.users, max(cycle * length.cycles_before(at.users), measure / 10), measure)


def service(station: Station, waits: float) -> str | float:
    """The distribution of services in one of the waits of a transaction: a mean alone is exponential."""
    mean = station.demand / waits
    return fixed(mean) if station.is_fixed else mean


def fixed(seconds: float) -> str:
    return f"fixed {nanoseconds(seconds)}ns"


def insist_on_stations(system: SystemPrediction, at: Conditions) -> None:
    """Raise RefusedError for a model without stations where users wait by chance."""
    model = system.model
    network = model.network(at) if isinstance(model.form, OneStation | Metered) else None
    if network is None or network.bottleneck is None:
        raise RefusedError(
            f"the model that fits ({model.form.name}) has no stations where users wait by chance",
            "a simulation needs one station, or metered stations",
        )


def series_of(
    step: Mapping[str, Any], is_of_keys: bool, percentiles: Sequence[str], has_intervals: bool
) -> list[Series]:
    """All responses, then those of each transaction if there are several; or the echoes of a tape of mere keys."""
    found: Mapping[str, Any] = step["series"]
    if is_of_keys:
        return [series("echo", found["echo"], percentiles, has_intervals)]
    whole = series("response", found["response"], percentiles, has_intervals)
    own = {name: each for name, each in found.items() if name.count("/") == 1 and name.endswith("/response")}
    if len(own) < 2:
        return [whole]
    named = ((unquote(name.removesuffix("/response")), each) for name, each in own.items())
    return [whole, *(series(f"response{{{name}}}", each, percentiles, has_intervals) for name, each in named)]


def series(name: str, figures: Mapping[str, Any], percentiles: Sequence[str], has_intervals: bool) -> Series:
    known = {each: estimate(figures[each], has_intervals) for each in percentiles}
    mean = estimate(figures["mean"], has_intervals)
    return Series(name, figures["count"], mean, {p: each for p, each in known.items() if each and each.value < LONGEST})


def estimate(figure: Mapping[str, float] | None, has_intervals: bool) -> Estimate | None:
    """A figure with its interval, whose ends are infinite if its batches are too short to tell."""
    if figure is None:
        return None
    value, within = figure["value"], figure["within"]
    return Estimate(value, Band(max(value - within, 0.0), value + within) if has_intervals else NO_INTERVAL)


def insist_on_memory(users: int) -> None:
    """Raise RefusedError if this machine has too little memory for that number of users."""
    needed = users * BYTES_A_USER
    free = available()
    if needed > free:
        most = 10 ** math.floor(math.log10(free / BYTES_A_USER))
        raise RefusedError(
            f"{users:,} simulated users need about {needed / 2**30:.1f} GiB of memory, and {free / 2**30:.1f} are free",
            f"simulate fewer, such as {most:,}",
        )


def available() -> float:
    """Bytes of memory that programs can still have."""
    try:
        rows = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * int(row.split()[1]) for row in rows if row.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return math.inf
