"""Doubts about a step without a steady state: its percentiles are those of this run alone, not of the host.

All doubts have one shape (`cuesta.analysis.validity`).
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from cuesta.figures.step import LevelShift, Overload, StepFigures
from cuesta.plan.schema import Validity
from cuesta.units import digits, seconds


@dataclass(frozen=True, slots=True)
class Overloaded:
    """More was due than the host can do: what waits grows as long as one measures, and so does the response."""

    of: Overload
    advice: ClassVar[str] = "offer less than the host kept; longer runs of the same load only give longer responses"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        return cls(step.settled.overload) if allowed.settled and step.settled.overload else None

    def __str__(self) -> str:
        due, ended, growth = map(digits, (self.of.offered_per_s, self.of.kept_per_s, self.of.growth_per_s))
        return (
            f"no steady state, overloaded: {due} passes/s were due and {ended}/s ended; the backlog grows by {growth}/s"
        )


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Throughput or response changed its level while measuring, or drifted."""

    what: str
    shift: LevelShift
    seconds: float
    """Length of the measurement interval."""
    advice: ClassVar[str] = "settle longer; near saturation measure longer too: there queues wander for minutes"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        return cls.of(step) if allowed.settled and not step.settled.overload else None

    @classmethod
    def of(cls, step: StepFigures) -> Self | None:
        for what, shift in (("throughput", step.settled.throughput), ("response", step.settled.response)):
            if shift:
                return cls(what, shift, step.seconds)
        return None

    def __str__(self) -> str:
        before, after = (
            f"{digits(level)}/s" if self.what == "throughput" else seconds(level)
            for level in (self.shift.before, self.shift.after)
        )
        if self.shift.at is None:
            return f"no steady state: the {self.what} drifted from {before} to {after}"
        until = seconds(self.shift.at * self.seconds)
        return f"no steady state: the {self.what} was {before} for {until}, {after} from then on"


def why_unsteady(step: StepFigures) -> str:
    """Why a step has no steady state; empty if it has one."""
    overload = step.settled.overload
    return str(Overloaded(overload) if overload else Unsettled.of(step) or "")
