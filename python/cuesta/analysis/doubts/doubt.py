"""What a doubt is, and where the functions that look for doubts are registered."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from cuesta.analysis.planned import Allowed
from cuesta.figures.step import StepFigures
from cuesta.ledger import Recorded

Blame = Literal["host", "driver", "hypervisor", "measurement"]

ForTrial = Literal["repeated", "unsettled", "stopped", "empty", "failed", "slow", "overloaded"]
"""What a doubt means for a trial of a search.

- `repeated`: the trial does not count. `unsettled`: neither, unless it only moved further to the side that it is on.
- `stopped`, `empty`, `failed`: the load is not met, because the host stopped answering, nothing was measured, or it
  refused users or lost them.
- `slow`, `overloaded`: the load is not met, because too little was answered in time, or done of what was due.
"""


@dataclass(frozen=True, slots=True)
class Doubt:
    text: str
    """What was found."""
    advice: str
    """One line: what to do."""
    blames: Blame = "measurement"
    """A trial whose doubts blame the host counts."""
    trial: ForTrial = "repeated"
    voids_limits: bool = False
    """Whether every limit of the step fails."""
    replaced_by: tuple[str, ...] = ()
    """Figures: a limit on one of them replaces the doubt in a search."""
    in_search: str = ""
    """What a search adds to the text."""
    name: str = ""
    """That of its row in the table."""

    def __str__(self) -> str:
        return self.text


def of_the_driver(doubts: Iterable[Doubt]) -> list[Doubt]:
    """Select the doubts that say: the driver could not offer this load on time.

    None where the hypervisor took CPU time: that may have delayed the driver.
    """
    found = list(doubts)
    is_stolen = any(doubt.blames == "hypervisor" for doubt in found)
    return [] if is_stolen else [doubt for doubt in found if doubt.blames == "driver"]


OfStep = Callable[[StepFigures, Allowed], Doubt | None]
OfRun = Callable[[Recorded], Doubt | None]
OF_STEPS: list[OfStep] = []
OF_RUNS: list[OfRun] = []


def of_step(look: OfStep) -> OfStep:
    """Register a function that looks for a doubt about a step; the doubt is named after it."""
    OF_STEPS.append(look)
    return look


def of_run(look: OfRun) -> OfRun:
    """Register a function that looks for a doubt about a whole run; the doubt is named after it."""
    OF_RUNS.append(look)
    return look


def doubts_of_step(step: StepFigures, allowed: Allowed) -> list[Doubt]:
    return [replace(doubt, name=look.__name__) for look in OF_STEPS if (doubt := look(step, allowed))]


def doubts_of_run(recorded: Recorded) -> list[Doubt]:
    return [replace(doubt, name=look.__name__) for look in OF_RUNS if (doubt := look(recorded))]
