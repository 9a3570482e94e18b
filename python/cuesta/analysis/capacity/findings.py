"""What limits the host: one class for each kind of finding, whose text is the sentence that a report shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cuesta.analysis.capacity.resources import Kind, Resource
from cuesta.units import digits, join_words, seconds, share

LONG_WAIT = 0.25
"""Share of a response from which on a sentence mentions waiting."""
NOTICEABLE = 5e-3
"""Seconds below which a part of a response does not matter: a tick of the kernel's scheduler."""


class Finding(Protocol):
    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Saturated:
    """A resource is saturated, and the response agrees."""

    resource: Resource
    at: str
    """The load in words: `412 users`."""
    unit: str
    response: float

    def __str__(self) -> str:
        metered = self.resource
        note = f", {metered.note}" if metered.note and metered.kind != Kind.DISK else ""
        busy = f"{metered.name}: {share(metered.busy)} {busy_or_full(metered)} at {self.at}{note}"
        if metered.demand is None:
            return busy
        pronoun = "them" if metered.name.endswith("s") else "it"
        answer = "response" if self.unit == "transaction" else "echo"
        costs = f"a {self.unit} costs {seconds(metered.demand)} of {pronoun}"
        return f"{busy}; {costs}, and its {answer} takes {seconds(self.response)}"


def name_most_used(resource: Resource) -> str:
    """Begins a sentence on the resource that is used most."""
    return "what the hosts use most" if resource.host else "what the host uses most"


def busy_or_full(resource: Resource) -> str:
    return "full" if resource.kind == Kind.BUFFERS else "busy"


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
        part = f"{format_part(self.line, self.response)} of {seconds(self.response)}"
        return f"the line: {part} are {about}{format_count(self.characters)} characters at {self.baud} baud"


def format_part(part: float, whole: float) -> str:
    """A duration in the unit of a longer one, without the unit if both share it: `310` of `319 ms`."""
    written, unit = seconds(part).rsplit(" ", 1)
    return written if seconds(whole).endswith(f" {unit}") else f"{written} {unit}"


def format_count(characters: float) -> str:
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
    unit: str = "a response"
    saturates: float | None = None
    """N*: the number of users at which a resource saturates, if a sweep shows it."""
    used_by_others: Resource | None = None
    """A resource that others than the host keep busy, and that its users do not wait for."""
    held: float = 0.0
    """Seconds of the response for which TMux holds its segments."""

    def __str__(self) -> str:
        most, where = self.most, f"at {self.at}"
        uses = f"{name_most_used(most)} {where} is {most.name} ({share(most.used)})" if most else where
        is_long = self.waiting >= max(LONG_WAIT * self.response, NOTICEABLE)
        waits = f" ({seconds(self.waiting)} of it waiting for that)" if is_long else ""
        held = f" ({seconds(self.held)} of it in TMux's agents)" if self.held >= LONG_WAIT * self.response else ""
        pace = f" beside {seconds(self.own_pace)} of thinking and typing" if self.own_pace > 0 else ""
        saturation = f"; saturation at about {format_count(self.saturates)} users" if self.saturates else ""
        foreign = self.used_by_others
        others = f", though others keep {foreign.name} {share(foreign.busy)} busy" if foreign else ""
        return f"nothing: {uses}; {self.unit} takes {seconds(self.response)}{waits}{held}{pace}{others}{saturation}"


@dataclass(frozen=True, slots=True)
class Conflicting:
    what: str
    next: Sequence[str]
    """What to meter next, the likeliest first."""

    def __str__(self) -> str:
        return f"CONFLICT: {self.what}; meter {join_words(self.next)} next"


@dataclass(frozen=True, slots=True)
class Followed:
    """What limits the host, and where the time of slow keys goes, whose paths were followed."""

    path: str
    limit: Finding

    def __str__(self) -> str:
        return f"{self.limit}; {self.path}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """No resource that is metered is known to be the limit, and the paths of slow keys say what they wait for."""

    path: str
    most: str
    """What the host uses most; empty if it is not known."""
    saturates: float | None = None
    """N*: the number of users at which a resource saturates, if a sweep shows it."""

    def __str__(self) -> str:
        saturation = f"saturation at about {format_count(self.saturates)} users" if self.saturates else ""
        return "; ".join(filter(None, (f"what users wait for: {self.path}", self.most, saturation)))


@dataclass(frozen=True, slots=True)
class DriverLimited:
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
        busy = f"; {self.busy.name}: {share(self.busy.busy)} {busy_or_full(self.busy)}" if self.busy else ""
        return f"the host gave out at {self.at}: {self.why}{busy}"


@dataclass(frozen=True, slots=True)
class Undecided:
    why: str
    advice: str

    def __str__(self) -> str:
        return f"not known: {self.why}; {self.advice}" if self.advice else f"not known: {self.why}"


UNMETERED = ("the driver", "what stands between it and the host, such as a terminal server")
"""Suspects that no meter of the host shows."""


def describe_saturation_conflict(response: float, resource: str, meter: float, unit: str = "users") -> Conflicting:
    """Say that a station saturates at the load `response`, and the metered `resource` at `meter`, both in `unit`."""
    response_point = f"the response says that a station saturates at {digits(response)} {unit}"
    metered = f"{resource} says {digits(meter)}"
    if response < meter:
        return Conflicting(f"{response_point}, {metered}: the station that limits it is not metered", UNMETERED)
    return Conflicting(
        f"{response_point}, but {metered}: that meter has other work too", [f"whose work {resource} does"]
    )
