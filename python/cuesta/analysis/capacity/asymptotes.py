"""The two asymptotes of throughput: X ≤ N / (R₀ + Z + K) at light load, X ≤ m / D of the bottleneck at heavy load.

No closed system exceeds them (P. J. Denning and J. P. Buzen, Computing Surveys 10(3), 1978). Both are estimated from a
sweep, with their standard errors: R₀ is the response of the lightest step, which includes waiting unless that step has
one user; Z and K are those of each step; D = m·U/X is of the *metered* resource that allows least, and one that was not
metered may be the true bottleneck. A step above an asymptote is due to chance, or it contradicts the asymptote.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cuesta.analysis.capacity.measured_step import MeasuredStep, list_swept_besides_users
from cuesta.analysis.capacity.resources import Kind, Resource, read_resources
from cuesta.analysis.certainty import TWO_SIDED_95, error_of_rate
from cuesta.figures.step import StepFigures
from cuesta.units import share

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

BUSY_ENOUGH = 0.3
"""Least utilization at which a demand is believed: U/X of a resource that hardly works is mostly its other work."""
ALMOST_BUSIEST = 0.9
"""Share of its highest utilization from which on a step counts for the demand of a resource."""


@dataclass(frozen=True, slots=True)
class LightLoadAsymptote:
    """The cycle of users who do not wait for one another."""

    users: int
    """The number of users of the step that it is from."""
    response: float
    """R₀: mean response since sent, in seconds."""
    own_time: float
    """Z + K: seconds that a user thinks and types, for each transaction."""
    error: float
    """Relative standard error of the cycle."""

    @property
    def cycle(self) -> float:
        """R₀ + Z + K in seconds."""
        return self.response + self.own_time


@dataclass(frozen=True, slots=True)
class HeavyLoadAsymptote:
    """The throughput at which the first resource saturates."""

    resource: str
    users: tuple[int, ...]
    """The numbers of users of the steps that the demand is from."""
    utilization: float
    """The highest utilization among these steps."""
    demand: float
    """D = m·U/X: seconds of one of its servers for each transaction."""
    error: float
    """Relative standard error of the demand."""
    servers: float = 1.0
    """m"""

    @property
    def most_per_s(self) -> float:
        """m / D: the throughput that it allows."""
        return self.servers / self.demand

    @property
    def rate_interval(self) -> tuple[float, float]:
        """The interval of 95 % in which m / D lies."""
        return interval_around(self.most_per_s, self.error)


@dataclass(frozen=True, slots=True)
class StepAbove:
    """A step whose throughput lies above an asymptote."""

    line: Literal["light", "heavy"]
    users: int
    per_s: float
    bound: float
    """The throughput that the asymptote allows with this number of users."""
    is_chance: bool
    """Whether the difference lies within the 95 % interval of steps of this length."""


@dataclass(frozen=True, slots=True)
class Asymptotes:
    """Both asymptotes, or why one is missing."""

    light: LightLoadAsymptote | None
    no_light: str
    heavy: HeavyLoadAsymptote | None
    no_heavy: str
    above: Sequence[StepAbove] = field(default=())

    @property
    def contradicted(self) -> bool:
        """Whether more was measured than an asymptote allows."""
        return any(not each.is_chance for each in self.above)

    @property
    def crossing(self) -> float | None:
        """N* = (R₀ + Z + K) · m / D: with more users some of them must wait. None if an asymptote is contradicted."""
        return self.light.cycle * self.heavy.most_per_s if self.light and self.heavy and not self.contradicted else None

    @property
    def crossing_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of N*."""
        if self.crossing is None or self.light is None or self.heavy is None:
            return None
        return interval_around(self.crossing, math.hypot(self.light.error, self.heavy.error))


def bound_by_cycle(step: StepFigures, light: LightLoadAsymptote) -> float:
    """N / (R₀ + Z + K) a second, with R₀ of the lightest step, and Z and K of this one."""
    own_time = step.law.z + step.law.k if step.law else light.own_time
    return step.users / (light.response + own_time)


def interval_around(value: float, error: float) -> tuple[float, float]:
    """The interval of 95 % about a positive number with a relative standard error."""
    factor = math.exp(TWO_SIDED_95 * error)
    return value / factor, value * factor


def derive_asymptotes(summary: "Summary") -> Asymptotes:
    """Derive both asymptotes from the steps of a sweep."""
    if others := list_swept_besides_users(summary):
        why = f"{', '.join(others)} was swept too: each value is another system, with lines of its own"
        return Asymptotes(None, why, None, why)
    steps = [step for step in summary.counted if step.transactions.per_s]
    errors = {step.step: error_of_rate(summary.recorded, [step.step]) for step in steps}
    light, limits = derive_light_load(steps, errors), derive_heavy_loads(summary, steps)
    most = max(limits, key=lambda each: each.utilization, default=None)
    busiest = f"the busiest one, {most.resource}, was {share(most.utilization)} busy" if most else "none was metered"
    believed = [each for each in limits if each.utilization >= BUSY_ENOUGH]
    heavy = min(believed, key=lambda each: each.most_per_s, default=None)
    return Asymptotes(
        light=light,
        no_light="" if light else "it needs a closed load in which no wait failed",
        heavy=heavy,
        no_heavy=f"no metered resource came near its limit: {busiest}",
        above=[each for step in steps for each in compare_with_asymptotes(step, errors[step.step], light, heavy)],
    )


def derive_light_load(steps: list[StepFigures], errors: Mapping[int, float]) -> LightLoadAsymptote | None:
    lightest = min(steps, key=lambda step: step.users, default=None)
    law = lightest.law if lightest else None
    if lightest is None or law is None:
        return None
    return LightLoadAsymptote(lightest.users, law.r_measured, law.z + law.k, errors[lightest.step])


def derive_heavy_loads(summary: "Summary", steps: list[StepFigures]) -> Sequence[HeavyLoadAsymptote]:
    """The throughput at which each resource saturates."""
    by_resource: dict[str, list[tuple[StepFigures, Resource]]] = {}
    for step in steps:
        for each in list_shared_resources(MeasuredStep(summary.recorded, step)):
            by_resource.setdefault(each.name, []).append((step, each))
    limits = [pool_demand(summary, name, busy) for name, busy in by_resource.items()]
    return [limit for limit in limits if limit.demand]


def list_shared_resources(measured: MeasuredStep) -> Sequence[Resource]:
    """The resources that users share and whose work for each transaction is known."""
    return [
        each
        for each in read_resources(measured)
        if each.is_believed and each.demand is not None and each.kind != Kind.LINES
    ]


def pool_demand(summary: "Summary", resource: str, steps: Sequence[tuple[StepFigures, Resource]]) -> HeavyLoadAsymptote:
    """D = busy server-seconds / transactions, over the steps in which the resource was almost as busy as ever."""
    most = max(metered.used for _, metered in steps)
    busiest = [(step, metered) for step, metered in steps if metered.used >= ALMOST_BUSIEST * most]
    busy = sum(metered.used * metered.servers * step.seconds for step, metered in busiest)
    demand = busy / sum(step.served_transactions for step, _ in busiest)
    error = error_of_rate(summary.recorded, [step.step for step, _ in busiest])
    users = tuple(sorted({step.users for step, _ in busiest}))
    return HeavyLoadAsymptote(resource, users, most, demand, error, busiest[0][1].servers)


def compare_with_asymptotes(
    step: StepFigures, error: float, light: LightLoadAsymptote | None, heavy: HeavyLoadAsymptote | None
) -> Iterator[StepAbove]:
    """The asymptotes that a step lies above."""
    per_s = step.served_transactions / step.seconds if step.seconds else 0.0
    if light and step.users > light.users and per_s > (bound := bound_by_cycle(step, light)):
        chance = per_s <= interval_around(bound, math.hypot(light.error, error))[1]
        yield StepAbove("light", step.users, per_s, bound, chance)
    if heavy and per_s > (bound := heavy.most_per_s):
        chance = per_s <= interval_around(bound, math.hypot(heavy.error, error))[1]
        yield StepAbove("heavy", step.users, per_s, bound, chance)
