"""Doubts about a host that did not do what it was asked: the figures then show only what went well.

All doubts have one shape (`cuesta.analysis.validity`). A doubt with `voids_limits` fails every limit of its step.
"""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Self

from cuesta.figures.counts import GroupCounts
from cuesta.figures.step import StepFigures
from cuesta.plan.schema import Validity
from cuesta.units import count, many, named, seconds, share

AT_START = ("exited-at-start", "no-program")
"""Errors of programs that ended before they answered anything."""

MEND = "mend what the program complains of, or the command; try that by hand first"

MOST_SILENT = 0.1
"""Share of transactions that may end by silence though the host sent nothing for them."""

NOT_TAKEN = {"keyboard-locked", "protected-field", "full-field", "unknown-key"}
"""Errors of keys that a 3270 did not take: what was to be typed was not."""
LINE_IS_KEPT = {"unechoed", "wrong-echo", "expect", "timeout", "barrier", "flood", "dropped-sequence"} | NOT_TAKEN
"""Errors after which a user keeps its line. (A line that is not open in time is a `timeout` too, but is described.)"""


def after_errors(step: StepFigures, otherwise: str) -> str:
    """The advice for the error that cost most lines, or `otherwise` without such an error."""
    errors = Counter(step.errors.before) + Counter(step.errors.by_name)
    said = step.errors.said
    of_lines = {name: many for name, many in errors.most_common() if name in said or name not in LINE_IS_KEPT}
    if any(name in step.lost_for for name in AT_START):
        return MEND
    details = [f"{name}: {said[name]}" for name in of_lines if name in said]
    if details:
        return details[0]
    return f"see why lines were lost: {named(of_lines)}" if of_lines else otherwise


FAR_OLDER = 3.0
"""A wait is stuck if it is more than this many times as long as the longest that ended, and over a second longer."""


def is_stuck(waited: float, longest: float) -> bool:
    """Whether the answer to a wait will not come, by the longest wait that ended; both in seconds."""
    return waited > FAR_OLDER * longest and waited > longest + 1.0


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing was measured."""

    advice: str
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
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
    """Transactions began but none ended, or the host never showed what users waited for."""

    begun: bool
    """Whether transactions began; else users waited before they typed."""
    users: int
    oldest: float
    given_up: str
    advice: str
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        waiting = step.waiting
        unseen = 0 if step.echo.count else waiting.prompts
        if step.transactions.count or not (waiting.answers + step.unanswered + unseen):
            return None
        slow = "see by hand whether it works; if it is only slow, measure for longer, with a longer `Set WaitTimeout`"
        users = waiting.answers + waiting.prompts
        begun = bool(waiting.answers + step.unanswered)
        return cls(begun, users, waiting.oldest, given_up(step), after_errors(step, slow))

    def __str__(self) -> str:
        # Not "the host answered nothing": it may have sent something else than what the tape waits for.
        what = "no transaction ended" if self.begun else "no wait was met"
        return f"{what}: {'; '.join(filter(None, (waited(self.users, self.oldest), self.given_up)))}"


@dataclass(frozen=True, slots=True)
class NeverAtWork:
    """Users never got to work: the host did not show them what they waited for, or took no line of theirs."""

    never: int
    users: int
    most: float
    advice: str

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        if step.never_at_work <= max(allowed.lost_users * step.users, step.lost_users):
            return None
        by_hand = "see by hand why the host shows no prompt, with as many users as here"
        return cls(step.never_at_work, step.users, allowed.lost_users, after_errors(step, by_hand))

    def __str__(self) -> str:
        of = many(self.users, "user")
        return f"{count(self.never)} of {of} never got to work: no prompt or no line (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class NoLogin:
    """Lines were given up: what the tape waits for before its first pass did not come. Users may work on others."""

    failed: int
    lines: int
    most: float
    advice: ClassVar[str] = "see by hand why the host shows no prompt, with as many users as here"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        failed = step.errors.by_name.get("no-login", 0)
        lines = max(step.login.count + failed, step.users)
        if failed <= allowed.lost_users * lines or NeverAtWork.found(step, allowed):
            return None
        return cls(failed, lines, allowed.lost_users)

    def __str__(self) -> str:
        return f"{count(self.failed)} of {many(self.lines, 'line')} showed no prompt (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Silent:
    """Transactions ended by silence of a host that sent nothing: a host that has stopped is silent too."""

    silent: int
    ended: int
    advice: str
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        ended = step.transactions.count
        if step.silent <= MOST_SILENT * ended:
            return None
        return cls(step.silent, ended, after_errors(step, "see by hand whether the host works"))

    def __str__(self) -> str:
        of = "" if self.silent == self.ended else f"{count(self.silent)} of "
        return f"the host sent nothing: {of}{many(self.ended, 'transaction')} ended by its silence"


@dataclass(frozen=True, slots=True)
class Unechoed:
    """Most of the keys whose echo was expected were not echoed."""

    echoed: int
    unechoed: int
    users: int
    oldest: float
    voids_limits: bool
    """False where the tape has transactions: limits on those can still be kept."""
    advice: str

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
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
class Untaken:
    """A 3270's keyboard did not take keys: the host was not asked what the tape says."""

    keys: int
    untaken: dict[str, int]
    most: float
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        keys = step.keystrokes.count
        untaken = {name: number for name, number in step.errors.by_name.items() if name in NOT_TAKEN}
        return cls(keys, untaken, allowed.untaken_keys) if sum(untaken.values()) > allowed.untaken_keys * keys else None

    @property
    def advice(self) -> str:
        if "keyboard-locked" in self.untaken:
            return "let the tape wait until the keyboard is unlocked, before it types: Wait+Unlock"
        return "let the tape move to a field first (Tab), and type no more than fits into it"

    def __str__(self) -> str:
        untaken = sum(self.untaken.values())
        of = many(self.keys + untaken, "key")
        return f"the keyboard did not take {count(untaken)} of {of} ({named(self.untaken)}; allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Few:
    """Fewer transactions ended than were under way at the end or given up: the figures are those of the quick ones."""

    ended: int
    under_way: int
    given_up: str
    advice: str
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
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
    """One group has more transactions without an answer than with one; the figures of all users hide that group."""

    group: GroupCounts
    advice: ClassVar[str] = "see by hand whether that group's host works; without the group, the others can be measured"
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
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
    """Answers or echoes were missing for far longer than any wait that ended: they may never come."""

    what: str
    oldest: float
    longest: float
    advice: ClassVar[str] = "see why the host does not answer; give waits a shorter @timeout so that it is counted"

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        if step.waiting.answers and not step.response.count:
            return None  # the doubt `Unanswered` covers it
        oldest, longest = step.unfinished.oldest, max(step.response.longest or 0.0, step.echo.longest or 0.0)
        stuck = longest and is_stuck(oldest, longest)
        answers = many(step.waiting.answers, "transaction") + " had no answer"
        echoes = many(step.waiting.echoes, "user") + " had no echo"
        return cls(answers if step.waiting.answers else echoes, oldest, longest) if stuck else None

    def __str__(self) -> str:
        waited = (
            f"the oldest had waited {seconds(self.oldest)}, the longest wait that ended took {seconds(self.longest)}"
        )
        return f"{self.what} at the end: {waited}"


@dataclass(frozen=True, slots=True)
class Unbegun:
    """Most arrivals of an open load were never begun: the figures are those of the few that found a free user."""

    never: int
    due: int
    waiting: int
    skipped: int
    advice: ClassVar[str] = (
        "more users for the same rate, or a lower rate: a user has one session at a time, and no other till it ends"
    )
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
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
    """Arrivals of an open load and what became of them do not add up: some are in no figure."""

    due: int
    found_again: int
    advice: ClassVar[str] = "this is the driver's own fault: please report it, with the run folder"

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        due = step.due
        return cls(due.count, due.accounted) if due and not due.adds_up else None

    def __str__(self) -> str:
        parts = "done, under way, waiting and skipped"
        return f"{count(self.due)} were due, but {parts} are {count(self.found_again)}"


def waited(users: int, oldest: float) -> str:
    """A phrase on users that wait, and for how long at most; empty where none does."""
    return f"{many(users, 'user')} {has(users)} waited for up to {seconds(oldest)}" if users else ""


def given_up(step: StepFigures) -> str:
    """A phrase on how unanswered transactions ended: by a timeout, or with the line."""
    said = step.errors.said
    too_long = 0 if "timeout" in said else min(step.unanswered, step.errors.by_name.get("timeout", 0))
    lost = step.unanswered - too_long
    waits = f"{many(too_long, 'wait')} timed out" if too_long else ""
    lines = f"{many(lost, 'line')} {was(lost)} lost before the answer" if lost else ""
    return " and ".join(filter(None, (waits, lines)))


def has(number: int) -> str:
    return "has" if number == 1 else "have"


def was(number: int) -> str:
    return "was" if number == 1 else "were"
