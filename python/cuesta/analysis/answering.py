"""Doubts about a host that did not do what was asked of it: then what was measured is only what went well.

Their shape is that of all doubts (`cuesta.analysis.validity`). Where `nothing_to_keep` stands, no limit was kept.
"""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Self

from cuesta.figures.step import GroupCounts, StepFigures, is_stuck
from cuesta.plan.schema import Validity
from cuesta.units import count, many, named, seconds, share

AT_START = ("exited-at-start", "no-program")
"""Errors of programs that ended before they answered anything."""

MEND = "mend what the program complains of, or the command; try that by hand first"

MOST_SILENT = 0.1
"""Share of transactions that may end by silence of a host that had said nothing to them."""

LINE_IS_KEPT = {"unechoed", "wrong-echo", "expect", "timeout", "barrier", "flood", "dropped-sequence"}
"""Errors after which a user goes on. Of a line that could not be opened in time, `timeout` too, something is said."""


def after_errors(step: StepFigures, otherwise: str) -> str:
    """Advise by the error that cost most lines; where there is none, in general."""
    errors = Counter(step.errors.before) + Counter(step.errors.by_name)
    said = step.errors.said
    of_lines = {name: many for name, many in errors.most_common() if name in said or name not in LINE_IS_KEPT}
    if any(name in step.lost_for for name in AT_START):
        return MEND
    told = [f"{name}: {said[name]}" for name in of_lines if name in said]
    if told:
        return told[0]
    return f"see why lines were lost: {named(of_lines)}" if of_lines else otherwise


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing was measured."""

    advice: str
    nothing_to_keep: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        """Look for anything at all, of a host that was asked for nothing either."""
        silent = Unanswered.found(step, allowed) or Unechoed.found(step, allowed)
        if step.transactions.count or step.echo.count or silent:
            return None
        return cls(after_errors(step, "measure longer, or look at the errors: perhaps nobody could work"))

    def __str__(self) -> str:
        return "nothing was measured: no transaction and no echo"


@dataclass(frozen=True, slots=True)
class Died:
    """Programs on the users' lines ended before they answered anything."""

    times: int
    said: str
    advice: ClassVar[str] = MEND

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        """Look for users without a program, and for a run in which every user lost one and nothing was done."""
        times = sum(errors.get(name, 0) for errors in (step.errors.before, step.errors.by_name) for name in AT_START)
        lost = sum(step.lost_for.get(name, 0) for name in AT_START)
        in_vain = not step.transactions.count and times >= step.users
        if not times or not (in_vain or lost > allowed.lost_users * step.users):
            return None
        return cls(times, next((step.errors.said[name] for name in AT_START if name in step.errors.said), ""))

    def __str__(self) -> str:
        ended = f"the program on the line ended at its start, {many(self.times, 'time')}"
        return f"{ended}: {self.said}" if self.said else ended


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No input was answered, though some were made; or the host never showed what users waited for."""

    users: int
    oldest: float
    given_up: str
    advice: str
    nothing_to_keep: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Look at what ended, and at what was waited for."""
        waiting = step.waiting
        unseen = 0 if step.echo.count else waiting.prompts
        if step.transactions.count or not (waiting.answers + step.unanswered + unseen):
            return None
        slow = "see by hand whether it works; if it is only slow, measure for longer, with a longer `Set WaitTimeout`"
        users = waiting.answers + waiting.prompts
        return cls(users, waiting.oldest, given_up(step), after_errors(step, slow))

    def __str__(self) -> str:
        return f"the host answered nothing: {'; '.join(filter(None, (waited(self.users, self.oldest), self.given_up)))}"


@dataclass(frozen=True, slots=True)
class Silent:
    """Transactions ended, but the host sent nothing: waits for silence are met by that too."""

    silent: int
    ended: int
    advice: str
    nothing_to_keep: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Look for transactions of which the host said nothing since their last key."""
        ended = step.transactions.count
        if step.silent <= MOST_SILENT * ended:
            return None
        return cls(step.silent, ended, after_errors(step, "see by hand whether the host works"))

    def __str__(self) -> str:
        of = "" if self.silent == self.ended else f"{count(self.silent)} of "
        return f"the host sent nothing: {of}{many(self.ended, 'transaction')} ended by its silence"


@dataclass(frozen=True, slots=True)
class Unechoed:
    """Fewer keys were echoed than not, of those whose echo was awaited."""

    echoed: int
    unechoed: int
    users: int
    oldest: float
    nothing_to_keep: bool
    """Where the tape has transactions, those may."""
    advice: str

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Look at the echoes that came, that were given up and that are awaited."""
        echoed, waiting = step.echo.count, step.waiting
        unechoed = waiting.keys + step.errors.by_name.get("unechoed", 0)
        if echoed >= unechoed:
            return None
        advice = after_errors(step, "see by hand whether the host works, and whether it echoes what is typed at all")
        return cls(echoed, unechoed, waiting.echoes, waiting.oldest, not step.transactions.count, advice)

    def __str__(self) -> str:
        said = waited(self.users, self.oldest)
        since = f": {said}" if said else ""
        if not self.echoed:
            return f"the host echoed nothing of {many(self.unechoed, 'key')}{since}"
        return f"the host echoed only {many(self.echoed, 'key')}, and {count(self.unechoed)} not{since}"


@dataclass(frozen=True, slots=True)
class Few:
    """Fewer transactions ended than were under way at the end or given up: those that ended are the quick ones."""

    ended: int
    under_way: int
    given_up: str
    advice: str
    nothing_to_keep: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Look at what had no answer."""
        ended, under_way = step.transactions.count, step.waiting.answers
        if not 0 < ended < under_way + step.unanswered:
            return None
        slow = "measure longer than the slowest transaction takes, several times over"
        return cls(ended, under_way, given_up(step), after_errors(step, slow) if step.unanswered else slow)

    def __str__(self) -> str:
        under_way = f"{count(self.under_way)} more were under way" if self.under_way else ""
        return (
            f"only {many(self.ended, 'transaction')} ended while {'; '.join(filter(None, (under_way, self.given_up)))}"
        )


@dataclass(frozen=True, slots=True)
class FewOfGroup:
    """In one group of users fewer transactions ended than had no answer: figures of all are those of other groups."""

    group: GroupCounts
    advice: ClassVar[str] = "see by hand whether that group's host works; without the group, the others can be measured"
    nothing_to_keep: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        """Look for the group that lacks most, unless that is said of all users already."""
        if Unanswered.found(step, allowed) or Few.found(step, allowed):
            return None
        few = [group for group in step.groups if group.transactions < group.unanswered]
        return cls(max(few, key=lambda group: group.unanswered - group.transactions)) if few else None

    def __str__(self) -> str:
        group = self.group
        ended = (
            f"only {many(group.transactions, 'transaction')} ended" if group.transactions else "nothing was answered"
        )
        return f"of group {group.group}, {ended}, and {count(group.unanswered)} had no answer"


@dataclass(frozen=True, slots=True)
class Stuck:
    """Answers or echoes were outstanding for so long that the distributions, which lack them, are too good."""

    what: str
    oldest: float
    longest: float
    advice: ClassVar[str] = "see why the host does not answer; give waits a shorter @timeout so that it is counted"

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Look at what was under way at the end."""
        if step.waiting.answers and not step.response.count:
            return None  # that is said already: nothing was answered
        oldest, longest = step.unfinished.oldest, max(step.response.max or 0.0, step.echo.max or 0.0)
        stuck = longest and is_stuck(oldest, longest)
        answers = many(step.waiting.answers, "transaction") + " had no answer"
        echoes = many(step.waiting.echoes, "user") + " had no echo"
        return cls(answers if step.waiting.answers else echoes, oldest, longest) if stuck else None

    def __str__(self) -> str:
        waited = f"the oldest had waited {seconds(self.oldest)}, the longest response is {seconds(self.longest)}"
        return f"{self.what} at the end: {waited}"


@dataclass(frozen=True, slots=True)
class Unbegun:
    """Most of what was due in an open load was never begun: the figures are those of the few that found a free user."""

    never: int
    due: int
    waiting: int
    skipped: int
    advice: ClassVar[str] = (
        "more users for the same rate, or a lower rate: a user has one session at a time, and no other till it ends"
    )
    nothing_to_keep: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Look at what was due."""
        due = step.due
        if due is None or due.never_begun <= due.done + due.under_way:
            return None
        return cls(due.never_begun, due.count, due.waiting, due.skipped)

    def __str__(self) -> str:
        how = f"{count(self.waiting)} waited for a free user, {count(self.skipped)} were skipped"
        return f"{count(self.never)} of {count(self.due)} that were due were never begun: {how}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Actions that were due were not done: the load was lighter than planned."""

    skipped: int
    due: int
    most: float
    advice: ClassVar[str] = (
        "offer less (more users for the same rate, a longer cycle), or measure where the host keeps up"
    )

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        """Look at what was skipped: arrivals of an open load, cycles and keys of any."""
        arrivals = (step.due.skipped, step.due.count) if step.due else (0, 0)
        for skipped, due in (arrivals, (step.skipped, step.transactions.count + step.skipped)):
            if skipped > allowed.skipped * due:
                return cls(skipped, due, allowed.skipped)
        return None

    def __str__(self) -> str:
        due = many(self.due, "action")
        return f"{count(self.skipped)} of {due} that were due were skipped (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Unaccounted:
    """What was due in an open load and what became of it do not add up: then some of it is in no figure."""

    due: int
    found_again: int
    advice: ClassVar[str] = "this is the driver's own fault: please report it, with the run folder"

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        """Add up."""
        due = step.due
        return cls(due.count, due.accounted) if due and not due.adds_up else None

    def __str__(self) -> str:
        parts = "done, under way, waiting and skipped"
        return f"{count(self.due)} were due, but {parts} are {count(self.found_again)}"


def waited(users: int, oldest: float) -> str:
    """Say how many users wait, and for how long at most; nothing where none does."""
    return f"{many(users, 'user')} {has(users)} waited for up to {seconds(oldest)}" if users else ""


def given_up(step: StepFigures) -> str:
    """Say of what was not answered how that ended: the wait, or the line."""
    said = step.errors.said
    too_long = 0 if "timeout" in said else min(step.unanswered, step.errors.by_name.get("timeout", 0))
    lost = step.unanswered - too_long
    waits = f"{many(too_long, 'wait')} timed out" if too_long else ""
    lines = f"{many(lost, 'line')} {was(lost)} lost before the answer" if lost else ""
    return " and ".join(filter(None, (waits, lines)))


def has(number: int) -> str:
    """Give the verb that goes with a number."""
    return "has" if number == 1 else "have"


def was(number: int) -> str:
    """Give the verb that goes with a number."""
    return "was" if number == 1 else "were"
