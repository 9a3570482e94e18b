"""Whether the host still does what it did: the first load that met is tried again after each failure above it.

A host that has aged, that stays broken, or that needs time to recover makes all that follows tell of another host. What
is tried until it is as before does not count; if it does not come back, the search ends with both levels.
"""

import math
from dataclasses import dataclass, field, replace

from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Change, Try
from cuesta.analysis.search.trial import Trial

RISE = 4.0
"""How much the excess at one load may rise by chance, in scales of the noise, of which"""

LEAST = 0.15
"""this is the least: the usual noise of a percentile of a few minutes."""

SURE = 2
"""Trials in a row that must be worse by so much."""

PATIENCE = 5
"""Trials for which a host that has changed is waited for."""


@dataclass(slots=True)
class Constancy:
    """The first load that met, and how it did since then."""

    method: Method
    first: Trial | None = None
    failed: Trial | None = None
    """The failure above it after which the host was not yet seen to be as before."""
    worse: list[Trial] = field(default_factory=list)
    """Trials since that failure that say that it is not."""
    change: Change | None = None
    """The last change of the host; None if there was none."""

    def count(self, trial: Trial) -> None:
        """Note a trial that counts."""
        if self.first is None:
            self.first = trial if trial.met else None
        elif not trial.met and trial.load > self.first.load:
            self.failed = self.failed or trial

    def take(self, trial: Trial, noise: float) -> bool:
        """Note a trial that was asked for to see whether the host is as before; whether it is.

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
                self.change = Change(self.first.load, self.failed.load, ratio(self.first), ratio(trial))
        else:
            if len(self.worse) >= SURE and self.change:
                self.change = replace(self.change, recovered_after=max(trial.ended - self.failed.ended, 0.0))
            self.failed, self.worse = None, []
        return self.failed is None

    def is_worse(self, trial: Trial, noise: float) -> bool:
        """Whether a trial at the first load misses, and is worse than the first one there by more than chance."""
        assert self.first
        if trial.met or trial.excess is None or trial.against or self.first.excess is None:
            return not trial.met
        return trial.excess - self.first.excess > RISE * max(noise, LEAST)

    @property
    def is_lost(self) -> bool:
        """Whether the host did not come back for as long as it was waited for."""
        return len(self.worse) >= SURE + PATIENCE

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be learnt of a host that did not come back."""
        is_known = self.change is not None and self.change.level is not None
        return self.is_lost and (is_known or self.worse[-1].load <= self.method.lowest)

    def ask(self) -> Try | None:
        """What to try to see whether the host is as before; None if that is known."""
        if self.first is None or self.failed is None or self.is_over or not self.method.tries_again:
            return None
        load, written = self.first.load, self.method.written
        if self.is_lost:
            last = self.worse[-1].load
            return Try(
                self.method.load(last / 2), "check", f"the host has changed: does it still do {written(last / 2)}?"
            )
        if not self.worse:
            return Try(load, "check", f"it met before {written(self.failed.load)} missed: does the host still do that?")
        known = (
            "the host has changed: until it is as before" if self.change else "it is worse than at first: by chance?"
        )
        return Try(load, "check", known)


def ratio(trial: Trial) -> float | None:
    """What was measured of the worst limit, as a multiple of it; None if it was not measured."""
    return None if trial.excess is None else math.exp(trial.excess)
