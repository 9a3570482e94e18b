"""Readings that make failing identities agree: found by trying, kept where the evidence is more than chance.

A reading counts for each failing identity that agrees with it, and is out if it breaks one that held. One that mends
two or more is kept, the cheapest slip first. One that mends a single identity is kept only if chance and a slip in
reckoning would hardly do the same: it changes more than the last digit, and no other value has such a reading.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuesta.analysis.history.formula import Formula
from cuesta.analysis.history.quantity import Quantity, understood
from cuesta.analysis.history.readings import distance, is_last_digit, nearest, readings
from cuesta.analysis.history.transcript import Agreement, Outcome, Transcript

VAGUE = {"<=", ">=", "in"}
"""Relations that many values satisfy."""


@dataclass(frozen=True, slots=True)
class Mending:
    """A reading, and what speaks for it."""

    name: str
    reading: str
    cost: float
    repaired: tuple[Formula, ...]
    """Identities that fail as printed and agree with it."""
    exact: int
    """How many identities then hold, and not only within rounding."""
    gap: float
    """How far the repaired ones are still off, in all."""
    doubtful: bool
    """The print itself is in doubt: poor or no number."""
    small: bool
    """It changes no more than the last digit."""
    is_of_two: bool
    """What it mends says only that two prints go together: which of them is wrong, it cannot say."""

    @property
    def weight(self) -> int:
        """How many identities speak for it; a bound says little of a print that is in no doubt."""
        return sum(self.doubtful or formula.relation not in {"<=", ">="} for formula in self.repaired)

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort readings by it, the best last."""
        return self.weight, self.doubtful, -self.cost, self.is_subject, self.exact, -self.gap

    @property
    def is_subject(self) -> bool:
        """Say whether the value is what a repaired identity is about: it stands on the left."""
        return any(formula.left.names[:1] == (self.name,) for formula in self.repaired)


def mended(transcript: Transcript) -> tuple[Transcript, list[Mending]]:
    """Read again what must be read again: the transcript with its readings, and what speaks for each."""
    kept, found = list[Mending](), dict[str, list[Mending]]()
    while True:
        failing = [formula for formula in transcript.formulas if not transcript.outcome(formula).agrees]
        for name in suspects(transcript, failing):
            if name not in found:
                found[name] = list(mendings(transcript, name))
        best = choice([each for group in found.values() for each in group])
        if best is None:
            return transcript, kept
        transcript = transcript.read_as(best.name, best.reading)
        kept.append(best)
        for formula in transcript.formulas_with[best.name]:  # what shares a formula with it is seen in another light
            for name in transcript.prints_of(formula.names):
                found.pop(name, None)
        found[best.name] = []


def suspects(transcript: Transcript, failing: Sequence[Formula]) -> Iterable[str]:
    """Give the prints in failing formulas, but what was counted by whoever typed them."""
    names = dict.fromkeys(name for formula in failing for name in transcript.prints_of(formula.names))
    return (name for name in names if not transcript.print_of(name).counted)


def mendings(transcript: Transcript, name: str) -> Iterator[Mending]:
    """Give the readings of a print that mend something and break nothing."""
    printed = transcript.print_of(name)
    outcomes = {formula: transcript.outcome(formula) for formula in transcript.formulas_with[name]}
    failing = [formula for formula, outcome in outcomes.items() if not outcome.agrees]
    doubtful = printed.legibility == "poor" or (bool(failing) and no_number(transcript, name, outcomes))
    if not doubtful and is_hopeless(name, failing):
        return
    found = list(
        of(transcript, name, readings(printed.text, printed.loose) | words(name, outcomes), outcomes, doubtful)
    )
    if not found and doubtful:
        found = list(of(transcript, name, readings(printed.text, printed.loose, twice=True), outcomes, doubtful))
    yield from found


def is_hopeless(name: str, failing: Sequence[Formula]) -> bool:
    """Say whether too little fails for a print in no doubt to be thought misread: bounds, or what is about another."""
    telling = [formula for formula in failing if formula.relation not in {"<=", ">="}]
    return not telling or (len(telling) == 1 and telling[0].left.names[:1] != (name,))


def no_number(transcript: Transcript, name: str, outcomes: dict[Formula, Outcome]) -> bool:
    """Say whether a print should be a number and is none."""
    unreadable = any(outcome.agreement is Agreement.UNREADABLE for outcome in outcomes.values())
    return unreadable and understood(transcript.text(name)) is None


def of(
    transcript: Transcript, name: str, tried: dict[str, float], before: dict[Formula, Outcome], doubtful: bool
) -> Iterator[Mending]:
    """Try readings."""
    was = understood(transcript.text(name))
    for text, cost in tried.items():
        now = understood(text)
        if was and now and was == now:
            continue
        repaired = try_out(transcript.read_as(name, text), before)
        if repaired:
            after = {formula: transcript.read_as(name, text).outcome(formula) for formula in before}
            yield Mending(
                name,
                text,
                cost,
                tuple(repaired),
                exact=sum(outcome.agreement is Agreement.HOLDS for outcome in after.values()),
                gap=sum(after[formula].gap for formula in repaired if formula.relation == "="),
                doubtful=doubtful,
                small=bool(was and now and is_last_digit(text, was.value, now.value)),
                is_of_two=all(is_of_two(transcript, formula, after[formula]) for formula in repaired),
            )


def is_of_two(transcript: Transcript, formula: Formula, outcome: Outcome) -> bool:
    """Say whether a formula equates two prints, but for what was counted; words tell more than numbers."""
    prints = [name for name in transcript.prints_of(formula.names) if not transcript.print_of(name).counted]
    return formula.relation == "=" and not isinstance(outcome.left, str) and len(prints) <= 2


def try_out(transcript: Transcript, before: dict[Formula, Outcome]) -> list[Formula]:
    """Give the failing formulas that agree now; none if one that agreed, or could not be computed, now fails."""
    repaired = [
        formula for formula, outcome in before.items() if not outcome.agrees and transcript.outcome(formula).agrees
    ]
    if not repaired:
        return []
    whole = (formula for formula, outcome in before.items() if outcome.agreement is not Agreement.FAILS)
    return [] if any(transcript.outcome(formula).agreement is Agreement.FAILS for formula in whole) else repaired


def words(name: str, outcomes: dict[Formula, Outcome]) -> dict[str, float]:
    """Give the words that others have in its place, if they are not far."""
    found = dict[str, float]()
    for formula, outcome in outcomes.items():
        if outcome.agrees or formula.left.names != (name,) or not isinstance(outcome.left, str):
            continue
        right = nearest(outcome.left, outcome.right) if isinstance(outcome.right, frozenset) else outcome.right
        if isinstance(right, str) and (far := distance(outcome.left, right)) <= max(1, len(right) // 2):
            found[right] = float(far)
    return found


def choice(found: Sequence[Mending]) -> Mending | None:
    """Choose the reading for which most speaks; none if it may be chance."""
    for best in sorted(found, key=lambda each: each.rank, reverse=True):
        if best.weight == 0 or is_one_of_many(best, found):
            continue
        if best.weight >= 2 or is_more_than_chance(best, found):
            return best
    return None


def is_one_of_many(one: Mending, found: Sequence[Mending]) -> bool:
    """Say whether as much speaks for another reading of the value: bounds and lists tell no two apart."""
    vague = all(formula.relation in VAGUE for formula in one.repaired)
    return any(
        other.name == one.name
        and meant(other.reading) != meant(one.reading)
        and (other.cost <= one.cost if vague else other.rank >= one.rank)
        for other in found
    )


def meant(text: str) -> Quantity | str:
    """Give what a print stands for: two prints of one number are no rivals."""
    return understood(text) or text


def is_more_than_chance(one: Mending, found: Sequence[Mending]) -> bool:
    """Say whether a reading that mends a single identity is the only one, and more than a slip in reckoning."""
    if one.is_of_two or not (one.doubtful or (one.is_subject and not one.small)):
        return False
    return not any(
        other.name != one.name
        and not other.small
        and other.doubtful >= one.doubtful
        and other.cost <= one.cost
        and other.is_subject >= one.is_subject
        and set(other.repaired) & set(one.repaired)
        for other in found
    )
