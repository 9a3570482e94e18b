"""The two asymptotes of throughput against users: X ≤ N / (R₀ + Z + K) and X ≤ m / D of the first to be saturated.

No closed system does better (P. J. Denning and J. P. Buzen, Computing Surveys 10(3), 1978). Both are taken from what a
sweep measured, so each says from which steps, and how sure it is: R₀ is the response of the lightest step, which other
users have already lengthened if it is not of one user, and Z and K are those of each step; D is the service demand
`D = m·U/X` of the *metered* resource that allows least, and one that was not metered may be the true bottleneck. A step
that was measured above a line is named: as chance, or as a contradiction, which says that the line does not hold.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cuesta.analysis.capacity.measured import MeasuredStep
from cuesta.analysis.capacity.resources import Kind, Resource, resources
from cuesta.analysis.certainty import error_of_rate
from cuesta.figures.step import StepFigures
from cuesta.units import share

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

BUSY_ENOUGH = 0.3
"""Least utilization at which a demand is believed: U/X of a resource that hardly works is mostly its other work."""
AS_BUSY = 0.9
"""A resource's demand is from the steps in which it was at least this busy, as a share of its busiest step."""
TWO_SIDED_95 = 1.96
"""Standard errors on either side."""


@dataclass(frozen=True, slots=True)
class Light:
    """The cycle of users who do not wait for one another: response, thinking and typing."""

    users: int
    """The number of users of the step that it is from."""
    response: float
    """R₀: mean response since sent, in seconds."""
    own: float
    """Z + K: seconds that a user thinks and types, for each transaction."""
    error: float
    """Relative standard error of the cycle."""

    @property
    def cycle(self) -> float:
        """R₀ + Z + K in seconds."""
        return self.response + self.own


@dataclass(frozen=True, slots=True)
class Heavy:
    """The limit of the resource that is the first to be busy all the time."""

    resource: str
    users: tuple[int, ...]
    """The numbers of users of the steps that it is from: those in which the resource was about as busy as ever."""
    utilization: float
    """The resource's utilization in the busiest of these steps."""
    demand: float
    """D = m·U/X: seconds of one of its servers for each transaction."""
    error: float
    """Relative standard error of the demand."""
    servers: float = 1.0
    """m: how many transactions it serves at once."""

    @property
    def most_per_s(self) -> float:
        """m / D: the throughput that it allows."""
        return self.servers / self.demand

    @property
    def rate_interval(self) -> tuple[float, float]:
        """The interval of 95 % in which m / D lies."""
        return around(self.most_per_s, self.error)


@dataclass(frozen=True, slots=True)
class Above:
    """A step whose throughput lies above a line."""

    line: Literal["light", "heavy"]
    users: int
    per_s: float
    bound: float
    """The throughput that the line allows with this number of users."""
    is_chance: bool
    """Whether steps of this length explain it."""


@dataclass(frozen=True, slots=True)
class Asymptotes:
    """Both asymptotes; why there is none, if one is missing."""

    light: Light | None
    no_light: str
    heavy: Heavy | None
    no_heavy: str
    above: Sequence[Above] = field(default=())

    @property
    def contradicted(self) -> bool:
        """Whether more was measured than a line allows."""
        return any(not each.is_chance for each in self.above)

    @property
    def crossing(self) -> float | None:
        """N* = (R₀ + Z + K) · m / D: with more users some of them must wait. None if a line does not hold."""
        return self.light.cycle * self.heavy.most_per_s if self.light and self.heavy and not self.contradicted else None

    @property
    def crossing_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of N*."""
        if self.crossing is None or self.light is None or self.heavy is None:
            return None
        return around(self.crossing, math.hypot(self.light.error, self.heavy.error))


def unhindered(step: StepFigures, light: Light) -> float:
    """N / (R₀ + Z + K) a second: R₀ of the lightest step, Z and K of this one, whose users may think or type longer."""
    own = step.law.z + step.law.k if step.law else light.own
    return step.users / (light.response + own)


def around(value: float, error: float) -> tuple[float, float]:
    """The interval of 95 % about a positive number with a relative standard error."""
    factor = math.exp(TWO_SIDED_95 * error)
    return value / factor, value * factor


def asymptotes(summary: "Summary") -> Asymptotes:
    """Derive both asymptotes from the steps of a sweep."""
    if others := swept_besides_users(summary):
        why = f"{', '.join(others)} was swept too: each value is another system, with lines of its own"
        return Asymptotes(None, why, None, why)
    steps = [step for step in summary.counted if step.transactions.per_s]
    errors = {step.step: error_of_rate(summary.recorded, [step.step]) for step in steps}
    light, limits = _light(steps, errors), _limits(summary, steps)
    most = max(limits, key=lambda each: each.utilization, default=None)
    busiest = f"the busiest one, {most.resource}, was {share(most.utilization)} busy" if most else "none was metered"
    believed = [each for each in limits if each.utilization >= BUSY_ENOUGH]
    heavy = min(believed, key=lambda each: each.most_per_s, default=None)
    return Asymptotes(
        light=light,
        no_light="" if light else "it needs a closed load in which no wait failed",
        heavy=heavy,
        no_heavy=f"no metered resource came near its limit: {busiest}",
        above=[each for step in steps for each in _above(step, errors[step.step], light, heavy)],
    )


def swept_besides_users(summary: "Summary") -> list[str]:
    """Name what was swept besides the number of users."""
    values: dict[str, set[str]] = {}
    for step in summary.steps:
        for name, value in step.swept.items():
            values.setdefault(name, set()).add(str(value))
    return [name for name, points in values.items() if name.rpartition(".")[2] != "users" and len(points) > 1]


def _light(steps: list[StepFigures], errors: Mapping[int, float]) -> Light | None:
    lightest = min(steps, key=lambda step: step.users, default=None)
    law = lightest.law if lightest else None
    if lightest is None or law is None:
        return None
    return Light(lightest.users, law.r_measured, law.z + law.k, errors[lightest.step])


def _limits(summary: "Summary", steps: list[StepFigures]) -> Sequence[Heavy]:
    """The limit of each resource, by the steps in which it was about as busy as ever."""
    by_resource: dict[str, list[tuple[StepFigures, Resource]]] = {}
    for step in steps:
        for each in stations(MeasuredStep(summary.recorded, step)):
            by_resource.setdefault(each.name, []).append((step, each))
    limits = [_demand(summary, name, busy) for name, busy in by_resource.items()]
    return [limit for limit in limits if limit.demand]


def stations(of: MeasuredStep) -> Sequence[Resource]:
    """The resources that users share and whose work for each transaction is known."""
    return [each for each in resources(of) if each.is_believed and each.demand is not None and each.kind != Kind.LINES]


def _demand(summary: "Summary", resource: str, steps: Sequence[tuple[StepFigures, Resource]]) -> Heavy:
    """Divide the time that a resource was busy by the transactions, in all steps that saturate it together."""
    most = max(of.used for _, of in steps)
    saturated = [(step, of) for step, of in steps if of.used >= AS_BUSY * most]
    busy = sum(of.used * of.servers * step.seconds for step, of in saturated)
    demand = busy / sum(step.transactions.count for step, _ in saturated)
    error = error_of_rate(summary.recorded, [step.step for step, _ in saturated])
    users = tuple(sorted({step.users for step, _ in saturated}))
    return Heavy(resource, users, most, demand, error, saturated[0][1].servers)


def _above(step: StepFigures, error: float, light: Light | None, heavy: Heavy | None) -> Iterator[Above]:
    """Which lines a step lies above, and whether chance explains it."""
    per_s = step.transactions.per_s or 0.0
    if light and step.users > light.users and per_s > (bound := unhindered(step, light)):
        chance = per_s <= around(bound, math.hypot(light.error, error))[1]
        yield Above("light", step.users, per_s, bound, chance)
    if heavy and per_s > (bound := heavy.most_per_s):
        chance = per_s <= around(bound, math.hypot(heavy.error, error))[1]
        yield Above("heavy", step.users, per_s, bound, chance)
