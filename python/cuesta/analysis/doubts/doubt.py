"""What a doubt is, and where the functions that look for doubts are registered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cuesta.analysis.planned import Allowed
from cuesta.figures.step import StepFigures
from cuesta.ledger import Recorded

Blame = Literal["host", "driver", "hypervisor", "measurement"]

ForTrial = Literal["repeated", "unsettled", "stopped", "empty", "failed", "slow", "overloaded"]
"""What a doubt means for a trial of a search.

- `repeated`: the trial does not count. `unsettled`: it counts only if it drifted further to its side of the limit.
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
    """The name of its function."""

    def __str__(self) -> str:
        return self.text


def select_driver_doubts(doubts: Sequence[Doubt]) -> list[Doubt]:
    """The doubts that blame the driver; none where the hypervisor took CPU time, which may have delayed the driver."""
    if any(doubt.blames == "hypervisor" for doubt in doubts):
        return []
    return [doubt for doubt in doubts if doubt.blames == "driver"]


StepCheck = Callable[[StepFigures, Allowed], Doubt | None]
RunCheck = Callable[[Recorded], Doubt | None]
STEP_CHECKS: list[StepCheck] = []
RUN_CHECKS: list[RunCheck] = []


def step_doubt(check: StepCheck) -> StepCheck:
    """Register a function that may find a doubt about a step; the doubt is named after it."""
    STEP_CHECKS.append(check)
    return check


def run_doubt(check: RunCheck) -> RunCheck:
    """Register a function that may find a doubt about a whole run; the doubt is named after it."""
    RUN_CHECKS.append(check)
    return check


def find_step_doubts(step: StepFigures, allowed: Allowed) -> list[Doubt]:
    return [replace(doubt, name=check.__name__) for check in STEP_CHECKS if (doubt := check(step, allowed))]


def find_run_doubts(recorded: Recorded) -> list[Doubt]:
    return [replace(doubt, name=check.__name__) for check in RUN_CHECKS if (doubt := check(recorded))]
