"""All trials so far, told again from the first: which of them count, confirm a load, or show the driver's limit."""

from dataclasses import dataclass, field, replace

from cuesta.analysis.search.confirmation import Round
from cuesta.analysis.search.constancy import Constancy
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome, Try
from cuesta.analysis.search.regression import noise_of, observations
from cuesta.analysis.search.trial import Trial

DRIVER_LIMIT = 3
"""The number of trials in a row at one load, each spoiled by the driver, after which it counts as unable to offer that
load. Fewer may be other work on its machine."""

MOST_REPEATED = 3
"""The number of trials in a row at one load, none of which counted, that are enough: if none of them settled, the load
counts as missed; else the search ends. Trials from which the hypervisor took CPU time are not among them."""

MOST_DOUBTED = 18
"""The number of trials in all that did not count, at which a search ends."""


@dataclass(slots=True)
class History:
    """What the trials so far amount to."""

    method: Method
    counted: list[Trial] = field(default_factory=list)
    """Trials that count, in order of time."""
    rounds: list[Round] = field(default_factory=list)
    """Confirmations, finished ones and the one that goes on."""
    driver_limit: float | None = None
    """The smallest load that the driver could not offer, at least not every time."""
    spoiled: dict[float, list[Trial]] = field(default_factory=dict)
    """By load: the last trials there that did not count, since one that did; without those that say nothing because the
    hypervisor took CPU time."""
    doubted: list[Trial] = field(default_factory=list)
    """All trials that did not count, without those that showed the driver's limit."""
    constancy: Constancy = field(init=False)
    """Whether the host still does what it did at first."""
    checks: list[Trial] = field(default_factory=list)
    """The trials that were to show that."""
    trials: int = 0
    last: Trial | None = None
    unrecovered: Trial | None = None
    """The trial that was to show whether the host has recovered, and in which it answered nothing."""
    unsettled: bool = False
    """Whether a load counts as missed because it never settled."""

    def __post_init__(self) -> None:
        self.constancy = Constancy(self.method)

    def take(self, trial: Trial, ask: Try | Outcome) -> None:
        """Add the next trial. `ask` is what the trials before it led to."""
        self.trials += 1
        before, self.last = self.last, trial
        if isinstance(ask, Try) and ask.purpose == "check" and trial.load == ask.load:
            self._check(trial)
            return
        if self._is_recovery(trial, ask) or is_aftermath(trial, before):
            return
        if isinstance(ask, Try) and ask.purpose == "confirm" and not self.confirming:
            self.rounds.append(Round(ask.load, self.method.confirmations))
        if not trial.counts:
            self._set_aside(trial)
            return
        self.spoiled.pop(trial.load, None)
        self._count(trial)

    def _check(self, trial: Trial) -> None:
        """A trial of whether the host is as before: if it is, it counts as any other."""
        self.checks.append(trial)
        if not trial.counts:
            self.doubted.append(trial)
        elif self.constancy.take(trial, noise_of(observations(self.counted), trial.load)):
            self._count(trial)

    def _is_recovery(self, trial: Trial, ask: Try | Outcome) -> bool:
        """Whether a trial only tells whether the host has recovered; notes what it tells."""
        if trial.answers == "some":
            self.unrecovered = None
        if not isinstance(ask, Try) or ask.purpose != "recover" or trial.load != ask.load:
            return False
        if trial.answers == "none":
            self.unrecovered = trial
        return trial.answers != "some" or not trial.counts

    def _count(self, trial: Trial) -> None:
        self.counted.append(trial)
        self.constancy.count(trial)
        if self.confirming and self.rounds[-1].load == trial.load:
            self.rounds[-1].trials.append(trial)

    @property
    def confirming(self) -> bool:
        """Whether a confirmation goes on."""
        return bool(self.rounds) and not self.rounds[-1].over

    def _set_aside(self, trial: Trial) -> None:
        """A trial that does not count: after the third in a row at its load that says something itself."""
        self.doubted.append(trial)
        row = self.spoiled.setdefault(trial.load, [])
        if trial.stolen:
            return
        row.append(trial)
        last = row[-DRIVER_LIMIT:]
        if len(last) == DRIVER_LIMIT and all(each.is_driver_limit for each in last) and self._may_end_at(trial.load):
            self._end_at(trial.load, last)
        elif len(row) >= MOST_REPEATED and not any(map(of_other_causes, row)):
            self.unsettled = True
            why = f"did not settle in {len(row)} trials"
            self._count(replace(trial, doubts=[], met=False, excess=None, against=[*trial.against, why]))
            self.spoiled.pop(trial.load)

    def _may_end_at(self, load: float) -> bool:
        """Whether a load may be the driver's limit: it offers what it offered before, unless that is just below one."""
        offered = max((each.load for each in self.counted), default=0.0)
        return load > offered or (load == offered and self.driver_limit is not None)

    def _end_at(self, load: float, shown_by: list[Trial]) -> None:
        """Take a load as the driver's limit. What was measured when it could offer that load no longer counts."""
        self.driver_limit = min(load, self.driver_limit or load)
        self.counted = [each for each in self.counted if each.load < load]
        self.rounds = [each for each in self.rounds if each.load < load]
        self.doubted = [each for each in self.doubted if each not in shown_by]
        self.spoiled.pop(load)

    @property
    def stuck(self) -> Trial | None:
        """The last trial in doubt, if there were enough of them that another makes no sense."""
        if len(self.doubted) >= MOST_DOUBTED:
            return self.doubted[-1]
        return next((row[-1] for row in self.spoiled.values() if len(row) >= MOST_REPEATED), None)

    @property
    def met(self) -> list[float]:
        return sorted(trial.load for trial in self.counted if trial.met)

    @property
    def missed(self) -> list[float]:
        return sorted(trial.load for trial in self.counted if not trial.met)

    @property
    def certified(self) -> float | None:
        return max((each.load for each in self.rounds if each.certified), default=None)

    def at(self, load: float) -> list[Trial]:
        return [trial for trial in self.counted if trial.load == load]


def is_aftermath(trial: Trial, before: Trial | None) -> bool:
    """Whether nothing was answered, perhaps only because the host gave out at a larger load just before."""
    return trial.answers == "none" and before is not None and before.gave_out and before.load >= trial.load


def of_other_causes(trial: Trial) -> bool:
    """Whether a trial is in doubt for another reason than that it did not settle."""
    return trial.settled or len(trial.doubts) > 1
