"""The two asymptotes of throughput against users: X ≤ N / (R₀ + Z + K) and X ≤ 1 / D max.

No closed system does better (P. J. Denning and J. P. Buzen, Computing Surveys 10(3), 1978). Both are taken from what a
sweep measured, so each says from which step: R₀ is the response of the lightest step, which other users have already
lengthened if it is not of one user; D max is the largest service demand `D = U/X` of the resources that were *metered*,
and one that was not may be the true bottleneck.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cuesta.analysis.figures import Figures
from cuesta.analysis.front_end import front_end
from cuesta.analysis.summary import Summary
from cuesta.units import share

BUSY_ENOUGH = 0.3
"""Utilization from which on a demand is believed: of a resource that hardly works, U/X is mostly what else it does."""


@dataclass(frozen=True, slots=True)
class Light:
    """What users do who do not wait for one another."""

    users: int
    """Of the step that it is from."""
    response: float
    """R₀: mean response since sent, in seconds."""
    own: float
    """Z + K: seconds that a user thinks and types, for each transaction."""

    @property
    def cycle(self) -> float:
        """Give R₀ + Z + K in seconds."""
        return self.response + self.own


@dataclass(frozen=True, slots=True)
class Heavy:
    """What the resource allows that is the first to be busy all the time."""

    resource: str
    users: int
    """Of the step that it is from: that in which the resource was busiest."""
    utilization: float
    demand: float
    """D max = U/X: seconds of the resource for each transaction."""


@dataclass(frozen=True, slots=True)
class Asymptotes:
    """Both of them; where there is none, why."""

    light: Light | None
    no_light: str
    heavy: Heavy | None
    no_heavy: str

    @property
    def crossing(self) -> float | None:
        """Give N* = (R₀ + Z + K) / D max: with more users some of them must wait."""
        return self.light.cycle / self.heavy.demand if self.light and self.heavy else None


def asymptotes(summary: Summary) -> Asymptotes:
    """Take them from the steps of a sweep."""
    steps = [step for step in summary.steps if step.transactions.per_s]
    light, heavy = _light(steps), _heavy(summary, steps)
    busiest = f"the busiest one, {heavy.resource}, was {share(heavy.utilization)} busy" if heavy else "none was metered"
    return Asymptotes(
        light=light,
        no_light="" if light else "it needs a closed load in which no wait failed",
        heavy=heavy if heavy and heavy.utilization >= BUSY_ENOUGH else None,
        no_heavy=f"no metered resource came near its limit: {busiest}",
    )


def _light(steps: list[Figures]) -> Light | None:
    lightest = min(steps, key=lambda step: step.users, default=None)
    law = lightest.law if lightest else None
    return Light(lightest.users, law.r_measured, law.z + law.k) if lightest and law else None


def _heavy(summary: Summary, steps: list[Figures]) -> Heavy | None:
    """Take each resource where it was busiest, and of these the one with the largest demand."""
    busiest = dict[str, Heavy]()
    for step in steps:
        for name, utilization in utilizations(summary, step).items():
            if name not in busiest or utilization > busiest[name].utilization:
                demand = utilization / (step.transactions.per_s or 1.0)
                busiest[name] = Heavy(name, step.users, utilization, demand)
    return max(busiest.values(), key=lambda heavy: heavy.demand, default=None)


def utilizations(summary: Summary, step: Figures) -> Mapping[str, float]:
    """Give the busy share of each resource that was metered in a step; 1 is all of it."""
    return dict(_utilizations(summary, step))


def _utilizations(summary: Summary, step: Figures) -> Iterator[tuple[str, float]]:
    host, times = step.host, summary.recorded.steps.get(step.step)
    if host.builtin and host.builtin.busy is not None:
        yield "the built-in host's servers", host.builtin.busy
    if times and (sheet := front_end(summary.recorded, times)) and sheet.idle:
        yield "the built-in host's busiest thread", 1 - min(sheet.idle)
    if host.cpu:
        yield "the host's CPUs", (host.cpu.usr + host.cpu.sys) / 100
    for name, device in (host.sheet or {}).get("devices", {}).items():
        if (busy := device["busy"].get("value")) is not None:
            yield f"the device {name}", busy / 100
