"""Systems in percent of a reference, and the elapsed time of the last one with planned improvements.

An improvement saves a share of the elapsed time that it touches: elapsed × (1 − saves × touches), or nothing if the
benchmark does not exercise it. Improvements compound. Estimates are independent and uniform between their ends. The
probability to meet a goal is simulated (seeded, with its standard error).
"""

import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from statistics import fmean, pstdev

from cuesta.analysis.hodges_lehmann import RUNS_FOR_INTERVAL, ratio_interval
from cuesta.analysis.quantity import parse_print
from cuesta.errors import InputError
from cuesta.ledger.goals import Improvement

DRAWS, SEED = 20_000, 1974
"""The simulation's number of draws and its seed."""


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    name: str
    date: datetime.date
    elapsed: float
    brings: tuple[str, ...] = ()
    """Names of the improvements that it has."""
    zero_idle: float | None = None
    """Share of the CPUs' time in zero idle."""
    grade: str = ""
    """The grade, if it is a certification."""
    folder: str = ""
    doubt: str = ""
    """Why it should not be trusted: its record disagrees with its files, or it is a copy of another."""
    runs: tuple[float, ...] = ()
    """The elapsed time of each run; empty if it is a printed figure."""


@dataclass(frozen=True, slots=True)
class EstimatedShare:
    """An estimated share, uniform between its ends."""

    low: float
    high: float

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    def draw(self, source: random.Random) -> float:
        return source.uniform(self.low, self.high)

    def probability_above(self, value: float) -> float:
        """The probability of at least `value`."""
        if self.high == self.low:
            return float(self.high >= value)
        return min(1.0, max(0.0, (self.high - value) / (self.high - self.low)))


@dataclass(frozen=True, slots=True)
class PlannedImprovement:
    """An improvement with parsed estimates, as far as the benchmark exercises it."""

    name: str
    date: str
    saves: EstimatedShare
    touches: EstimatedShare
    in_benchmark: bool

    @property
    def mean(self) -> float:
        """Mean share of the elapsed time that it saves."""
        return self.saves.mean * self.touches.mean if self.in_benchmark else 0.0

    @property
    def low(self) -> float:
        return self.saves.low * self.touches.low if self.in_benchmark else 0.0

    @property
    def high(self) -> float:
        return self.saves.high * self.touches.high if self.in_benchmark else 0.0


@dataclass(frozen=True, slots=True)
class ProjectedSystem:
    """The elapsed time with this improvement and those before it."""

    planned: PlannedImprovement
    mean: float
    shortest: float
    """Elapsed time if all estimates come out high."""
    longest: float
    """Elapsed time if all estimates come out low."""


@dataclass(frozen=True, slots=True)
class GoalChance:
    goal: float
    share: float
    error: float
    """Standard error of the share; 0 if it is certain."""
    draws: int
    low: float
    """5th percentile of the elapsed time."""
    high: float
    """95th percentile of the elapsed time."""


@dataclass(frozen=True, slots=True)
class Projection:
    since: MeasuredSystem
    projected: tuple[ProjectedSystem, ...]
    chance: GoalChance | None

    @property
    def final_elapsed(self) -> float:
        """Mean elapsed time with all improvements."""
        return self.projected[-1].mean if self.projected else self.since.elapsed


@dataclass(frozen=True, slots=True)
class ReleaseOutcome:
    """A measured system, and the elapsed time that was expected with its improvements."""

    system: MeasuredSystem
    before: MeasuredSystem
    """The preceding system."""
    expected: float
    """Elapsed time, by the mean estimates."""
    estimated: float
    """Share of the elapsed time that was expected to be saved."""

    @property
    def gained(self) -> float:
        return 1 - self.system.elapsed / self.before.elapsed

    @property
    def miss(self) -> float:
        """Elapsed ÷ expected − 1."""
        return self.system.elapsed / self.expected - 1


@dataclass(frozen=True, slots=True)
class Ledger:
    title: str
    workload: str
    unit: str
    base: MeasuredSystem | None
    systems: tuple[MeasuredSystem, ...]
    """The systems by date."""
    planned: Projection | None
    """From the last system without any improvement; None if the first one has some already."""
    outcomes: tuple[ReleaseOutcome, ...]
    rebased: Projection | None
    """From the last system; None if none has an improvement yet."""

    def percent(self, elapsed: float) -> float | None:
        return 100 * elapsed / self.base.elapsed if self.base else None

    def percent_with_interval(self, system: MeasuredSystem) -> tuple[float | None, tuple[float, float] | None]:
        """A system in percent of the reference, with the interval over the runs of both.

        With too few runs for an interval there is no percentage; printed figures have no runs and no interval.
        """
        base = self.base
        if base is None or base is system or not (base.runs or system.runs):
            return self.percent(system.elapsed), None
        if any(0 < len(each.runs) < RUNS_FOR_INTERVAL for each in (base, system)):
            return None, None
        interval = ratio_interval(base.runs, system.runs) if base.runs and system.runs else None
        return self.percent(system.elapsed), interval and (100 * interval[0], 100 * interval[1])

    @property
    def last(self) -> Projection | None:
        return self.rebased or self.planned


def build_ledger(  # noqa: PLR0913, PLR0917
    title: str,
    workload: str,
    unit: str,
    systems: Sequence[MeasuredSystem],
    improvements: Sequence[Improvement],
    base: str | None,
    goal: float | None,
) -> Ledger:
    """Raises InputError for names that are not in it."""
    ordered = sorted(systems, key=lambda each: each.date)
    plans = [parse_improvement(each) for each in improvements]
    check_improvements(ordered, plans)
    # The last system before the first with an improvement; the last of all if none has one.
    first = next((at for at, system in enumerate(ordered) if system.brings), len(ordered))
    start = ordered[first - 1] if first else None
    outcomes = list(compare_outcomes(ordered, plans))
    present = {name for system in ordered for name in system.brings}
    left = [each for each in plans if each.name not in present]
    return Ledger(
        title,
        workload,
        unit,
        pick_reference(ordered, base),
        tuple(ordered),
        project(start, plans, goal) if plans and start else None,
        tuple(outcomes),
        project(ordered[-1], left, goal) if present else None,
    )


def pick_reference(systems: Sequence[MeasuredSystem], base: str | None) -> MeasuredSystem | None:
    """The reference of percentages: the named system, else the first. Raises InputError for an unknown name."""
    if base is None:
        return systems[0] if systems else None
    matches = [each for each in systems if base in {each.name, each.folder}]
    if not matches:
        names = ", ".join(dict.fromkeys(each.name for each in systems)) or "none"
        raise InputError(f"no system is called {base}", f"there are: {names}")
    return matches[0]


def check_improvements(systems: Sequence[MeasuredSystem], plans: Sequence[PlannedImprovement]) -> None:
    """Raise InputError if a system has an improvement that is not planned."""
    known = {each.name for each in plans}
    for system in systems:
        for name in system.brings:
            if name not in known:
                raise InputError(f"{system.name}: brings {name}: there is no such improvement")


def parse_improvement(improvement: Improvement) -> PlannedImprovement:
    """Parse an improvement's estimates. Raises InputError."""
    saves, touches = (parse_estimate(improvement, name) for name in ("saves", "touches"))
    return PlannedImprovement(improvement.name, improvement.date, saves, touches, improvement.in_benchmark)


def parse_estimate(improvement: Improvement, name: str) -> EstimatedShare:
    """Parse `10-12%` as stated, not as a rounded print."""
    text = getattr(improvement, name)
    quantity = parse_print(text)
    if quantity is None or quantity.high > 100.5 or quantity.low < -0.5 or text.strip()[:1] in {"<", ">"}:
        raise InputError(f"{improvement.name}: {name}: expected percent as 10-12%, got {text}")
    stated = (quantity.low, quantity.high) if "-" in text.strip()[1:] else (quantity.value, quantity.value)
    if stated[0] > stated[1]:
        raise InputError(f"{improvement.name}: {name}: expected the lower end first, as 10-12%, got {text}")
    return EstimatedShare(stated[0] / 100, stated[1] / 100)


def compare_outcomes(
    systems: Sequence[MeasuredSystem], plans: Sequence[PlannedImprovement]
) -> Iterator[ReleaseOutcome]:
    """Each system that brings improvements, beside what was expected of them."""
    by_name = {each.name: each for each in plans}
    for at, system in enumerate(systems):
        if system.brings and at:
            rest = prod(1 - by_name[name].mean for name in system.brings)
            yield ReleaseOutcome(system, systems[at - 1], systems[at - 1].elapsed * rest, 1 - rest)


def project(since: MeasuredSystem, plans: Sequence[PlannedImprovement], goal: float | None) -> Projection:
    projected, mean, shortest, longest = list[ProjectedSystem](), since.elapsed, since.elapsed, since.elapsed
    for each in plans:
        mean, shortest, longest = mean * (1 - each.mean), shortest * (1 - each.high), longest * (1 - each.low)
        projected.append(ProjectedSystem(each, mean, shortest, longest))
    return Projection(since, tuple(projected), None if goal is None else simulate_chance(since.elapsed, plans, goal))


def simulate_chance(elapsed: float, plans: Sequence[PlannedImprovement], goal: float) -> GoalChance:
    """Simulate the elapsed time with all improvements.

    The probability over the widest estimate is computed, not drawn (conditional Monte Carlo), which reduces the error.
    """
    source = random.Random(SEED)
    counted = sorted((each for each in plans if each.in_benchmark), key=lambda each: each.high - each.low)
    shares, elapsed_times = list[float](), list[float]()
    for _ in range(DRAWS):
        rest = elapsed * prod(1 - each.saves.draw(source) * each.touches.draw(source) for each in counted[:-1])
        if not counted:
            shares.append(float(rest <= goal))
            elapsed_times.append(rest)
            continue
        saves, touched = counted[-1].saves, counted[-1].touches.draw(source)
        shares.append(saves.probability_above((1 - goal / rest) / touched) if touched else float(rest <= goal))
        elapsed_times.append(rest * (1 - saves.draw(source) * touched))
    elapsed_times.sort()
    return GoalChance(
        goal,
        fmean(shares),
        pstdev(shares) / sqrt(DRAWS),
        DRAWS,
        elapsed_times[DRAWS // 20],
        elapsed_times[-DRAWS // 20],
    )
