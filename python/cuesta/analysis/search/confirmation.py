"""Whether trials at one load show that it meets the objective, or that it misses it: Student's t on logarithms."""

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
    def refuted(self) -> bool:
        """Whether more trials are of no use: something besides the limit counts against one, or they tend to miss."""
        if any(trial.against or trial.excess is None for trial in self.trials):
            return True
        return len(self.trials) > 1 and sum(self.excesses) > 0

    @property
    def over(self) -> bool:
        return self.refuted or len(self.trials) >= self.wanted

    @property
    def certified(self) -> bool:
        return not self.refuted and len(self.trials) >= self.wanted and upper_bound(self.excesses) <= 0


def upper_bound(excesses: Sequence[float]) -> float:
    """The one-sided 95 % upper bound of the mean excess; infinite for fewer than two trials."""
    if len(excesses) < 2:
        return math.inf
    error = statistics.stdev(excesses) / math.sqrt(len(excesses))
    return statistics.fmean(excesses) + student(len(excesses) - 1) * error
