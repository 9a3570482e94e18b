"""Why a step has no steady state: its percentiles are then those of this run alone, not of the host."""

from cuesta.figures.step import Overload, StepFigures
from cuesta.units import digits, seconds


def why_unsteady(step: StepFigures) -> str:
    """Why a step has no steady state; empty if it has one."""
    overload = step.settled.overload
    return describe_overload(overload) if overload else describe_shift(step)


def describe_overload(overload: Overload) -> str:
    due, ended, growth = map(digits, (overload.offered_per_s, overload.kept_per_s, overload.growth_per_s))
    return f"no steady state, overloaded: {due} passes/s were due and {ended}/s ended; the backlog grows by {growth}/s"


def describe_shift(step: StepFigures) -> str:
    """How throughput or else response changed its level, or drifted; empty if both kept theirs."""
    throughput, response = step.settled.throughput, step.settled.response
    if (shift := throughput or response) is None:
        return ""
    levels = (shift.before, shift.after)
    before, after = (f"{digits(level)}/s" for level in levels) if throughput else map(seconds, levels)
    what = f"no steady state: the {'throughput' if throughput else 'response'}"
    if shift.at is None:
        return f"{what} drifted from {before} to {after}"
    return f"{what} was {before} for {seconds(shift.at * step.seconds)}, {after} from then on"
