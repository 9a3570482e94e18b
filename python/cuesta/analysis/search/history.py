"""The state of a search: which trials count, which loads they confirm, and the load that the driver cannot sustain."""

import math
import statistics
from dataclasses import dataclass, field, replace

from cuesta.analysis.certainty import student
from cuesta.analysis.search.constancy import Constancy
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome, Try
from cuesta.analysis.search.regression import estimate_noise, observe
from cuesta.analysis.search.trial import Trial

DRIVER_LIMIT = 3
"""Consecutive trials at one load that the driver spoiled, after which that load is its limit. Fewer may be due to other
work on its machine."""

MOST_REPEATED = 3
"""Consecutive trials at one load that did not count, after which the load counts as missed if none of them settled;
else the search ends. Trials from which the hypervisor took CPU time are not among them."""

MOST_DOUBTED = 18
"""Trials that did not count, in all, after which a search ends."""


@dataclass(slots=True)
class Confirmation:
    """Trials at one load that are to show that it meets the objective."""

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
        """Whether the one-sided 95 % upper bound of the mean excess, by Student's t, is at most zero."""
        if self.has_failed or len(self.trials) < max(self.wanted, 2):
            return False
        error = statistics.stdev(self.excesses) / math.sqrt(len(self.excesses))
        return statistics.fmean(self.excesses) + student(len(self.excesses) - 1) * error <= 0


@dataclass(slots=True)
class History:
    """The state of a search after some trials."""

    method: Method
    counted: list[Trial] = field(default_factory=list)
    """Trials that count, in order of time."""
    confirmations: list[Confirmation] = field(default_factory=list)
    """The last of them may be unfinished."""
    driver_limit: float | None = None
    """The smallest load that the driver failed to sustain."""
    doubted_in_a_row: dict[float, list[Trial]] = field(default_factory=dict)
    """By load: the trials that did not count since the last one that did, without those in which the hypervisor took
    CPU time."""
    doubted: list[Trial] = field(default_factory=list)
    """All trials that did not count, except those that showed the driver's limit."""
    constancy: Constancy = field(init=False)
    """Whether the host has changed."""
    checks: list[Trial] = field(default_factory=list)
    """The trials that checked that."""
    trial_count: int = 0
    last: Trial | None = None
    unrecovered: Trial | None = None
    """The last recovery trial, if the host answered nothing in it."""
    unsettled: bool = False
    """Whether a load counts as missed because no trial there settled."""

    def __post_init__(self) -> None:
        self.constancy = Constancy(self.method)

    def add(self, trial: Trial, decision: Try | Outcome) -> None:
        """Add the next trial. `decision` is the decision after the trials before it."""
        self.trial_count += 1
        before, self.last = self.last, trial
        if isinstance(decision, Try) and decision.purpose == "check" and trial.load == decision.load:
            self._check(trial)
            return
        if self._is_recovery(trial, decision) or is_aftermath(trial, before):
            return
        if isinstance(decision, Try) and decision.purpose == "confirm" and not self.confirming:
            self.confirmations.append(Confirmation(decision.load, self.method.confirmations))
        if not trial.counts:
            self._set_aside(trial)
            return
        self.doubted_in_a_row.pop(trial.load, None)
        self._count(trial)

    def _check(self, trial: Trial) -> None:
        """Add a trial that checks whether the host has changed; it counts as any other if the host has not."""
        self.checks.append(trial)
        if not trial.counts:
            self.doubted.append(trial)
        elif self.constancy.add_check(trial, estimate_noise(observe(self.counted), trial.load)):
            self._count(trial)

    def _is_recovery(self, trial: Trial, decision: Try | Outcome) -> bool:
        """Note whether the host has recovered; returns whether the trial shows nothing else."""
        if trial.answers == "some":
            self.unrecovered = None
        if not isinstance(decision, Try) or decision.purpose != "recover" or trial.load != decision.load:
            return False
        if trial.answers == "none":
            self.unrecovered = trial
        return trial.answers != "some" or not trial.counts

    def _count(self, trial: Trial) -> None:
        self.counted.append(trial)
        self.constancy.add(trial)
        if self.confirming and self.confirmations[-1].load == trial.load:
            self.confirmations[-1].trials.append(trial)

    @property
    def confirming(self) -> bool:
        """Whether a confirmation is unfinished."""
        return bool(self.confirmations) and not self.confirmations[-1].is_finished

    def _set_aside(self, trial: Trial) -> None:
        """Add a trial that does not count; the third in a row at its load may show the driver's limit or a miss."""
        self.doubted.append(trial)
        in_a_row = self.doubted_in_a_row.setdefault(trial.load, [])
        if trial.stolen:
            return
        in_a_row.append(trial)
        last = in_a_row[-DRIVER_LIMIT:]
        is_driver = len(last) == DRIVER_LIMIT and all(doubted.is_driver_limit for doubted in last)
        # A load that the driver offered before is not its limit, unless a limit is known.
        offered = max((counted.load for counted in self.counted), default=0.0)
        may_be_limit = trial.load > offered or (trial.load == offered and self.driver_limit is not None)
        if is_driver and may_be_limit:
            self._set_driver_limit(trial.load, last)
        elif len(in_a_row) >= MOST_REPEATED and not any(t.settled or len(t.doubts) > 1 for t in in_a_row):
            self.unsettled = True
            why = f"did not settle in {len(in_a_row)} trials"
            self._count(replace(trial, doubts=[], met=False, excess=None, against=[*trial.against, why]))
            self.doubted_in_a_row.pop(trial.load)

    def _set_driver_limit(self, load: float, shown_by: list[Trial]) -> None:
        """Set the driver's limit; trials at that load or above, in which it kept up by chance, no longer count."""
        self.driver_limit = min(load, self.driver_limit or load)
        self.counted = [trial for trial in self.counted if trial.load < load]
        self.confirmations = [confirmation for confirmation in self.confirmations if confirmation.load < load]
        self.doubted = [trial for trial in self.doubted if trial not in shown_by]
        self.doubted_in_a_row.pop(load)

    @property
    def stuck(self) -> Trial | None:
        """The last doubted trial, once the number of doubted trials, in all or at one load, reaches its limit."""
        if len(self.doubted) >= MOST_DOUBTED:
            return self.doubted[-1]
        return next((trials[-1] for trials in self.doubted_in_a_row.values() if len(trials) >= MOST_REPEATED), None)

    @property
    def loads_met(self) -> list[float]:
        return sorted(trial.load for trial in self.counted if trial.met)

    @property
    def loads_missed(self) -> list[float]:
        return sorted(trial.load for trial in self.counted if not trial.met)

    @property
    def certified(self) -> float | None:
        return max((each.load for each in self.confirmations if each.is_certified), default=None)

    def trials_at(self, load: float) -> list[Trial]:
        return [trial for trial in self.counted if trial.load == load]


def is_aftermath(trial: Trial, before: Trial | None) -> bool:
    """Whether nothing was answered, perhaps because the trial before failed outright at the same or a larger load."""
    return trial.answers == "none" and before is not None and before.failed_outright and before.load >= trial.load
