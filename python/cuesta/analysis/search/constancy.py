"""Checks that the host has not changed: the first load that passed is tried again after each miss above it.

A host that has degraded, stays broken or needs time to recover is another host than the one that was searched. Trials
do not count until it is as before; if it does not recover, the search ends with both levels.
"""

import math
from dataclasses import dataclass, field, replace

from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import HostChange, Try
from cuesta.analysis.search.trial import Trial

RISE = 4.0
"""Rise of the excess at one load, in scales of the noise, from which on the host is worse."""

LEAST_NOISE = 0.15
"""Least scale of the noise there: that of a percentile of a few minutes."""

SURE = 2
"""Consecutive worse trials after which the host has changed."""

PATIENCE = 5
"""Further trials that a changed host is given to recover."""


@dataclass(slots=True)
class Constancy:
    """The first load that passed, and the trials that check it."""

    method: Method
    first: Trial | None = None
    failed: Trial | None = None
    """The miss above it since which no check has passed."""
    worse: list[Trial] = field(default_factory=list)
    """The checks since that miss that were worse."""
    change: HostChange | None = None
    """The last change of the host; None if there was none."""

    def add(self, trial: Trial) -> None:
        """Add a trial that counts."""
        if self.first is None:
            self.first = trial if trial.met else None
        elif not trial.met and trial.load > self.first.load:
            self.failed = self.failed or trial

    def add_check(self, trial: Trial, noise: float) -> bool:
        """Add a check; returns whether the host is as before.

        `noise`: the scale of the differences between trials at one load, in natural logarithms.
        """
        assert self.first
        assert self.failed
        if self.is_lost:
            if trial.met and self.change:
                self.change = replace(self.change, level=trial.load)
            self.worse.append(trial)
        elif self.is_worse(trial, noise):
            self.worse.append(trial)
            if len(self.worse) >= SURE:
                self.change = HostChange(self.first.load, self.failed.load, ratio(self.first), ratio(trial))
        else:
            if len(self.worse) >= SURE and self.change:
                self.change = replace(self.change, recovered_after=max(trial.ended - self.failed.ended, 0.0))
            self.failed, self.worse = None, []
        return self.failed is None

    def is_worse(self, trial: Trial, noise: float) -> bool:
        """Whether a check misses, and its excess has risen beyond chance since the first trial at that load."""
        assert self.first
        if trial.met or trial.excess is None or trial.against or self.first.excess is None:
            return not trial.met
        return trial.excess - self.first.excess > RISE * max(noise, LEAST_NOISE)

    @property
    def is_lost(self) -> bool:
        """Whether the host did not recover in the trials that it was given."""
        return len(self.worse) >= SURE + PATIENCE

    @property
    def is_over(self) -> bool:
        """Whether the search ends: the host did not recover, and a lower load that it still meets is known, or none."""
        is_known = self.change is not None and self.change.level is not None
        return self.is_lost and (is_known or self.worse[-1].load <= self.method.lowest)

    def next_check(self) -> Try | None:
        """Choose a check; None if the host is known to be as before, or the search is over."""
        if self.first is None or self.failed is None or self.is_over or not self.method.tries_again:
            return None
        load, written = self.first.load, self.method.with_unit
        if self.is_lost:
            half = self.worse[-1].load / 2
            return Try(self.method.load(half), "check", f"the host has changed: does it still do {written(half)}?")
        if not self.worse:
            return Try(load, "check", f"it met before {written(self.failed.load)} missed: does the host still do that?")
        changed, worse = "the host has changed: until it is as before", "it is worse than at first: by chance?"
        return Try(load, "check", changed if self.change else worse)


def ratio(trial: Trial) -> float | None:
    """The figure of the worst limit as a multiple of its bound; None if it was not measured."""
    return None if trial.excess is None else math.exp(trial.excess)
