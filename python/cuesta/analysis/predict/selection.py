"""Parses conditions: which rows are fitted (`ports<=15`), and which loads are asked (`users=100,200,think=5s`).

NAME is `users` or the table's word for them, `think`, `keying`, `cycle`, or `configuration`. A comma joins conditions
that must all hold; after `=` it separates values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from cuesta import _native
from cuesta.analysis.predict.points import MOST_USERS, ONE_PACE, Conditions, Measurements, Point
from cuesta.errors import UsageError
from cuesta.figures.limit import COMPARISONS

NUMBERS = ("users", "think", "keying", "cycle")
TEXTS = ("configuration",)
PART = re.compile(r"\s*(?:([A-Za-z]\w*)\s*(<=|>=|!=|==|=|<|>))?\s*([^,<>=!]+)\s*")
TOLERANCE = 1e-6
"""Relative difference of equal times."""


@dataclass(frozen=True, slots=True)
class Condition:
    name: str
    sign: str
    values: tuple[float | str, ...]

    @property
    def is_equality(self) -> bool:
        return self.sign in ("=", "==")

    def holds(self, at: Conditions, tolerance: float = TOLERANCE) -> bool:
        actual = getattr(at, self.name)
        if self.is_equality:
            return any(is_equal(actual, value, tolerance) for value in self.values)
        if actual is None or isinstance(actual, str):
            return self.sign == "!=" and not is_equal(actual, self.values[0], tolerance)
        return COMPARISONS[self.sign](actual, self.values[0])  # type: ignore[arg-type]


def is_equal(actual: Any, value: float | str, tolerance: float) -> bool:
    if isinstance(actual, str) or isinstance(value, str) or actual is None:
        return bool(actual == value)
    return bool(abs(actual - value) <= tolerance * max(abs(actual), abs(value)))


def read_conditions(text: str, flag: str, users_are: str = "users") -> list[Condition]:
    """Parse conditions joined by commas. Raises UsageError with what was expected."""
    conditions: list[Condition] = []
    for part in text.split(","):
        match = PART.fullmatch(part)
        if not match or (match[1] is None and (not conditions or not conditions[-1].is_equality)):
            raise UsageError(f"{flag}: expected NAME=VALUE, got {part.strip()!r}", f"as {flag} {users_are}=20,think=5s")
        if match[1] is None:
            conditions[-1] = replace(
                conditions[-1], values=(*conditions[-1].values, read_value(conditions[-1].name, match[3].strip(), flag))
            )
        else:
            name = resolve_name(match[1], flag, users_are)
            conditions.append(Condition(name, match[2], (read_value(name, match[3].strip(), flag),)))
    return conditions


def read_questions(texts: Sequence[str], users: str | None, users_are: str) -> list[list[Condition]]:
    """Parse `--at` and `--users`, which is added to each question that leaves the users open.

    Raises UsageError for a comparison.
    """
    questions = [read_conditions(text, "--at", users_are) for text in texts]
    for condition in chain(*questions):
        if not condition.is_equality:
            got = f"{condition.name}{condition.sign}"
            raise UsageError(f"--at: expected {condition.name}=VALUE, got {got}", "--fit takes comparisons")
    if users is None:
        return questions
    asked = read_conditions(f"users={users}", "--users")
    without = [question for question in questions if all(condition.name != "users" for condition in question)]
    return [[*question, *asked] if question in without else question for question in questions] + (
        [] if without else [asked]
    )


def resolve_name(name: str, flag: str, users_are: str) -> str:
    if name == users_are:
        return "users"
    if name not in (*NUMBERS, *TEXTS):
        expected = ", ".join(dict.fromkeys((users_are, *NUMBERS, *TEXTS)))
        raise UsageError(f"{flag}: no such condition: {name}", f"expected one of {expected}")
    return name


def read_value(name: str, text: str, flag: str) -> float | str:
    """Parse a text, a number of users, or seconds."""
    if name in TEXTS:
        return text
    try:
        number = float(text) if name == "users" or re.fullmatch(r"[\d.e+]+", text) else _native.duration(text) / 1e9
    except ValueError:
        raise UsageError(f"{flag}: {name}: expected a number, got {text!r}", f"as {name}=20") from None
    if name == "users" and not 1 <= number <= MOST_USERS:
        raise UsageError(f"{flag}: users: expected a number from 1 to 1e9, got {text}", "as users=500")
    return number


def select_rows(points: Sequence[Point], fits: Sequence[Sequence[Condition]]) -> list[Point]:
    """The rows that meet all conditions of any list; all rows if there is no list.

    Times of runs are means of random ones, so 0.98 s meets `think=1s`.
    """

    def meets(point: Point, condition: Condition) -> bool:
        is_random = point.recorded and condition.name in ("think", "keying")
        return condition.holds(point.at, ONE_PACE if is_random else TOLERANCE)

    return [p for p in points if not fits or any(all(meets(p, each) for each in conditions) for conditions in fits)]


def list_loads(
    measurements: Measurements, fit: Sequence[Point], questions: Sequence[Sequence[Condition]]
) -> list[Conditions]:
    """The loads that questions ask, each once: those of measured rows that meet a question, else completed ones."""
    loads: dict[Conditions, None] = {}
    for question in questions:
        for values in product(*(each.values for each in question)):
            single = [replace(each, values=(one,)) for each, one in zip(question, values, strict=True)]
            rows = [point.at for point in measurements.points if all(each.holds(point.at) for each in single)]
            named = {each.name: each.values[0] for each in single}
            for at in rows or complete_loads(measurements, fit, named):
                loads[at] = None
    return list(loads)


def complete_loads(
    measurements: Measurements, fit: Sequence[Point], named: Mapping[str, float | str]
) -> list[Conditions]:
    """A load for each configuration, with values that are not named from its rows. Raises UsageError if they differ."""
    wanted = named.get("configuration")
    names = list(dict.fromkeys(point.at.configuration for point in fit))
    if wanted is not None and wanted not in names:
        raise UsageError(f"--at: no rows are fitted of the configuration {wanted}", f"there is {', '.join(names)}")
    loads = []
    for name in [wanted] if wanted is not None else names:
        rows = [point.at for point in fit if point.at.configuration == name]
        changes: dict[str, Any] = {"users": round(float(resolve_value(rows, "users", named, measurements)))}
        for each in ("think", "keying") if not rows[0].is_paced else ("cycle",):
            changes[each] = float(resolve_value(rows, each, named, measurements))
        loads.append(replace(rows[0], **changes))
    return loads


def resolve_value(
    rows: Sequence[Conditions], name: str, named: Mapping[str, float | str], measurements: Measurements
) -> Any:
    """The named value, or the mean of the rows if they agree on it."""
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


def select_configurations(measurements: Measurements, configurations: Sequence[str]) -> Measurements:
    """The rows of some configurations, or of all if none is named. Raises UsageError for an unknown one."""
    for name in configurations:
        if name not in measurements.configurations:
            known_ones = ", ".join(measurements.configurations)
            raise UsageError(f"--configuration: there is no {name}", f"there is {known_ones}" if known_ones else None)
    rows = [point for point in measurements.points if not configurations or point.at.configuration in configurations]
    return replace(measurements, points=rows)
