"""Proposes what misprinted or misread values of a typed table may say: `python studies/history/misread.py TABLE.toml`.

A document's scan has values that no identity agrees with. This tool tries the readings that one slip of the copyist,
the scanner or the eye would turn into the print, and proposes those for which the evidence is more than chance. Who
agrees types `reading = "…"` beside the print; `cuesta ledger --check` then accepts it if the identities agree.

A slip: a digit for another, two digits swapped, one lost or added, a point lost, added or moved, a comma for a point, a
letter for the digit that it looks like. The number of digits after the point stays, unless the point itself moved.

A reading may not break an identity that holds. One that repairs two or more is proposed, the likeliest slip first. One
that repairs a single identity is proposed only if it changes more than the last digit (an error of arithmetic would do
that too) and no other value has such a reading.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from cuesta.analysis.history.formula import Formula
from cuesta.analysis.history.transcript import Agreement, Evaluation, Transcript
from cuesta.analysis.quantity import Quantity, count_decimals, parse_print
from cuesta.ledger.historical import PrintedValue, read_historical

BOUNDS = {"<=", ">="}
VAGUE = {*BOUNDS, "in"}
"""Relations that many values satisfy."""
LOOKS_LIKE = {
    "B": "8", "S": "5", "T": "7", "u": "4", "U": "4", "g": "9", "q": "9", "I": "1", "l": "1", "i": "1", "|": "1",
    "O": "0", "o": "0", "D": "0", "Z": "2", "z": "2", "b": "6", "G": "6", "A": "4",
}  # fmt: skip
"""Characters that scanners confuse."""
LEADING_ZERO = re.compile(r"0\d")
DIGITS, SEPARATORS = "0123456789", ".,"
LOOK_ALIKE, SLIP = 1.0, 1.5
"""Costs: of a character that looks like another, and of any other slip."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A reading, and what speaks for it."""

    name: str
    reading: str
    cost: float
    repaired: tuple[Formula, ...]
    """Identities that fail as printed and agree with it."""
    exact: int
    """How many identities then hold exactly, not only within rounding."""
    gap: float
    """Sum of the differences that the repaired identities still have."""
    doubtful: bool
    """The print is hard to read, or no number."""
    small: bool
    """It changes no more than the last digit."""
    of_two: bool
    """What it repairs only equates two prints, so it cannot say which of them is wrong."""

    @property
    def weight(self) -> int:
        """Identities that speak for it; a bound says little of a print that is easy to read."""
        return sum(self.doubtful or formula.relation not in BOUNDS for formula in self.repaired)

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: the best proposal has the largest."""
        return self.weight, self.doubtful, -self.cost, self.is_subject, self.exact, -self.gap

    @property
    def is_subject(self) -> bool:
        """Whether the value stands on the left of a repaired identity."""
        return any(formula.left.names[:1] == (self.name,) for formula in self.repaired)


def main(files: Sequence[str]) -> None:
    for file in files:
        document = read_historical(file)
        for each in search(Transcript.parse(document)):
            printed = document.prints[each.name]
            typed = "" if printed.reading is None else f" (typed: {printed.reading})"
            print(f"{Path(file).stem}: {each.name}: printed {printed.text}, may read {each.reading}{typed}; repairs:")
            print(*(f"    {formula.text}" for formula in each.repaired), sep="\n")


def search(transcript: Transcript) -> list[Proposal]:
    """Propose readings, best first, until no more can be told; typed readings are not looked at."""
    accepted, found = list[Proposal](), dict[str, list[Proposal]]()
    while True:
        failing = [formula for formula in transcript.formulas if not transcript.evaluate(formula).agrees]
        for name in suspects(transcript, failing):
            if name not in found:
                found[name] = list(proposals(transcript, name))
        best = choose([each for group in found.values() for each in group])
        if best is None:
            return accepted
        transcript = transcript.read_as(best.name, best.reading)
        accepted.append(best)
        for formula in transcript.formulas_with[best.name]:  # values that share a formula with it are tried again
            for name in transcript.prints_of(formula.names):
                found.pop(name, None)
        found[best.name] = []


def suspects(transcript: Transcript, failing: Sequence[Formula]) -> Iterable[str]:
    """Name the prints in failing formulas, except those that the typist counted."""
    names = dict.fromkeys(name for formula in failing for name in transcript.prints_of(formula.names))
    return (name for name in names if not transcript.print_of(name).counted)


def proposals(transcript: Transcript, name: str) -> Iterator[Proposal]:
    """Try the readings of a print; two slips only where it is doubtful and one slip repairs nothing."""
    printed = transcript.print_of(name)
    evaluations = {formula: transcript.evaluate(formula) for formula in transcript.formulas_with[name]}
    failing = [formula for formula, evaluation in evaluations.items() if not evaluation.agrees]
    doubtful = printed.legibility == "poor" or (bool(failing) and no_number(transcript, name, evaluations))
    if not doubtful and tells_too_little(name, failing):
        return
    tried = readings(printed) | words(name, evaluations)
    found = list(repairing(transcript, name, tried, evaluations, doubtful))
    if not found and doubtful:
        found = list(repairing(transcript, name, readings(printed, twice=True), evaluations, doubtful))
    yield from found


def tells_too_little(name: str, failing: Sequence[Formula]) -> bool:
    """Whether only bounds fail, or one identity that is about another value."""
    telling = [formula for formula in failing if formula.relation not in BOUNDS]
    return not telling or (len(telling) == 1 and telling[0].left.names[:1] != (name,))


def no_number(transcript: Transcript, name: str, evaluations: dict[Formula, Evaluation]) -> bool:
    """Whether a print should be a number and is none."""
    unreadable = any(evaluation.agreement is Agreement.UNREADABLE for evaluation in evaluations.values())
    return unreadable and parse_print(transcript.text(name)) is None


def repairing(
    transcript: Transcript, name: str, tried: dict[str, float], before: dict[Formula, Evaluation], doubtful: bool
) -> Iterator[Proposal]:
    """Keep the readings that repair an identity and break none."""
    was = parse_print(transcript.text(name))
    for text, cost in tried.items():
        now = parse_print(text)
        if was and now and was == now:
            continue
        after = transcript.read_as(name, text)
        if repaired := transcript.list_repaired(after, before):
            evaluations = {formula: after.evaluate(formula) for formula in before}
            yield Proposal(
                name,
                text,
                cost,
                tuple(repaired),
                exact=sum(evaluation.agreement is Agreement.HOLDS for evaluation in evaluations.values()),
                gap=sum(evaluations[formula].gap for formula in repaired if formula.relation == "="),
                doubtful=doubtful,
                small=bool(was and now and is_last_digit(text, was.value, now.value)),
                of_two=all(equates_two(transcript, formula, evaluations[formula]) for formula in repaired),
            )


def equates_two(transcript: Transcript, formula: Formula, evaluation: Evaluation) -> bool:
    """Whether a formula equates two numbers; words are stronger evidence than numbers."""
    prints = [name for name in transcript.prints_of(formula.names) if not transcript.print_of(name).counted]
    return formula.relation == "=" and not isinstance(evaluation.left, str) and len(prints) <= 2


def words(name: str, evaluations: dict[Formula, Evaluation]) -> dict[str, float]:
    """Similar words that other prints or lists have in the same place."""
    found = dict[str, float]()
    for formula, evaluation in evaluations.items():
        if evaluation.agrees or formula.left.names != (name,) or not isinstance(evaluation.left, str):
            continue
        right = (
            nearest(evaluation.left, evaluation.right) if isinstance(evaluation.right, frozenset) else evaluation.right
        )
        if isinstance(right, str) and (far := distance(evaluation.left, right)) <= max(1, len(right) // 2):
            found[right] = float(far)
    return found


def choose(candidates: Sequence[Proposal]) -> Proposal | None:
    """Choose the best proposal; None if each may be chance."""
    for best in sorted(candidates, key=lambda each: each.rank, reverse=True):
        if best.weight == 0 or has_rival(best, candidates):
            continue
        if best.weight >= 2 or is_more_than_chance(best, candidates):
            return best
    return None


def has_rival(one: Proposal, candidates: Sequence[Proposal]) -> bool:
    """Whether another reading of the value has as much evidence: bounds and lists cannot tell two readings apart."""
    vague = all(formula.relation in VAGUE for formula in one.repaired)
    return any(
        other.name == one.name
        and meaning(other.reading) != meaning(one.reading)
        and (other.cost <= one.cost if vague else other.rank >= one.rank)
        for other in candidates
    )


def meaning(text: str) -> Quantity | str:
    """The value of a print, so that two spellings of one number do not compete."""
    return parse_print(text) or text


def is_more_than_chance(one: Proposal, candidates: Sequence[Proposal]) -> bool:
    """Whether a reading that repairs a single identity is the only one, and more than an error of arithmetic."""
    if one.of_two or not (one.doubtful or (one.is_subject and not one.small)):
        return False
    return not any(
        other.name != one.name
        and not other.small
        and other.doubtful >= one.doubtful
        and other.cost <= one.cost
        and other.is_subject >= one.is_subject
        and set(other.repaired) & set(one.repaired)
        for other in candidates
    )


def readings(printed: PrintedValue, twice: bool = False) -> dict[str, float]:
    """Texts that one slip, or two if `twice`, may have turned into the print, each with the cost of the slips."""
    found = dict(slips(printed.text, printed.loose))
    if twice:
        for once, cost in list(found.items()):
            for again, more in slips(once, printed.loose):
                found[again] = min(cost + more, found.get(again, cost + more))
    return {each: cost for each, cost in found.items() if each != printed.text and not LEADING_ZERO.match(each)}


def slips(text: str, loose: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Texts that one slip may have turned into this one; costly slips first, so that a cheaper one replaces them."""
    yield from ((fragment + text, SLIP) for fragment in loose)
    yield from ((fragment, SLIP) for fragment in loose)
    yield from ((each, SLIP) for each in chain(separators(text), digits(text)))
    yield from ((each, LOOK_ALIKE) for each in look_alikes(text))


def look_alikes(text: str) -> Iterator[str]:
    """Replace one character by one that it looks like."""
    for at, sign in enumerate(text):
        if sign in LOOKS_LIKE:
            yield text[:at] + LOOKS_LIKE[sign] + text[at + 1 :]
        if sign == "2" and at == len(text) - 1 and text[at - 1 : at].isdigit():
            yield text[:at] + "%"
        if sign in SEPARATORS:
            yield text[:at] + SEPARATORS.replace(sign, "") + text[at + 1 :]


def separators(text: str) -> Iterator[str]:
    """Lose, add or move a point or comma."""
    for at, sign in enumerate(text):
        if sign in SEPARATORS:
            without = text[:at] + text[at + 1 :]
            yield without
            yield from (without[:to] + "." + without[to:] for to in before_digits(without, at))
    if not set(text) & set(SEPARATORS):
        yield from (text[:to] + "." + text[to:] for to in before_digits(text, len(text)))


def before_digits(text: str, at: int) -> Iterator[int]:
    return (to for to in range(len(text)) if to != at and text[to].isdigit())


def digits(text: str) -> Iterator[str]:
    """Change, lose, add or swap digits."""
    point = text.find(".") if "." in text else len(text.rstrip(" %abcdefghijklmnopqrstuvwxyz"))
    for at, sign in enumerate(text):
        if sign.isdigit() or (sign.isalpha() and at < point and any(each.isdigit() for each in text[at:])):
            yield from (text[:at] + digit + text[at + 1 :] for digit in DIGITS if digit != sign)
            if at < point or not sign.isdigit():
                yield text[:at] + text[at + 1 :]
    for at in range(point + 1 if re.search(r"\d", text) else 0):
        if at == 0 or text[at - 1].isdigit() or text[at : at + 1].isdigit():
            yield from (text[:at] + digit + text[at:] for digit in DIGITS)
    for at, (one, other) in enumerate(pairwise(text)):
        if one.isdigit() and other.isdigit() and one != other:
            yield text[:at] + other + one + text[at + 2 :]


def is_last_digit(text: str, before: float, after: float) -> bool:
    """Whether two numbers differ by no more than the print's last digit, as an error of arithmetic may."""
    return abs(before - after) < 9.5 * 10.0 ** -count_decimals(text)


def nearest(word: str, words: Set[str]) -> str | None:
    """The word of a list that is most similar to another; None if it is too different or not unique."""
    ranked = sorted((distance(word, each), each) for each in words)
    if not ranked or ranked[0][0] > max(1, len(word) // 2):
        return None
    return ranked[0][1] if len(ranked) == 1 or ranked[1][0] > ranked[0][0] else None


def distance(one: str, other: str) -> int:
    """Count the characters to change, remove or insert that turn one word into another (Levenshtein)."""
    row = list(range(len(other) + 1))
    for at, sign in enumerate(one):
        diagonal, row[0] = row[0], at + 1
        for to, wanted in enumerate(other):
            diagonal, row[to + 1] = row[to + 1], min(diagonal + (sign != wanted), row[to] + 1, row[to + 1] + 1)
    return row[-1]


if __name__ == "__main__":
    main(sys.argv[1:])
