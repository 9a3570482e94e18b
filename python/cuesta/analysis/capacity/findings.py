"""What limits the host, in one sentence of each kind.

The text of a finding is the sentence. `Saturated`, `OnTheLine` and `Unlimited` are answers; `Conflicting` says that
meters and response disagree, `Undecided` that the records cannot tell, `OfTheDriver` that the driver was the limit,
`FewUsers` that a search for a rate had too few users, `GaveOut` that a search ended where the host stopped working.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cuesta.analysis.capacity.resources import Kind, Resource
from cuesta.units import digits, seconds, share

LONG_WAIT = 0.25
"""Share of a response from which on waiting is worth a word."""
NOTICEABLE = 5e-3
"""Seconds below which a part of a response does not matter: a tick of the kernel's scheduler."""


class Finding(Protocol):
    """One sentence on what limits the host."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Saturated:
    """A resource is busy about all the time, and the response agrees."""

    resource: Resource
    at: str
    """The load in words: `412 users`."""
    unit: str
    response: float

    def __str__(self) -> str:
        of = self.resource
        beside = f", {of.note}" if of.note and of.kind != Kind.DISK else ""
        costs = "" if of.demand is None else f"; a {self.unit} costs {seconds(of.demand)} of {pronoun(of)}"
        takes = (
            f", and its {'response' if self.unit == 'transaction' else 'echo'} takes {seconds(self.response)}"
            if costs
            else ""
        )
        return f"{of.name}: {share(of.busy)} {state(of)} at {self.at}{beside}{costs}{takes}"


def state(of: Resource) -> str:
    return "full" if of.kind == Kind.BUFFERS else "busy"


def pronoun(of: Resource) -> str:
    return "them" if of.name.endswith("s") else "it"


@dataclass(frozen=True, slots=True)
class OnTheLine:
    """Most of a response is the time of its characters on the user's own line."""

    line: float
    response: float
    characters: float
    is_exact: bool
    baud: int

    def __str__(self) -> str:
        about = "" if self.is_exact else "about "
        of = f"{number(self.line, self.response)} of {seconds(self.response)}"
        return f"the line: {of} are {about}{digits_of(self.characters)} characters at {self.baud} baud"


def number(part: float, whole: float) -> str:
    """A duration in the unit of a longer one, without the unit if both share it: `310` of `319 ms`."""
    written, unit = seconds(part).rsplit(" ", 1)
    return written if seconds(whole).endswith(f" {unit}") else f"{written} {unit}"


def digits_of(characters: float) -> str:
    return f"{round(characters):,}" if characters >= 9.5 else digits(characters)


@dataclass(frozen=True, slots=True)
class Unlimited:
    """Nothing that is metered is near its limit, and the response shows no waiting that is not explained."""

    most: Resource | None
    """The resource of which the host uses the largest share."""
    at: str
    response: float
    waiting: float
    """Seconds of the response in which the user waits for that resource."""
    own_pace: float
    one: str = "a response"
    saturates: float | None = None
    """N*: the number of users at which a resource saturates, if a sweep tells."""
    beside: Resource | None = None
    """A resource that others than the host keep busy, and that its users do not wait for."""
    held: float = 0.0
    """Seconds of the response for which TMux holds its segments."""

    def __str__(self) -> str:
        of = self.most
        uses = f"what the host uses most at {self.at} is {of.name} ({share(of.used)})" if of else f"at {self.at}"
        is_long = self.waiting >= max(LONG_WAIT * self.response, NOTICEABLE)
        waits = f" ({seconds(self.waiting)} of it waiting for that)" if is_long else ""
        held = f" ({seconds(self.held)} of it in TMux's agents)" if self.held >= LONG_WAIT * self.response else ""
        pace = f" beside {seconds(self.own_pace)} of thinking and typing" if self.own_pace > 0 else ""
        then = f"; saturation at about {digits_of(self.saturates)} users" if self.saturates else ""
        others = f", though others keep {self.beside.name} {share(self.beside.busy)} busy" if self.beside else ""
        return f"nothing: {uses}; {self.one} takes {seconds(self.response)}{waits}{held}{pace}{others}{then}"


@dataclass(frozen=True, slots=True)
class Conflicting:
    """Meters and response disagree."""

    what: str
    next: Sequence[str]
    """What to meter next, the likeliest first."""

    def __str__(self) -> str:
        return f"CONFLICT: {self.what}; meter {listed(self.next)} next"


def listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True, slots=True)
class OfTheDriver:
    """The driver was the limit: what the host can do was not reached, or not seen."""

    why: str
    at: str
    advice: str

    def __str__(self) -> str:
        return f"the driver, not the host, at {self.at}: {self.why}; {self.advice}"


@dataclass(frozen=True, slots=True)
class FewUsers:
    """The users of an open load were too few for its rate: what the host can do was not reached."""

    why: str
    at: str

    def __str__(self) -> str:
        return f"the number of users, not the host, at {self.at}: {self.why}; use more --users"


@dataclass(frozen=True, slots=True)
class GaveOut:
    """Beyond the limit that a search found, the host did not become slow but stopped working."""

    why: str
    at: str
    busy: Resource | None = None
    """What was busy all the time then, if it was metered."""

    def __str__(self) -> str:
        beside = f"; {self.busy.name}: {share(self.busy.busy)} {state(self.busy)}" if self.busy else ""
        return f"the host gave out at {self.at}: {self.why}{beside}"


@dataclass(frozen=True, slots=True)
class Undecided:
    """The records cannot tell."""

    why: str
    advice: str

    def __str__(self) -> str:
        return f"not known: {self.why}; {self.advice}" if self.advice else f"not known: {self.why}"
