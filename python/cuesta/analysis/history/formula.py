"""Formulas over printed values: `b.total.{column} = a.subject.{column} + a.loading.{column}`.

A formula is one relation: `=`, `<=`, `>=`, `divides`, or `in` a list of words. Names are dotted; `{column}` stands for
every name that fits, `a.*.total` within a function for all of them. Numbers, `+ - * / %`, brackets, these functions:

    sum min max              of numbers
    mid low high             of a printed range or bound, as an exact number
    octal text unit form     of a print: its octal digits; its characters; the word behind its number; its shape
    weekday                  of a printed date: Mon … Sun
    count(NAME, "letters")   how many of a print's characters are among these
    distinct(NAMES)          how many different prints there are

Nothing else is evaluated, so a formula from a file is safe.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Protocol

from cuesta.analysis.quantity import Quantity, parse_unit
from cuesta.errors import InputError

TOKEN = re.compile(r'\s*(?:(\d+(?:\.\d+)?)|"([^"]*)"|([A-Za-z_]\w*(?:\.(?:\w+|\*))*)|(<=|>=|[-=+*/%(),]))')
HOLE = re.compile(r"\{(\w+)\}")
PATTERN = re.compile(r"[A-Za-z_{][\w{}]*(?:\.[\w{}]+)*")
RELATIONS = ("=", "<=", ">=", "in", "divides")
DEEPEST = 50
"""Most levels of brackets."""


Value = Quantity | str | frozenset[str]


class UnreadableError(Exception):
    """A print is not a number."""


def as_number(value: Value) -> Quantity:
    if not isinstance(value, Quantity):
        raise UnreadableError
    return value


def read_octal(texts: Sequence[str]) -> Quantity:
    try:
        return Quantity.exactly(int(texts[0], 8))
    except ValueError:
        raise UnreadableError from None


def read_weekday(texts: Sequence[str]) -> str:
    for form in ("%m/%d/%y", "%B %d, %Y", "%d %B %Y"):
        try:
            return datetime.strptime(texts[0].strip(), form).strftime("%a")
        except ValueError:
            continue
    raise UnreadableError


def read_shape(texts: Sequence[str]) -> str:
    """Shape of a print: places behind the point, and signs."""
    return re.sub(r"\d", "0", re.sub(r"(?<![.\d])\d+", "0", texts[0].strip()))


def add_all(values: Sequence[Quantity]) -> Quantity:
    return sum(values[1:], start=values[0])


def take_least(values: Sequence[Quantity]) -> Quantity:
    return Quantity(*(min(getattr(each, bound) for each in values) for bound in Quantity.__slots__))


def take_most(values: Sequence[Quantity]) -> Quantity:
    return Quantity(*(max(getattr(each, bound) for each in values) for bound in Quantity.__slots__))


ARITHMETIC: Mapping[str, Callable[[Quantity, Quantity], Quantity]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}
OF_NUMBERS: Mapping[str, Callable[[Sequence[Quantity]], Quantity]] = {
    "sum": add_all,
    "min": take_least,
    "max": take_most,
    "mid": lambda values: Quantity.exactly(values[0].value),
    "low": lambda values: Quantity.exactly(values[0].low),
    "high": lambda values: Quantity.exactly(values[0].high),
}
OF_PRINTS: Mapping[str, Callable[[Sequence[str]], Value]] = {
    "octal": read_octal,
    "text": lambda texts: texts[0].strip(),
    "unit": lambda texts: parse_unit(texts[0]),
    "form": read_shape,
    "weekday": read_weekday,
    "count": lambda texts: Quantity.exactly(sum(letter in texts[-1] for letter in texts[0])),
    "distinct": lambda texts: Quantity.exactly(len({text.strip() for text in texts})),
}


class Scope(Protocol):
    def quantity(self, name: str) -> Quantity:
        """Raises UnreadableError."""

    def text(self, name: str) -> str:
        """The value as printed. Raises UnreadableError."""

    def words(self, name: str) -> frozenset[str]:
        """A list of words."""


Node = Callable[[Scope], Value]


@dataclass(frozen=True, slots=True)
class Expression:
    """One side of a formula, parsed."""

    node: Node
    names: tuple[str, ...]
    is_name: bool
    """Whether it is a single name: a statement, not a computation."""


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    left: Expression
    relation: str
    right: Expression

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.left.names + self.right.names))


def expand(text: str, names: Sequence[str]) -> Iterator[str]:
    """Expand `{holes}` into all formulas whose names are known."""
    bindings: list[dict[str, str]] = [{}]
    for pattern in (each for each in PATTERN.findall(text) if HOLE.search(each)):
        bindings = [more for binding in bindings for more in bind_holes(pattern, binding, names)]
    if not bindings:
        raise InputError(f"{text}: no names fit")
    for binding in bindings:
        yield HOLE.sub(lambda hole, binding=binding: binding[hole[1]], text)  # type: ignore[misc]


def bind_holes(pattern: str, binding: dict[str, str], names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Bindings of the open holes of a pattern to parts of names that match it."""
    filled = HOLE.sub(lambda hole: binding.get(hole[1], hole[0]), pattern)
    shape = re.compile(r"(\w+)".join(re.escape(part) for part in HOLE.sub("\0", filled).split("\0")))
    holes = HOLE.findall(filled)
    for name in names:
        if found := shape.fullmatch(name):
            yield {**binding, **dict(zip(holes, found.groups(), strict=True))}


def parse(text: str, names: Sequence[str]) -> Formula:
    """Parse a formula. Raises InputError."""
    parser = Parser(text, names)
    left = parser.expression()
    relation = parser.take()
    if relation not in RELATIONS:
        raise parser.wrong(f"expected one of {' '.join(RELATIONS)}", relation)
    right = parser.list_of_words() if relation == "in" else parser.expression()
    parser.end()
    return Formula(text, left, relation, right)


def parse_expression(text: str, names: Sequence[str]) -> Expression:
    """Parse the expression of a derived name. Raises InputError."""
    parser = Parser(text, names)
    expression = parser.expression()
    parser.end()
    return expression


class Parser:
    """Recursive descent over one formula; a method for each level of precedence."""

    def __init__(self, text: str, known: Sequence[str]) -> None:
        self.text, self.known = text, known
        self.tokens = self.split()
        self.at, self.depth = 0, 0
        self.names: list[str] = []

    def split(self) -> list[tuple[str, str]]:
        tokens, at, text = list[tuple[str, str]](), 0, self.text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise self.wrong("expected a number, a name or a sign", text[at:].strip()[:1])
            kind = ("number", "words", "name", "sign")[(match.lastindex or 1) - 1]
            tokens.append((kind, match[match.lastindex or 0]))
            at = match.end()
        return tokens

    def wrong(self, expected: str, came: str) -> InputError:
        return InputError(f"{self.text}: {expected}, got {came or 'its end'}")

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()[1]
        if wanted is not None and token != wanted:
            raise self.wrong(f"expected {wanted}", token)
        self.at += 1
        return token

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise self.wrong("expected its end", self.peek()[1])

    def expression(self) -> Expression:
        """Parse a whole expression, and collect its names."""
        self.names, before = [], self.at
        node = self.sum()
        alone = self.at - before == 1 and self.tokens[before][0] == "name"
        return Expression(node, tuple(self.names), alone)

    def list_of_words(self) -> Expression:
        name = self.take()
        return Expression(lambda scope: scope.words(name), (), True)

    def sum(self) -> Node:
        node = self.product()
        while self.peek()[1] in {"+", "-"} and self.peek()[0] == "sign":
            node = arithmetic(self.take(), node, self.product())
        return node

    def product(self) -> Node:
        node = self.factor()
        while self.peek()[1] in {"*", "/", "%"} and self.peek()[0] == "sign":
            node = arithmetic(self.take(), node, self.factor())
        return node

    def factor(self) -> Node:
        kind, token = self.peek()
        self.take()
        if kind == "number":
            value = Quantity.exactly(float(token))
            return lambda _: value
        if kind == "words":
            return lambda _: token
        if kind == "name":
            return self.called(token) if self.peek()[1] == "(" else self.named(token)
        if token == "(":
            return self.bracket()
        if token == "-":
            return self.negative()
        raise self.wrong("expected a number, a name or a bracket", token)

    def negative(self) -> Node:
        self.deeper()
        inner = self.factor()
        self.depth -= 1
        return lambda scope: -as_number(inner(scope))

    def bracket(self) -> Node:
        self.deeper()
        node = self.sum()
        self.take(")")
        self.depth -= 1
        return node

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(f"expected at most {DEEPEST} levels of brackets", "more")

    def named(self, name: str) -> Node:
        self.note(name)
        return lambda scope: scope.quantity(name)

    def note(self, name: str) -> None:
        if name not in self.known:
            raise self.wrong("expected a name of the file", name)
        self.names.append(name)

    def called(self, function: str) -> Node:
        self.take("(")
        self.deeper()
        if function in OF_NUMBERS:
            return self.of_numbers(OF_NUMBERS[function])
        if function in OF_PRINTS:
            return self.of_prints(OF_PRINTS[function])
        raise self.wrong(f"expected one of {' '.join([*OF_NUMBERS, *OF_PRINTS])}", function)

    def of_numbers(self, function: Callable[[Sequence[Quantity]], Quantity]) -> Node:
        """Parse expressions; a name with a star stands for many."""
        nodes = list[Node]()
        while True:
            if "*" in self.peek()[1] and self.peek()[0] == "name":
                nodes += [self.named(name) for name in self.many(self.take())]
            else:
                nodes.append(self.sum())
            if self.peek()[1] != ",":
                break
            self.take(",")
        self.take(")")
        self.depth -= 1
        return lambda scope: function([as_number(node(scope)) for node in nodes])

    def of_prints(self, function: Callable[[Sequence[str]], Value]) -> Node:
        """Parse names, for their prints, and words."""
        parts = list[tuple[str, str]]()
        while True:
            kind, token = self.peek()
            self.take()
            if kind not in {"name", "words"}:
                raise self.wrong("expected a name", token)
            parts += [(kind, name) for name in self.many(token)] if kind == "name" else [(kind, token)]
            if self.peek()[1] != ",":
                break
            self.take(",")
        self.take(")")
        self.depth -= 1
        self.names += [token for kind, token in parts if kind == "name"]
        return lambda scope: function([scope.text(token) if kind == "name" else token for kind, token in parts])

    def many(self, pattern: str) -> list[str]:
        matches = [name for name in self.known if fnmatchcase(name, pattern) and name.count(".") == pattern.count(".")]
        if not matches:
            raise self.wrong("expected a name of the file", pattern)
        return matches


def arithmetic(sign: str, left: Node, right: Node) -> Node:
    operation = ARITHMETIC[sign]
    return lambda scope: operation(as_number(left(scope)), as_number(right(scope)))
