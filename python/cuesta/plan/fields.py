"""The types of a plan's values, each with a reader for raw values from TOML, the environment or a flag.

A reader returns the parsed value, or raises ValueError with what is wrong. Durations are whole nanoseconds.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer
from pydantic_core import PydanticCustomError

from cuesta import _native
from cuesta.figures.catalogue import CATALOGUE
from cuesta.figures.limit import Limit
from cuesta.figures.reference import Reference
from cuesta.line_kinds import SYNTAX
from cuesta.plan.engine_place import EnginePlace
from cuesta.plan.followed_users import read_path
from cuesta.plan.meter_places import hide_passwords, read_meters
from cuesta.plan.reading import number_as_text, number_reader, read_text, refuse, whole_reader
from cuesta.plan.service import Service
from cuesta.plan.typed_table import TypedTable
from cuesta.target import without_passwords
from cuesta.validation import show_value


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a type is written, for messages, for the documentation and for keywords of the library."""

    expected: str
    python: str = "str"
    """The types of Python that a keyword may have."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Marks a setting that a flag and an environment variable can set too."""

    value: str
    """The value's name in `--help`; empty = a switch; in brackets = optional, by default 0."""
    meaning: str = ""
    """Its help; by default the description of the setting."""


@dataclass(frozen=True, slots=True)
class DriverSetting:
    """Marks a setting that the driver receives under the same name (`engine/spec`)."""

    may_change: bool
    """Whether it may change from one step to the next while users stay connected."""


ALWAYS, PER_STEP = DriverSetting(may_change=False), DriverSetting(may_change=True)


def _annotate(expected: str, read: Callable[[Any], object], python: str = "str") -> tuple[BeforeValidator, Syntax]:
    """Validate with `read`. The error tells what was expected, the value, and what is wrong with it."""

    def validate(value: object) -> object:
        try:
            return read(value)
        except ValueError as error:
            text = f"expected {expected}, got {show_value(value)}"
            raise PydanticCustomError("value", "{text}", {"text": f"{text}: {error}"}) from None

    return BeforeValidator(validate), Syntax(expected, python)


def _duration(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        refuse("it is not a duration")
    return _native.duration(number_as_text(value))


def _off_or_duration(value: object) -> int | None:
    return None if value in (None, "off", False) else _duration(value)


def _show_off_or_duration(value: int | None) -> str:
    return "off" if value is None else _native.show_duration(value)


def _off_or_command(value: object) -> str | None:
    if value in (None, "off", False):
        return None
    return read_text(value) or refuse("it is empty")


def _show_off_or_text(value: str | None) -> str:
    return "off" if value is None else value


def _share(value: object) -> float:
    if isinstance(value, str) and value.strip().endswith("%"):
        return number_reader(0, 100)(value.strip()[:-1]) / 100
    return number_reader(0, 1)(value)


def _key_rate(value: object) -> float:
    bare = re.sub(r"\s*cps$", "", value.strip()) if isinstance(value, str) else value
    rate = number_reader(0, 10_000)(bare)
    return rate if rate == 0 or rate >= 0.01 else refuse("it is under 0.01")


def _switch(value: object) -> bool:
    words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    switch = value if isinstance(value, bool) else words.get(str(value).lower())
    return switch if switch is not None else refuse("it is neither")


def _bytes(value: object) -> int:
    units = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
    match = re.fullmatch(r"(\d+)\s*([kmg]ib)?", str(value).strip().lower())
    size = int(match[1]) * units[match[2] or ""] if match else refuse("it is not a size")
    return whole_reader(4096, 1 << 40)(size)


@dataclass(frozen=True, slots=True)
class Load:
    """When the next input is due: after the answer and a think time, at fixed instants, or at a given rate."""

    kind: Literal["closed", "paced", "open"]
    cycle: int = 0
    """Nanoseconds between two passes of the tape; paced only."""
    per_s: float = 0.0
    """Arrivals a second over all users of the group; open only."""
    arrivals: Literal["inputs", "sessions"] = "inputs"

    @staticmethod
    def read(value: object) -> "Load":
        """Read `closed`, `paced:200ms`, `open:30/s` or `open:30/s:sessions`."""
        kind, _, rest = read_text(value).partition(":")
        match kind:
            case "closed" if not rest:
                return Load("closed")
            case "paced":
                return Load("paced", cycle=_native.duration(rest) or refuse("a cycle is longer than 0"))
            case "open":
                return _open(*rest.partition(":")[::2])
            case _:
                return refuse("it is none of these")

    def __str__(self) -> str:
        if self.kind == "paced":
            return f"paced:{_native.show_duration(self.cycle)}"
        sessions = ":sessions" if self.arrivals == "sessions" else ""
        return f"open:{self.per_s:g}/s{sessions}" if self.kind == "open" else "closed"


def _open(rate: str, arrivals: str) -> Load:
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)/([smh])", rate)
    per_s = float(match[1]) / {"s": 1, "m": 60, "h": 3600}[match[2]] if match else refuse("a rate is written 30/s")
    if not 0 < per_s <= 1e6:
        refuse("a rate is over 0 and at most 1,000,000/s")
    match arrivals:
        case "" | "inputs":
            return Load("open", per_s=per_s)
        case "sessions":
            return Load("open", per_s=per_s, arrivals="sessions")
        case _:
            return refuse("what arrives is `inputs` or `sessions`")


@dataclass(frozen=True, slots=True)
class Stall:
    """A window in which the built-in host does nothing; nanoseconds, `at` since its start."""

    at: int
    length: int

    @staticmethod
    def read(value: object) -> "Stall":
        """Read `10s for 1.4s`."""
        at, word, length = read_text(value).partition(" for ")
        return Stall(_native.duration(at.strip()), _native.duration(length.strip())) if word else refuse("no `for`")

    def __str__(self) -> str:
        return f"{_native.show_duration(self.at)} for {_native.show_duration(self.length)}"


def _name(value: object) -> str:
    text = read_text(value)
    return text if re.fullmatch(r"[\w.-]{1,64}", text, re.ASCII) else refuse("1 to 64 of them")


def _remark(value: object) -> str:
    text = " ".join(read_text(value).split())
    return text if 0 < len(text) <= 200 else refuse("1 to 200 characters")


def _scale(value: object) -> float:
    """A number, or the seconds of a duration."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return _duration(value) / 1e9


def _setting_values(value: object) -> dict[str, str]:
    return {str(name): str(each) for name, each in value.items()} if isinstance(value, dict) else refuse("it is none")


def _number_text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        refuse("it is neither")
    return str(value).strip()


def _path(value: object) -> str:
    return read_text(value) or refuse("it is empty")


def _characters(count: int) -> Callable[[object], str]:
    def read(value: object) -> str:
        return value if isinstance(value, str) and len(value) == count else refuse(f"it is not {count} long")

    return read


def _pairs(value: object) -> str:
    return value if isinstance(value, str) and value and len(value) % 2 == 0 else refuse("it does not consist of pairs")


def _distribution(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _parsed_distribution(number_as_text(value) if is_number else read_text(value))


_parsed_distribution = cache(_native.distribution)
"""Cached, because a value is validated as a flag, as a setting and in each step."""


def _key_distribution(value: object) -> str:
    return _native.key_distribution(read_text(value))


def _target(value: object) -> str:
    text = read_text(value)
    if ":" not in text and text and shutil.which(text.split()[0]):
        refuse(f"it names no kind of line; did you mean `pty:{text}`?")
    try:
        return _native.target(text)
    except ValueError as error:
        # The error's list of kinds is left out: the message that quotes it lists them too.
        raise ValueError(without_passwords(str(error).partition(": expected host:")[0])) from None


def _stamps(value: object) -> int:
    words = {"all": 1, "none": 0}
    return words[value] if isinstance(value, str) and value in words else whole_reader(0, 1_000_000)(value)


def _figure_names(value: object) -> tuple[str, ...]:
    names = [str(name) for name in (value if isinstance(value, list | tuple) else [value])]
    unknown = next((name for name in names if name not in CATALOGUE), None)
    return tuple(names) if unknown is None else refuse(f"docs/summary.md has no figure `{unknown}`")


_as_text = PlainSerializer(str, return_type=str)
_as_duration = PlainSerializer(_native.show_duration, return_type=str)

Name = Annotated[str, *_annotate("a name of letters, digits, `.`, `_` and `-`", _name)]
Remark = Annotated[str, *_annotate("a text", _remark)]
NumberText = Annotated[str, *_annotate("a number or a duration such as `2s`", _number_text, "timedelta | float | str")]
Path = Annotated[str, *_annotate("the name of a file", _path, "Path | str")]
Key = Annotated[str, *_annotate("one character", _characters(1))]
EchoMap = Annotated[str, *_annotate("pairs of characters, typed and echoed, such as `a0b1`", _pairs)]
Switch = Annotated[bool, *_annotate("true or false", _switch, "bool")]
Share = Annotated[float, *_annotate("a share such as `1%` or 0.01", _share, "float | str")]
Seed = Annotated[int, *_annotate("a whole number", whole_reader(0, 2**63 - 1), "int | str")]
Users = Annotated[int, *_annotate("a number of users", whole_reader(0, 1_000_000), "int | str")]
Count = Annotated[int, *_annotate("a number", whole_reader(1, 1024), "int | str")]
Size = Annotated[int, *_annotate("a number of characters", whole_reader(1, 1000), "int | str")]
Baud = Annotated[
    int, *_annotate("a speed in baud, 0 = as fast as the line goes", whole_reader(0, 100_000_000), "int | str")
]
KeyRate = Annotated[float, *_annotate("keys a second such as `5cps`, 0 without pauses", _key_rate, "float | str")]
Duration = Annotated[
    int, *_annotate("a duration such as `200ms`, `2s` or `15m`", _duration, "timedelta | float | str"), _as_duration
]
OffOrDuration = Annotated[
    int | None,
    *_annotate("`off` or a duration such as `20ms`", _off_or_duration, "timedelta | float | str | None"),
    PlainSerializer(_show_off_or_duration, return_type=str),
]
OffOrCommand = Annotated[
    str | None,
    *_annotate("a command of the shell such as `make -j8`, or `off`", _off_or_command, "str | None"),
    PlainSerializer(_show_off_or_text, return_type=str),
]
DistributionText = Annotated[
    str, *_annotate("a distribution of durations such as `exp 5s`", _distribution, "timedelta | float | str")
]
KeyDistributionText = Annotated[
    str, *_annotate("a distribution of the gaps between keys such as `human`", _key_distribution)
]
Target = Annotated[str, *_annotate(SYNTAX, _target)]
METERS = (
    "`auto`, `exact`, `calls`, `plain`, `none`, `machine`, `pid:N`, `cgroup:PATH`, `cpus:0-3`, `cpus:host`, "
    "`exact:pid:N`, `ssh://HOST` or `http://HOST:9100/metrics`; of several hosts `NAME=ssh://HOST,NAME=ssh://HOST`"
)
Meters = Annotated[
    str,
    *_annotate(METERS, read_meters, "str | Sequence[str]"),
    PlainSerializer(hide_passwords, when_used="json"),
]
UserNumber = Annotated[int, *_annotate("the number of a user, from 0", whole_reader(0, 1_000_000), "int | str")]
Stamps = Annotated[int, *_annotate("`all`, `none` or N (every Nth line)", _stamps, "int | str")]
FollowedUsers = Annotated[str, *_annotate("`auto`, `none`, `1/30` (every 30th user) or the name of a group", read_path)]
Bytes = Annotated[int, *_annotate("a size such as `16MiB`", _bytes, "int | str")]
LoadText = Annotated[Load, *_annotate("`closed`, `paced:200ms` or `open:30/s`", Load.read), _as_text]
EngineText = Annotated[
    EnginePlace, *_annotate("`local`, `ray`, `ray:HOST:PORT` or `ssh:ME@HOST,ME@HOST`", EnginePlace.read), _as_text
]
StallText = Annotated[Stall, *_annotate("a window such as `10s for 1.4s`", Stall.read), _as_text]
ServiceText = Annotated[
    Service,
    *_annotate(
        "`transaction 150`, `bsc-loop`, `form 150`, `echo`, `output 1000`, `output 1000 on request`, "
        "`shell COMMAND` or `socket COMMAND`",
        Service.read,
    ),
    _as_text,
]
Scale = Annotated[float, *_annotate("a duration such as `1ms`, or a number", _scale, "timedelta | float | str")]
SettingValues = Annotated[
    dict[str, str], *_annotate("a table of settings and their values", _setting_values, "Mapping[str, object]")
]
RowSettings = Annotated[
    dict[str, SettingValues], Syntax("a table of such tables", "Mapping[str, Mapping[str, object]]")
]
FigureText = Annotated[Reference, *_annotate("a figure such as `response.p99`", Reference.read), _as_text]
FigureNames = Annotated[
    tuple[str, ...],
    *_annotate("a figure such as `response.mean`, or a list of them", _figure_names, "str | Sequence[str]"),
]
FigureColumns = Annotated[
    dict[str, FigureNames], Syntax("a table of figures, or of lists of them", "Mapping[str, str | Sequence[str]]")
]
TypedTableText = Annotated[
    TypedTable, *_annotate("a table of typed figures `FILE#TABLE`", TypedTable.read), PlainSerializer(TypedTable.json)
]
LimitText = Annotated[Limit, *_annotate("a limit such as `response.p99 < 2s`", Limit.read), _as_text]
