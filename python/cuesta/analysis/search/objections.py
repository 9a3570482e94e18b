"""What counts against a trial although the user set no limit on it: a load that people cannot work under is not met.

A limit on the same figure replaces the default here.
"""

from collections.abc import Collection, Iterator, Sequence

from cuesta.analysis.answer_sizes import Shrunk
from cuesta.analysis.answering import (
    Died,
    Empty,
    Few,
    FewOfGroup,
    NeverAtWork,
    NoLogin,
    Silent,
    Skipped,
    Stuck,
    Unanswered,
    Unbegun,
    Unechoed,
)
from cuesta.analysis.unsteady import Overloaded
from cuesta.analysis.validity import Doubt, Incomplete, Lost, Mismatched
from cuesta.figures.step import StepFigures
from cuesta.units import count, share

MOST_ERRORS = 0.01
"""Share of transactions that may fail, whatever the percentiles of all of them are."""

LEAST_JAIN = 0.7
"""Least index of fairness. A host that serves 10 exponential responses to each user without preference has 0.91; at 0.7
three users of ten get next to nothing."""

ENOUGH_A_USER = 10
"""Transactions per user, from which on the index says more about the host than about chance."""

STOPPED = (Died, Unanswered, Silent, Unechoed, Empty, Stuck, FewOfGroup, Shrunk)
"""Doubts that say that the host answered too little or not at all."""

FAILED = {
    Lost: "lost_users",
    NeverAtWork: "never_at_work",
    NoLogin: "errors.rate",
    Incomplete: "lost_users",
    Mismatched: "errors.rate",
}
"""Doubts about the host's failures, each with the figure that a limit can be set on."""

OVERLOAD = (Unbegun, Skipped, Overloaded)
"""Doubts that say: less was done than was due."""

METRICS = {"errors.rate": ("errors.rate", "errors.count"), "skipped": ("skipped",)}
METRICS |= {name: (name,) for name in ("lost_users", "never_at_work")}
"""The figures whose limits replace a default."""


def of_the_host(doubt: Doubt) -> bool:
    """Whether a doubt says what the host did: then the trial counts, and the load is not met."""
    return isinstance(doubt, (*STOPPED, Few, *FAILED, *OVERLOAD))


def objections(step: StepFigures, doubts: Sequence[Doubt], limited: Collection[str]) -> list[str]:
    """List what counts against a trial. `limited` are the figures that the user's limits are on."""
    undone = [f"{doubt} (more --users may begin them)" for doubt in doubts if isinstance(doubt, Unbegun)]
    skipped = [str(doubt) for doubt in doubts if isinstance(doubt, Skipped) and not is_limited("skipped", limited)]
    slow = [str(doubt) for doubt in doubts if isinstance(doubt, Few) and not stopped(doubt)]
    slow += [str(doubt) for doubt in doubts if isinstance(doubt, Overloaded)]
    return [*failures(step, doubts, limited), *slow, *undone, *skipped, *unfair(step, limited)]


def failures(step: StepFigures, doubts: Sequence[Doubt], limited: Collection[str]) -> list[str]:
    """List what says that the host stopped working. It may be slow besides, or users too few for a rate."""
    unanswered = [str(doubt) for doubt in doubts if stopped(doubt)]
    failed = [
        str(doubt)
        for kind, figure in FAILED.items()
        for doubt in doubts
        if isinstance(doubt, kind) and not is_limited(figure, limited)
    ]
    return [*unanswered, *failed, *errors(step, limited)]


def stopped(doubt: Doubt) -> bool:
    """Whether a doubt says that the host did not answer; one under which few answers came in time may only be slow."""
    return isinstance(doubt, STOPPED) or (isinstance(doubt, Few) and bool(doubt.given_up))


def is_limited(figure: str, limited: Collection[str]) -> bool:
    return any(name in limited for name in METRICS[figure])


def errors(step: StepFigures, limited: Collection[str]) -> Iterator[str]:
    rate = step.errors.rate or 0.0
    if rate > MOST_ERRORS and not is_limited("errors.rate", limited):
        worst = next(iter(step.errors.by_name), "")
        which = f", most of them {worst}" if len(step.errors.by_name) > 1 else f": {worst}" if worst else ""
        yield f"{share(rate)} of the transactions failed (allowed {share(MOST_ERRORS)}){which}"


def unfair(step: StepFigures, limited: Collection[str]) -> Iterator[str]:
    fair = step.fairness
    if fair is None or "fairness.jain" in limited or step.transactions.count < ENOUGH_A_USER * fair.users:
        return
    if fair.jain < LEAST_JAIN:
        served = f"Jain's index of {count(fair.users)} users is {fair.jain:.2f}"
        yield f"users were served unlike: {served} (at least {LEAST_JAIN})"
