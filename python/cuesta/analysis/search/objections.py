"""Objections to a trial besides the user's limits: lost users, errors and other failures fail it too.

A limit on the same figure replaces the default threshold here.
"""

from collections.abc import Collection, Iterator, Sequence

from cuesta.analysis.doubts import Doubt
from cuesta.analysis.doubts.doubt import ForTrial
from cuesta.figures.step import StepFigures
from cuesta.units import count, share

MOST_ERRORS = 0.01
"""Largest share of transactions that may fail, whatever the percentiles are."""

LEAST_JAIN = 0.7
"""Least index of fairness. A host that serves 10 exponential responses to each user without preference has 0.91; at 0.7
three users of ten get next to nothing."""

ENOUGH_A_USER = 10
"""Least transactions per user for the index to say more about the host than about chance."""


def list_objections(step: StepFigures, doubts: Sequence[Doubt], limited: Collection[str]) -> list[str]:
    """List the objections to a trial. `limited` are the figures that the user's limits are on."""
    slow = (*select_texts(doubts, limited, "slow"), *select_texts(doubts, limited, "overloaded"))
    return [*list_failures(step, doubts, limited), *slow, *object_to_unfairness(step, limited)]


def list_failures(step: StepFigures, doubts: Sequence[Doubt], limited: Collection[str]) -> list[str]:
    """List hard failures of the host. It may be slow besides, or users too few for a rate."""
    stopped = select_texts(doubts, limited, "stopped", "empty")
    return [*stopped, *select_texts(doubts, limited, "failed"), *object_to_errors(step, limited)]


def select_texts(doubts: Sequence[Doubt], limited: Collection[str], *kinds: ForTrial) -> Iterator[str]:
    """The texts of doubts that mean one of these for a trial, and that no limit replaces."""
    for doubt in doubts:
        if doubt.trial in kinds and not set(doubt.replaced_by) & set(limited):
            yield doubt.text + doubt.in_search


def object_to_errors(step: StepFigures, limited: Collection[str]) -> Iterator[str]:
    rate = step.errors.rate or 0.0
    if rate > MOST_ERRORS and not {"errors.rate", "errors.count"} & set(limited):
        commonest = next(iter(step.errors.by_name), "")
        which = f", most of them {commonest}" if len(step.errors.by_name) > 1 else f": {commonest}" if commonest else ""
        yield f"{share(rate)} of the transactions failed (allowed {share(MOST_ERRORS)}){which}"


def object_to_unfairness(step: StepFigures, limited: Collection[str]) -> Iterator[str]:
    fair = step.fairness
    if fair is None or "fairness.jain" in limited or step.transactions.count < ENOUGH_A_USER * fair.users:
        return
    if fair.jain < LEAST_JAIN:
        served = f"Jain's index of {count(fair.users)} users is {fair.jain:.2f}"
        yield f"users were served unlike: {served} (at least {LEAST_JAIN})"
