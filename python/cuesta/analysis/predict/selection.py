"""Conditions in words: which rows are fitted (`ports<=15`), and which loads are asked (`users=100,200,think=5s`).

NAME is `users` or what the table calls them, `think`, `keying`, `cycle`, or `configuration`. A comma joins conditions
of which all must hold; after `=` it separates values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from cuesta import _native
from cuesta.analysis.predict.points import MOST_USERS, ONE_PACE, Conditions, Measurements, Point
from cuesta.errors import UsageError
from cuesta.figures.limit import COMPARISONS

NUMBERS = ("users", "think", "keying", "cycle")
TEXTS = ("configuration",)
PART = re.compile(r"\s*(?:([A-Za-z]\w*)\s*(<=|>=|!=|==|=|<|>))?\s*([^,<>=!]+)\s*")
TOLERANCE = 1e-6
"""Relative difference of times that are called equal."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a name is compared with."""

    name: str
    sign: str
    values: tuple[float | str, ...]

    @property
    def is_equality(self) -> bool:
        return self.sign in ("=", "==")

    def holds(self, at: Conditions, slack: float = TOLERANCE) -> bool:
        found = getattr(at, self.name)
        if self.is_equality:
            return any(same(found, value, slack) for value in self.values)
        if found is None or isinstance(found, str):
            return self.sign == "!=" and not same(found, self.values[0], slack)
        return COMPARISONS[self.sign](found, self.values[0])  # type: ignore[arg-type]


def same(found: Any, value: float | str, slack: float) -> bool:
    if isinstance(found, str) or isinstance(value, str) or found is None:
        return bool(found == value)
    return bool(abs(found - value) <= slack * max(abs(found), abs(value)))


def conditions(text: str, flag: str, users_are: str = "users") -> list[Condition]:
    """Read conditions joined by commas. Raises UsageError with what was expected."""
    found: list[Condition] = []
    for part in text.split(","):
        match = PART.fullmatch(part)
        if not match or (match[1] is None and (not found or not found[-1].is_equality)):
            raise UsageError(f"{flag}: expected NAME=VALUE, got {part.strip()!r}", f"as {flag} {users_are}=20,think=5s")
        if match[1] is None:
            found[-1] = replace(found[-1], values=(*found[-1].values, value(found[-1].name, match[3].strip(), flag)))
        else:
            name = known(match[1], flag, users_are)
            found.append(Condition(name, match[2], (value(name, match[3].strip(), flag),)))
    return found


def questions(texts: Sequence[str], users: str | None, users_are: str) -> list[list[Condition]]:
    """What `--at` and `--users` ask. `--users` is added to each question that leaves the users open.

    Raises UsageError for what is no value.
    """
    found = [conditions(text, "--at", users_are) for text in texts]
    for each in (each for one in found for each in one if not each.is_equality):
        raise UsageError(f"--at: expected {each.name}=VALUE, got {each.name}{each.sign}", "--fit takes comparisons")
    if users is None:
        return found
    own = conditions(f"users={users}", "--users")
    is_open = [all(each.name != "users" for each in one) for one in found]
    return [[*one, *own] if needs else one for one, needs in zip(found, is_open, strict=True)] + (
        [] if any(is_open) else [own]
    )


def known(name: str, flag: str, users_are: str) -> str:
    if name == users_are:
        return "users"
    if name not in (*NUMBERS, *TEXTS):
        expected = ", ".join(dict.fromkeys((users_are, *NUMBERS, *TEXTS)))
        raise UsageError(f"{flag}: no such condition: {name}", f"expected one of {expected}")
    return name


def value(name: str, text: str, flag: str) -> float | str:
    """Read a value: a text, a number of users, or seconds."""
    if name in TEXTS:
        return text
    try:
        number = float(text) if name == "users" or re.fullmatch(r"[\d.e+]+", text) else _native.duration(text) / 1e9
    except ValueError:
        raise UsageError(f"{flag}: {name}: expected a number, got {text!r}", f"as {name}=20") from None
    if name == "users" and not 1 <= number <= MOST_USERS:
        raise UsageError(f"{flag}: users: expected a number from 1 to 1e9, got {text}", "as users=500")
    return number


def matching(points: Sequence[Point], fits: Sequence[Sequence[Condition]]) -> list[Point]:
    """The rows that meet all conditions of any list; all rows if there is no list.

    Times of runs are means of random ones: those that were told to think 1 s have thought 0.98 s, and meet `think=1s`.
    """
    return [p for p in points if not fits or any(all(each.holds(p.at, slack(p, each)) for each in one) for one in fits)]


def slack(point: Point, condition: Condition) -> float:
    """The relative difference of a row's value from one that it is called equal to."""
    return ONE_PACE if point.recorded and condition.name in ("think", "keying") else TOLERANCE


def loads_of_questions(
    measurements: Measurements, fit: Sequence[Point], questions: Sequence[Sequence[Condition]]
) -> list[Conditions]:
    """The loads that questions are about, each once.

    A question that measured rows meet is about these rows. Else what it leaves open is taken from the rows, if they
    agree on it; of several configurations, each is asked.
    """
    found: dict[Conditions, None] = {}
    for question in questions:
        for values in product(*(each.values for each in question)):
            single = [replace(each, values=(one,)) for each, one in zip(question, values, strict=True)]
            rows = [point.at for point in measurements.points if all(each.holds(point.at) for each in single)]
            named = {each.name: each.values[0] for each in single}
            for at in rows or completed(measurements, fit, named):
                found[at] = None
    return list(found)


def completed(measurements: Measurements, fit: Sequence[Point], named: Mapping[str, float | str]) -> list[Conditions]:
    """A load for each configuration, with what is not named taken from its rows. Raises UsageError if they differ."""
    wanted = named.get("configuration")
    names = list(dict.fromkeys(point.at.configuration for point in fit))
    if wanted is not None and wanted not in names:
        raise UsageError(f"--at: no rows are fitted of the configuration {wanted}", f"there is {', '.join(names)}")
    found = []
    for name in [wanted] if wanted is not None else names:
        rows = [point.at for point in fit if point.at.configuration == name]
        changes: dict[str, Any] = {"users": round(float(open_one(rows, "users", named, measurements)))}
        for each in ("think", "keying") if not rows[0].is_paced else ("cycle",):
            changes[each] = float(open_one(rows, each, named, measurements))
        found.append(replace(rows[0], **changes))
    return found


def open_one(
    rows: Sequence[Conditions], name: str, named: Mapping[str, float | str], measurements: Measurements
) -> Any:
    """A value as named, or the one on which the rows agree."""
    if name in named:
        return named[name]
    values = [getattr(row, name) for row in rows]
    low, high = min(values), max(values)
    if high - low > (ONE_PACE if name in ("think", "keying") else 0.0) * high:
        called = measurements.users_are if name == "users" else name
        raise UsageError(
            f"--at: expected {called}, for the rows differ in it: {low:.3g} to {high:.3g}",
            f"as --at …,{called}={high:.3g}{'' if name == 'users' else 's'}",
        )
    return sum(values) / len(values)


def only(measurements: Measurements, configurations: Sequence[str]) -> Measurements:
    """The rows of some configurations; all of them if none is named. Raises UsageError for one that there is not."""
    for name in configurations:
        if name not in measurements.configurations:
            known_ones = ", ".join(measurements.configurations)
            raise UsageError(f"--configuration: there is no {name}", f"there is {known_ones}" if known_ones else None)
    rows = [point for point in measurements.points if not configurations or point.at.configuration in configurations]
    return replace(measurements, points=rows)
