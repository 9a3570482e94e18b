"""Rows of a typed table, as its `[[points]]` describe them (docs/predict.md)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.analysis.history.formula import HOLE, PATTERN, UnreadableError, bind_holes, parse_expression
from cuesta.analysis.history.transcript import Transcript, read_print
from cuesta.analysis.predict.points import Conditions, Measurements, Point, Unit
from cuesta.analysis.quantity import Quantity
from cuesta.errors import InputError
from cuesta.ledger.historical import read_historical, read_toml
from cuesta.ledger.rows import JsonObject

FORMULAS = ("users", "think", "keying", "cycle", "throughput", "response", "known_delay", "per_transaction")
WORDS = ("configuration", "demand", "delays", "users_are", "unit", "utilization", "servers", "service")
NEEDED = ("configuration", "users")


def read_table(path: Path) -> Measurements:
    """Read the points of a typed table. Raises InputError with the place."""
    blocks = read_toml(path).get("points")
    if not isinstance(blocks, list) or not blocks:
        raise InputError(
            f"{path}: no [[points]] say which of its columns are users, think times, throughputs and responses",
            "docs/predict.md shows how they are written",
        )
    transcript = apply_readings(Transcript.parse(read_historical(path)))
    parsed = [PointsBlock(path, transcript, block) for block in blocks]
    points = [point for block in parsed for point in block.list_points()]
    timed = [point for point in points if point.response or point.by_law]
    notes = [f"{point.place} is left out: it has no {missing_figure(point)}" for point in points if point not in timed]
    users_are = str(parsed[0].block.get("users_are", "users"))
    return Measurements(transcript.document.title, timed, users_are, notes)


def missing_figure(point: Point) -> str:
    return "response" if point.at.is_paced else "throughput or response"


def apply_readings(transcript: Transcript) -> Transcript:
    """The transcript with the typist's readings of prints that are no numbers."""
    for name, printed in transcript.document.prints.items():
        if printed.reading and read_print(printed.text, printed.counted, printed.cut_off) is None:
            transcript = transcript.read_as(name, printed.reading)
    return transcript


@dataclass(frozen=True, slots=True)
class PointsBlock:
    path: Path
    transcript: Transcript
    block: JsonObject

    def list_points(self) -> Iterator[Point]:
        """Raises InputError for an unknown word or an impossible value."""
        self.insist_on_words()
        for binding in self.bind_rows():
            yield self.read_point(binding)

    def insist_on_words(self) -> None:
        for name in self.block:
            if name not in (*FORMULAS, *WORDS):
                raise self.wrong(f"no such word: {name}", f"expected some of {', '.join((*FORMULAS, *WORDS))}")
        for name in NEEDED:
            if name not in self.block:
                raise self.wrong(f"expected {name}")
        if "throughput" not in self.block and "response" not in self.block:
            raise self.wrong("expected throughput or response")

    def wrong(self, what: str, remedy: str = "docs/predict.md shows how they are written") -> InputError:
        return InputError(f"{self.path}: [[points]] {self.block.get('configuration', '')}: {what}", remedy)

    def bind_rows(self) -> Sequence[Mapping[str, str]]:
        """The rows, by what fills the holes in the patterns of `users`."""
        bindings: list[dict[str, str]] = [{}]
        for pattern in (each for each in PATTERN.findall(str(self.block["users"])) if HOLE.search(each)):
            bindings = [extended for binding in bindings for extended in bind_holes(pattern, binding, self.names)]
        if not bindings:
            raise self.wrong(f"users: no row fits {self.block['users']}")
        return bindings

    @property
    def names(self) -> list[str]:
        return [*self.transcript.document.prints, *self.transcript.derived]

    def read_point(self, binding: Mapping[str, str]) -> Point:
        configuration = fill_holes(str(self.block["configuration"]), binding)
        users = self.read_count("users", binding, configuration)
        place = f"{configuration} {' '.join(binding.values()) or f'{users:g} users'}".strip()
        unit = self.read_unit()
        at = Conditions(
            configuration=configuration,
            users=round(users),
            think=self.read_number("think", binding, place) or 0.0,
            keying=self.read_number("keying", binding, place) or 0.0,
            cycle=self.read_number("cycle", binding, place),
            known_delay=self.read_number("known_delay", binding, place),
            demand=fill_holes(str(self.block.get("demand", configuration)), binding),
            delays=tuple(fill_holes(str(each), binding) for each in self.block.get("delays", [configuration])),
            unit=unit,
        )
        point = Point(
            place=place,
            at=at,
            throughput=self.read_positive("throughput", binding, place, unit.per_transaction),
            response=self.read_positive("response", binding, place),
            utilizations=dict(self.read_utilizations(binding, place)),
            servers=self.read_servers(),
            is_fixed=self.has_fixed_service(),
        )
        if point.by_law and point.by_law.high <= 0:
            raise InputError(
                f"{self.path}: {place}: no response is so short: R = N/X − Z − K is {point.by_law.value:.3g} s",
                "check users, think and throughput",
            )
        return point

    def read_utilizations(self, binding: Mapping[str, str], place: str) -> Iterator[tuple[str, Quantity]]:
        """The utilizations of a row. Raises InputError for a negative one."""
        for name, formula in self.block.get("utilization", {}).items():
            if busy := self.compute(f"utilization {name}", formula, binding):
                if busy.high < 0:
                    raise InputError(f"{self.path}: {place}: {name}: expected 0 or more, got {busy.value:g}")
                yield name, busy

    def read_servers(self) -> Mapping[str, int]:
        """The servers of metered resources. Raises InputError unless they are whole numbers from 1."""
        counts: Mapping[str, int] = self.block.get("servers", {})
        for name, count in counts.items():
            if not isinstance(count, int) or count < 1:
                raise self.wrong(f"servers of {name}: expected a whole number from 1, got {count!r}")
        return counts

    def has_fixed_service(self) -> bool:
        """Whether the table says that services are fixed. Raises InputError for another word."""
        word = self.block.get("service", "exponential")
        if word not in ("exponential", "fixed"):
            raise self.wrong(f"service: expected fixed or exponential, got {word!r}")
        return bool(word == "fixed")

    def read_count(self, name: str, binding: Mapping[str, str], place: str) -> float:
        value = self.read_number(name, binding, place)
        if value is None or value < 1:
            shown = "nothing that can be read" if value is None else f"{value:g}"
            raise InputError(f"{self.path}: {place}: {name}: expected 1 or more, got {shown}")
        return value

    def read_number(self, name: str, binding: Mapping[str, str], place: str) -> float | None:
        """The value of a formula. Raises InputError for a negative one."""
        quantity = self.read_quantity(name, binding)
        if quantity and quantity.value < 0:
            raise InputError(f"{self.path}: {place}: {name}: expected 0 or more, got {quantity.value:g}")
        return quantity.value if quantity else None

    def read_positive(self, name: str, binding: Mapping[str, str], place: str, divisor: float = 1.0) -> Quantity | None:
        """The value of a formula, divided. Raises InputError for one that is not above 0."""
        quantity = self.read_quantity(name, binding)
        if quantity is None:
            return None
        quantity /= Quantity.exactly(divisor)
        if quantity.value <= 0:
            raise InputError(f"{self.path}: {place}: {name}: expected more than 0, got {quantity.value:g}")
        return quantity

    def read_quantity(self, name: str, binding: Mapping[str, str]) -> Quantity | None:
        return self.compute(name, self.block[name], binding) if name in self.block else None

    def compute(self, name: str, formula: Any, binding: Mapping[str, str]) -> Quantity | None:
        """The value of a formula in a row; None where a cell is missing or empty.

        Raises InputError for a formula without a finite value.
        """
        text = fill_holes(str(formula), binding)
        if any(each not in self.names for each in PATTERN.findall(text) if "." in each):
            return None
        expression = parse_expression(text, self.names)
        prints = {each: self.transcript.text(each).strip() for each in self.transcript.prints_of(expression.names)}
        if not all(prints.values()):
            return None
        try:
            value = expression.node(self.transcript)
        except (UnreadableError, ZeroDivisionError, OverflowError):
            value = ""
        if isinstance(value, Quantity) and math.isfinite(value.value):
            return value
        cells = ", ".join(f"{each} is {shown!r}" for each, shown in prints.items())
        raise self.wrong(f"{name}: expected a number, 0 or more: {cells or text}")

    def read_unit(self) -> Unit:
        per = self.read_quantity("per_transaction", {})
        return Unit(str(self.block.get("unit", "transactions")), per.value if per else 1.0)


def fill_holes(text: str, binding: Mapping[str, str]) -> str:
    return HOLE.sub(lambda hole: binding.get(hole[1], hole[0]), text)
