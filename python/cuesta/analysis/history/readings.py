"""What else a print may say: the readings that one slip of the copyist, the scanner or the eye would turn into it.

A slip: a digit for another, two digits changed over, one lost or come in, a point lost, come in or shifted, a comma for
a point, a letter for the digit that it looks like. Digits behind the point stay as many, unless the point itself moved:
a column is printed with one number of places.
"""

import re
from collections.abc import Iterable, Iterator, Set
from itertools import chain, pairwise

from cuesta.analysis.history.quantity import places

LOOKS_LIKE = {
    "B": "8", "S": "5", "T": "7", "u": "4", "U": "4", "g": "9", "q": "9", "I": "1", "l": "1", "i": "1", "|": "1",
    "O": "0", "o": "0", "D": "0", "Z": "2", "z": "2", "b": "6", "G": "6", "A": "4",
}  # fmt: skip
"""Signs that scanners take for one another."""

NO_NUMBER_BEGINS_SO = re.compile(r"0\d")

DIGITS, SEPARATORS = "0123456789", ".,"

GLYPH, SLIP = 1.0, 1.5
"""Costs: of a sign that looks like another, and of any other slip."""


def readings(text: str, loose: Iterable[str] = (), twice: bool = False) -> dict[str, float]:
    """Give what one slip, or two, may have turned into the print, each with what the slips cost."""
    found = dict(slips(text, loose))
    if twice:
        for once, cost in list(found.items()):
            for again, more in slips(once, loose):
                found[again] = min(cost + more, found.get(again, cost + more))
    return {each: cost for each, cost in found.items() if each != text and not NO_NUMBER_BEGINS_SO.match(each)}


def slips(text: str, loose: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Give what one slip may have turned into the print; dearer ones first, so that the cheaper one counts."""
    yield from ((fragment + text, SLIP) for fragment in loose)
    yield from ((fragment, SLIP) for fragment in loose)
    yield from ((each, SLIP) for each in chain(separators(text), digits(text)))
    yield from ((each, GLYPH) for each in glyphs(text))


def glyphs(text: str) -> Iterator[str]:
    """Give the readings in which one sign was taken for another that looks like it."""
    for at, sign in enumerate(text):
        if sign in LOOKS_LIKE:
            yield text[:at] + LOOKS_LIKE[sign] + text[at + 1 :]
        if sign == "2" and at == len(text) - 1 and text[at - 1 : at].isdigit():
            yield text[:at] + "%"
        if sign in SEPARATORS:
            yield text[:at] + SEPARATORS.replace(sign, "") + text[at + 1 :]


def separators(text: str) -> Iterator[str]:
    """Give the readings with a point or comma lost, come in or shifted."""
    for at, sign in enumerate(text):
        if sign in SEPARATORS:
            without = text[:at] + text[at + 1 :]
            yield without
            yield from (without[:to] + "." + without[to:] for to in near(without, at))
    if not set(text) & set(SEPARATORS):
        yield from (text[:to] + "." + text[to:] for to in near(text, len(text)))


def near(text: str, at: int) -> Iterator[int]:
    """Give the places in a number where a point may stand."""
    return (to for to in range(len(text)) if to != at and text[to].isdigit())


def digits(text: str) -> Iterator[str]:
    """Give the readings with one digit wrong, lost, come in or changed over."""
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
    """Say whether two numbers differ by no more than the print's last digit: as a slip in reckoning also does."""
    return abs(before - after) < 9.5 * 10.0 ** -places(text)


def nearest(word: str, words: Set[str]) -> str | None:
    """Give the one word of a list that is closest to another; none if it is too far or not the only one."""
    ranked = sorted((distance(word, each), each) for each in words)
    if not ranked or ranked[0][0] > max(1, len(word) // 2):
        return None
    return ranked[0][1] if len(ranked) == 1 or ranked[1][0] > ranked[0][0] else None


def distance(one: str, other: str) -> int:
    """Count the signs to change, lose or put in that turn one word into another."""
    row = list(range(len(other) + 1))
    for at, sign in enumerate(one):
        diagonal, row[0] = row[0], at + 1
        for to, wanted in enumerate(other):
            diagonal, row[to + 1] = row[to + 1], min(diagonal + (sign != wanted), row[to] + 1, row[to + 1] + 1)
    return row[-1]
