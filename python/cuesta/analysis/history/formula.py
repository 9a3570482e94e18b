"""Formulas over printed values: `b.total.{column} = a.subject.{column} + a.loading.{column}`.

A formula is one relation: `=`, `<=`, `>=`, `divides`, or `in` a list of words. Names are dotted; `{column}` stands for
every name that fits, `a.*.total` within a function for all of them. Numbers, `+ - * / %`, brackets, these functions:

    sum min max              of numbers
    mid low high             of a printed range or bound, as an exact number
    octal text unit form     of a print: its octal digits; its characters; the word behind its number; its shape
    weekday                  of a printed date: Mon … Sun
    count(NAME, "letters")   how many of a print's characters are among these
    distinct(NAMES)          how many different prints there are

Python parses a formula, once its dotted names and its words are masked; nothing but the above is evaluated, so a
formula from a file is safe.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cuesta.analysis.quantity import Quantity, parse_unit
from cuesta.errors import InputError

if TYPE_CHECKING:
    from cuesta.analysis.history.transcript import Transcript

TOKEN = re.compile(r'"(?P<words>[^"]*)"|(?<![\w.])(?P<name>[A-Za-z_]\w*(?:\.(?:\w+|\*))*)(?P<call>\s*\()?')
HOLE = re.compile(r"\{(\w+)\}")
PATTERN = re.compile(r"[A-Za-z_{][\w{}]*(?:\.[\w{}]+)*")
RELATION = re.compile(r"(.*?)\s*(<=|>=|=|\bin\b|\bdivides\b)\s*(.*)")
DEEPEST = 200
"""Most levels of an expression."""


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


def pick_each_bound(pick: Callable[[Iterable[float]], float], values: Sequence[Quantity]) -> Quantity:
    return Quantity(*(pick(getattr(value, bound) for value in values) for bound in Quantity.__slots__))


ARITHMETIC: Mapping[type[ast.operator], Callable[[Quantity, Quantity], Quantity]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
OF_NUMBERS: Mapping[str, Callable[[Sequence[Quantity]], Quantity]] = {
    "sum": lambda values: sum(values[1:], start=values[0]),
    "min": lambda values: pick_each_bound(min, values),
    "max": lambda values: pick_each_bound(max, values),
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


Node = Callable[["Transcript"], Value]
"""Computes a value from a document's prints. Raises UnreadableError."""


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
        if match := shape.fullmatch(name):
            yield {**binding, **dict(zip(holes, match.groups(), strict=True))}


def parse(text: str, names: Sequence[str]) -> Formula:
    """Parse a formula. Raises InputError."""
    parser = Parser(text, names)
    sides = RELATION.fullmatch(parser.masked)
    if not sides:
        raise parser.wrong("expected one of = <= >= in divides")
    right = parser.read_list(sides[3]) if sides[2] == "in" else parser.read_expression(sides[3])
    return Formula(text, parser.read_expression(sides[1]), sides[2], right)


def parse_expression(text: str, names: Sequence[str]) -> Expression:
    """Parse the expression of a derived name. Raises InputError."""
    parser = Parser(text, names)
    return parser.read_expression(parser.masked)


class Parser:
    """Makes functions of the syntax trees of a formula's expressions."""

    def __init__(self, text: str, known: Sequence[str]) -> None:
        self.text, self.known = text, known
        self.tokens: dict[str, re.Match[str]] = {}
        """Names and words, by the identifier that masks them."""
        self.names: list[str] = []
        self.masked = TOKEN.sub(self.mask, text)

    def mask(self, token: re.Match[str]) -> str:
        if token["call"] or token["name"] in {"in", "divides"}:
            return token[0]
        self.tokens[identifier := f"_{len(self.tokens)}"] = token
        return identifier

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self.text}: {what}")

    def read_list(self, masked: str) -> Expression:
        if masked not in self.tokens:
            raise self.wrong("expected the name of a list after in")
        name = self.tokens[masked]["name"]
        return Expression(lambda transcript: transcript.words(name), (), True)

    def read_expression(self, masked: str) -> Expression:
        """Read a whole expression, and collect its names."""
        self.names = []
        try:
            tree = ast.parse(masked.strip(), mode="eval").body
            node = self.build(tree, 0)
        except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError) as error:
            raise self.wrong(getattr(error, "msg", "cannot be parsed")) from None
        return Expression(node, tuple(self.names), isinstance(tree, ast.Name))

    def build(self, tree: ast.expr, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.wrong(f"expected at most {DEEPEST} levels")
        match tree:
            case ast.Constant(value=int() | float() as number):
                value = Quantity.exactly(float(number))
                return lambda _: value
            case ast.Name(id=identifier) if identifier in self.tokens:
                return self.read_token(self.tokens[identifier])
            case ast.UnaryOp(op=ast.USub()):
                inner = self.build(tree.operand, depth + 1)
                return lambda transcript: -as_number(inner(transcript))
            case ast.BinOp() if operation := ARITHMETIC.get(type(tree.op)):
                left, right = self.build(tree.left, depth + 1), self.build(tree.right, depth + 1)
                return lambda transcript: operation(as_number(left(transcript)), as_number(right(transcript)))
            case ast.Call(func=ast.Name(id=function), keywords=[]) if tree.args and function in OF_NUMBERS:
                take = OF_NUMBERS[function]
                nodes = [node for argument in tree.args for node in self.read_numbers(argument, depth + 1)]
                return lambda transcript: take([as_number(node(transcript)) for node in nodes])
            case ast.Call(func=ast.Name(id=function), keywords=[]) if tree.args and function in OF_PRINTS:
                return self.read_prints(OF_PRINTS[function], tree.args)
        functions = " ".join([*OF_NUMBERS, *OF_PRINTS])
        raise self.wrong(f"expected numbers, names, + - * / %, brackets, and the functions {functions}")

    def read_token(self, token: re.Match[str]) -> Node:
        if (words := token["words"]) is not None:
            return lambda _: words
        return self.read_name(token["name"])

    def read_name(self, name: str) -> Node:
        if name not in self.known:
            raise self.wrong(f"expected a name of the file, got {name}")
        self.names.append(name)
        return lambda transcript: transcript.quantity(name)

    def read_numbers(self, argument: ast.expr, depth: int) -> list[Node]:
        """A name with a star stands for many."""
        token = self.tokens.get(argument.id) if isinstance(argument, ast.Name) else None
        if token and "*" in (token["name"] or ""):
            return [self.read_name(name) for name in self.list_names(token["name"])]
        return [self.build(argument, depth)]

    def read_prints(self, take: Callable[[Sequence[str]], Value], arguments: Sequence[ast.expr]) -> Node:
        """The arguments are names, for their prints, and words."""
        parts = list[tuple[str, bool]]()
        for argument in arguments:
            token = self.tokens.get(argument.id) if isinstance(argument, ast.Name) else None
            if token is None:
                raise self.wrong("expected names of the file")
            names = [] if token["words"] is not None else self.list_names(token["name"])
            parts += [(name, True) for name in names] or [(token["words"], False)]
            self.names += names
        return lambda transcript: take([transcript.text(part) if is_name else part for part, is_name in parts])

    def list_names(self, pattern: str) -> list[str]:
        matches = [name for name in self.known if fnmatchcase(name, pattern) and name.count(".") == pattern.count(".")]
        if not matches:
            raise self.wrong(f"expected a name of the file, got {pattern}")
        return matches
