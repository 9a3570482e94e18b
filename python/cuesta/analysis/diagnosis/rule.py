"""How a cause is declared: a function from what was observed to its evidence, and what docs/causes.md says of it."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from cuesta.analysis.diagnosis.observed import Observed
from cuesta.figures.causes import Cause


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks for a cause."""

    evidence: str
    certain: bool = True
    """Whether it tells the cause apart from others."""


Find = Callable[[Observed], Finding | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A cause, and how it is recognized."""

    name: str
    find: Find
    setting: str
    """What to change, and where."""
    outside: str
    """How it shows from outside, for docs/causes.md."""
    host: str
    """How it shows in the host's counters, if it does."""
    proved: str
    """What the rule was proved against."""

    def apply(self, observed: Observed) -> Cause | None:
        found = self.find(observed)
        return Cause(self.name, found.certain, found.evidence, self.setting) if found else None


def cause(name: str, *, setting: str, outside: str, proved: str, host: str = "") -> Callable[[Find], Rule]:
    """Declare a cause, which the decorated function recognizes: it becomes the rule."""

    def declare(find: Find) -> Rule:
        return Rule(name, find, setting, outside, host, proved)

    return declare


def list_rules(family: ModuleType) -> list[Rule]:
    """The rules of a file, in its order."""
    return [each for each in vars(family).values() if isinstance(each, Rule)]
