"""Confirms that a load meets the objective: Student's t on the excesses of several trials there."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuesta.analysis.certainty import student
from cuesta.analysis.search.trial import Trial


@dataclass(slots=True)
class Round:
    """Confirming trials at one load."""

    load: float
    wanted: int
    trials: list[Trial] = field(default_factory=list)

    @property
    def excesses(self) -> list[float]:
        return [trial.excess for trial in self.trials if trial.excess is not None]

    @property
    def has_failed(self) -> bool:
        """Whether confirmation has already failed: a trial has an objection, or the mean excess is above zero."""
        if any(trial.against or trial.excess is None for trial in self.trials):
            return True
        return len(self.trials) > 1 and sum(self.excesses) > 0

    @property
    def is_finished(self) -> bool:
        return self.has_failed or len(self.trials) >= self.wanted

    @property
    def is_certified(self) -> bool:
        return not self.has_failed and len(self.trials) >= self.wanted and upper_bound(self.excesses) <= 0


def upper_bound(excesses: Sequence[float]) -> float:
    """The one-sided 95 % upper bound of the mean excess; infinite for fewer than two trials."""
    if len(excesses) < 2:
        return math.inf
    error = statistics.stdev(excesses) / math.sqrt(len(excesses))
    return statistics.fmean(excesses) + student(len(excesses) - 1) * error
