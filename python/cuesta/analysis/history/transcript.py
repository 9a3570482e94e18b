"""A document's printed values, with readings that replace some of them: the scope of its formulas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Self

from cuesta.analysis.history.formula import Expression, Formula, UnreadableError, Value, expand, parse, parse_expression
from cuesta.analysis.quantity import Quantity, parse_print
from cuesta.errors import InputError
from cuesta.ledger.historical import Document, PrintedValue

DEEPEST = 20
"""Most levels of derived names."""


class Agreement(StrEnum):
    HOLDS = "holds"
    ROUNDING = "rounding"
    FAILS = "fails"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Evaluation:
    agreement: Agreement
    left: Value | None = None
    right: Value | None = None

    @property
    def agrees(self) -> bool:
        return self.agreement in {Agreement.HOLDS, Agreement.ROUNDING}

    @property
    def gap(self) -> float:
        """Absolute difference of the sides; 0 for words."""
        if isinstance(self.left, Quantity) and isinstance(self.right, Quantity):
            return abs(self.left.value - self.right.value)
        return 0.0


@dataclass(frozen=True)
class Transcript:
    """Prints by name, with the readings that replace some of them."""

    document: Document
    derived: Mapping[str, Expression]
    formulas: tuple[Formula, ...]
    whys: Mapping[str, str]
    """Formula → the typist's remark."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Readings that differ from the print."""

    @classmethod
    def parse(cls, document: Document) -> Self:
        """Parse a document's formulas. Raises InputError for an invalid one."""
        names = [*document.prints, *document.derived]
        derived = {name: parse_expression(text, names) for name, text in document.derived.items()}
        whys = {text: stated.why for stated in document.identities for text in expand(stated.formula, names)}
        formulas = tuple(parse(text, names) for text in whys)
        transcript = cls(document, derived, formulas, whys)
        for name in derived:
            transcript.prints_of([name])
        return transcript

    def read_as(self, name: str, text: str) -> Self:
        return replace(self, texts={**self.texts, name: text})

    def print_of(self, name: str) -> PrintedValue:
        return self.document.prints[name]

    def text(self, name: str) -> str:
        return self.texts.get(name) or self.document.prints[name].text

    def quantity(self, name: str) -> Quantity:
        """Raises UnreadableError."""
        if name in self.derived:
            value = self.derived[name].node(self)
            if isinstance(value, Quantity):
                return value
            raise UnreadableError
        printed = self.document.prints[name]
        quantity = read_print(self.text(name), printed.counted, printed.cut_off)
        if quantity is None:
            raise UnreadableError
        return quantity

    def words(self, name: str) -> frozenset[str]:
        if name not in self.document.lists:
            raise InputError(f"{self.document.title}: there is no list {name}")
        return self.document.lists[name]

    def evaluate(self, formula: Formula) -> Evaluation:
        try:
            left, right = formula.left.node(self), formula.right.node(self)
        except (UnreadableError, ZeroDivisionError, OverflowError):
            return Evaluation(Agreement.UNREADABLE)
        return Evaluation(compare_values(formula.relation, left, right), left, right)

    def list_repaired(self, read: Self, before: Mapping[Formula, Evaluation]) -> list[Formula]:
        """The formulas of `before` that fail, and hold in the reading `read`; none if it breaks one that held."""
        failing = (formula for formula, evaluation in before.items() if not evaluation.agrees)
        repaired = [formula for formula in failing if read.evaluate(formula).agrees]
        if not repaired:
            return []
        held = (formula for formula, evaluation in before.items() if evaluation.agreement is not Agreement.FAILS)
        return [] if any(read.evaluate(formula).agreement is Agreement.FAILS for formula in held) else repaired

    def prints_of(self, names: Sequence[str], depth: int = 0) -> list[str]:
        """The prints from which names are computed, each once. Raises InputError for circular definitions."""
        if depth > DEEPEST:
            raise InputError(f"{self.document.title}: {names[0]} is derived from itself")
        prints = list[str]()
        for name in names:
            prints += self.prints_of(self.derived[name].names, depth + 1) if name in self.derived else [name]
        return list(dict.fromkeys(prints))

    @cached_property
    def formulas_with(self) -> Mapping[str, tuple[Formula, ...]]:
        """By the names of prints."""
        by_print: dict[str, list[Formula]] = {}
        for formula in self.formulas:
            for name in self.prints_of(formula.names):
                by_print.setdefault(name, []).append(formula)
        return {name: tuple(formulas) for name, formulas in by_print.items()}


@lru_cache(maxsize=4096)
def read_print(text: str, counted: bool, cut_off: bool) -> Quantity | None:
    """Parse a print; a count is exact."""
    quantity = parse_print(text, cut_off)
    return Quantity.exactly(quantity.value) if quantity and counted else quantity


def compare_values(relation: str, left: Value, right: Value) -> Agreement:
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return compare_numbers(relation, left, right)
    if isinstance(right, frozenset):
        return Agreement.HOLDS if left in right else Agreement.FAILS
    if isinstance(left, str) and isinstance(right, str) and relation == "=":
        return Agreement.HOLDS if left.split() == right.split() else Agreement.FAILS
    return Agreement.UNREADABLE


def compare_numbers(relation: str, left: Quantity, right: Quantity) -> Agreement:
    slack = left.slack + right.slack
    if relation == "divides":
        return Agreement.HOLDS if left.value and right.value % left.value == 0 else Agreement.FAILS
    if relation == "=":
        holds, may = left.prints(right.value), left.may_be(right)
    elif relation == "<=":
        holds, may = left.value <= right.value + slack, left.low <= right.high + slack
    else:
        holds, may = left.value >= right.value - slack, left.high >= right.low - slack
    return Agreement.HOLDS if holds else Agreement.ROUNDING if may else Agreement.FAILS
