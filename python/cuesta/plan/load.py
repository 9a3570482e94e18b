"""Merges settings from all sources: default < cuesta.toml < plan < environment CUESTA_* < flag < keyword.

Without plan and tape it is the main job, whose plan counts as a default: cuesta.toml overrides it. Its tape is typed at
the built-in host alone: at another target, somebody must say what is typed there.

`SETTINGS` are those that the environment and flags can set: the schema's fields with a `Flag`.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from cuesta.errors import InputError, UsageError
from cuesta.foreign_files import TooLongError, read_text
from cuesta.plan.messages import distinct, message, place, plan_error
from cuesta.plan.offered_tape import refuse_without_tape
from cuesta.plan.reading import as_written
from cuesta.plan.schema import SHARED_BY_GROUPS, Group, Settings, flags
from cuesta.plan.sessions import add_other_sessions
from cuesta.plan.sweep import FILES, TAPES, Step, flatten, set_setting, split_axis, steps
from cuesta.shipped_tapes import PREFIX as BUILTIN
from cuesta.shipped_tapes import locate_tape
from cuesta.target import BUILTIN_HOST
from cuesta.validation import suggest

MAIN_JOB = Path(__file__).parent.parent / "tapes" / "interactive.toml"
PROJECT_FILE = "cuesta.toml"
PREFIX = "CUESTA_"
DEBUG = "CUESTA_DEBUG"
"""Not a setting: it makes errors print a traceback."""
SETTINGS = tuple(flags(Group, Settings))
TABLES = ("host", "secrets", "validity")
"""Tables of a plan that are merged entry by entry: the file, flag or keyword that is read later may set some."""
SEVERAL = ("users", "sessions", "load", "think", "key_rate", "line_speed", "stagger")
"""Settings whose flag may have several values, separated by commas: a sweep."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps that one run of the driver plays, while the users stay connected."""

    first: int
    """Number of its first step in the plan."""
    steps: tuple[Step, ...]

    @property
    def folder(self) -> str:
        """The subfolder of the run folder that has its records."""
        return "." if self.first == 0 else f"segment-{self.first}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked plan: all settings, and the steps."""

    source: str
    """The file or tape that it is from, for messages."""
    settings: Settings
    steps: tuple[Step, ...]
    command: tuple[str, ...] = ()
    """What asked for it, for the record."""
    here: Path = Path()
    """The folder in which the programs of a run start."""

    def segments(self) -> tuple[Segment, ...]:
        """Group consecutive steps that can share their lines."""
        firsts = [i for i, step in enumerate(self.steps) if i == 0 or not step.keeps_lines_of(self.steps[i - 1])]
        ends = [*firsts[1:], len(self.steps)]
        return tuple(Segment(first, self.steps[first:end]) for first, end in zip(firsts, ends, strict=True))

    def with_step(self, step: Step) -> Self:
        """The same plan with this step alone."""
        return replace(self, settings=step.settings, steps=(step,))


@dataclass(frozen=True, slots=True)
class RawOptions:
    """The command's file, flags and environment, before they are parsed."""

    plan: Path | None = None
    tape: str | None = None
    flags: Mapping[str, object] = field(default_factory=dict)
    """By the names of SETTINGS; also `limits` (a list), and `host` and `secrets` (tables)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    keywords: Mapping[str, object] = field(default_factory=dict)
    """Any settings of the schema, as values of Python (`keywords.py`); they override flags."""
    command: tuple[str, ...] = ()


def load(options: RawOptions, here: Path) -> Plan:
    """Read, merge and check everything. Paths in flags are relative to `here`, which may have a cuesta.toml."""
    keywords = _keywords(options.keywords, here)
    environment = _environment(options.environment)
    if options.tape:
        environment.pop("tape", None)  # a tape that is named overrides the environment, as a flag does
    tape = None if options.plan else options.tape or options.flags.get("tape") or environment.get("tape")
    groups = {"group": keywords.pop("group")} if "group" in keywords else {}
    source = str(options.plan or tape or ("keywords" if groups else "the main job"))
    _check_layer(groups, str)
    if options.plan or tape or groups:
        own = _read(options.plan) if options.plan else {"tape": _located("tape", tape, here)} if tape else {}
        raw = _merge(_project(here), {**own, **groups})
    else:
        raw = _merge(_read(MAIN_JOB), _project(here))
    if tape:
        raw.setdefault("name", _name_of(str(tape)))
    _override(raw, environment, _variable, here)
    _override(raw, options.flags, _flag, here)
    _override(raw, keywords, str, here)
    try:
        settings = Settings.model_validate(add_other_sessions(raw))
    except ValidationError as error:
        raise plan_error(source, raw, error) from None
    plan = Plan(
        source,
        settings,
        steps(source, raw, settings.sweep) if settings.sweep else (Step({}, settings),),
        options.command,
        here,
    )
    for group in (group for step in plan.steps for group in step.settings.group):
        if group.target != BUILTIN_HOST and "tape" not in group.model_fields_set:
            refuse_without_tape(group.target, options.plan)
    return plan


def _name_of(tape: str) -> str:
    stem = Path(tape.removeprefix(BUILTIN)).stem
    return re.sub(r"[^\w.-]+", "-", stem, flags=re.ASCII)[:64] or "run"


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = tomllib.loads(read_text(path))
    except (OSError, TooLongError, UnicodeDecodeError) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", str(error))
        raise InputError(f"{path}: cannot read the plan: {why}") from None
    except RecursionError:
        raise InputError(f"{path}: it is not TOML: it is nested too deep") from None
    except ValueError as error:  # TOMLDecodeError, and a number of thousands of digits
        is_tape = path.suffix == ".tape"
        mend = (
            f'a plan names a tape: tape = "{path.name}"' if is_tape else "see https://toml.io for how TOML is written"
        )
        raise InputError(f"{path}: it is not TOML: {error}", mend) from None
    _anchor(raw, path.parent.resolve())
    return raw


def _project(here: Path) -> dict[str, Any]:
    path = here / PROJECT_FILE
    raw = _read(path) if path.is_file() else {}
    if "group" in raw or "sweep" in raw:
        raise InputError(f"{path}: groups and sweeps belong in a plan", "keep here only what holds for every run")
    return raw


def _anchor(raw: dict[str, Any], folder: Path) -> None:
    """Make paths absolute: those in a plan are relative to the plan's folder."""

    def anchored(key: str, value: object) -> object:
        names = [name.rpartition(".")[2] for name in split_axis(key)]
        if len(names) == 1 or not isinstance(value, list):
            return _located(names[0], value, folder)
        return [_together(each, names, folder) for each in value]

    groups, published = (_tables(raw.get(name)) for name in ("group", "published_table"))
    conditions = [each for table in published for each in (table.get("when"), *_values_of(table.get("rows")))]
    for table in (raw, raw.get("sweep"), *groups, *published, *conditions):
        if isinstance(table, dict):
            table.update({key: anchored(key, value) for key, value in table.items()})


def _located(name: str, value: object, folder: Path) -> object:
    """The value of a setting, or its values: names of files as paths, other values as they are."""
    if name not in (*FILES, "table"):
        return value
    if isinstance(value, list):
        return [_located(name, each, folder) for each in value]
    if not isinstance(value, str) or not value.strip():
        return value  # the schema reports it
    return locate_tape(value, folder) if name in TAPES else str(folder / value)


def _tables(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _values_of(table: object) -> list[object]:
    return [*table.values()] if isinstance(table, dict) else []


def _together(values: object, names: Sequence[str], folder: Path) -> object:
    """Values of settings that are swept together."""
    if not isinstance(values, list) or len(values) != len(names):
        return values  # the sweep reports it
    return [_located(name, value, folder) for name, value in zip(names, values, strict=True)]


def _merge(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    """Merge two files, `upper` first; settings of groups at the top are copied into every group."""
    raw = {**lower, **upper}
    for table in TABLES:
        below, above = lower.get(table), upper.get(table)
        if isinstance(below, dict) and isinstance(above, dict):
            raw[table] = {**below, **above}
    shared = {key: raw.pop(key) for key in list(raw) if key in SHARED_BY_GROUPS}
    groups = raw.get("group", [{}])
    if isinstance(groups, list):
        raw["group"] = [{**shared, **group} if isinstance(group, dict) else group for group in groups]
    if isinstance(raw.get("sweep"), dict):
        raw["sweep"] = dict(flatten(raw["sweep"]))
    return raw


def _environment(environment: Mapping[str, str]) -> dict[str, object]:
    names = {_variable(name): name for name in SETTINGS}
    ours = {variable: value for variable, value in environment.items() if variable.startswith(PREFIX)}
    for variable in ours:
        if variable not in names and variable != DEBUG:
            raise UsageError(f"{variable}: no such setting{suggest(variable, [*names, DEBUG])}")
    return {names[variable]: value for variable, value in ours.items() if variable in names}


def _keywords(keywords: Mapping[str, object], here: Path) -> dict[str, Any]:
    """Keywords as a plan in `here` writes them."""
    known = dict.fromkeys((*Settings.model_fields, *SHARED_BY_GROUPS))
    for name in keywords:
        if name not in known:
            raise UsageError(f"{name}: no such setting{suggest(name, known)}")
    raw: dict[str, Any] = {name: as_written(value) for name, value in keywords.items()}
    _anchor(raw, here.resolve())
    if isinstance(raw.get("sweep"), dict):
        raw["sweep"] = dict(flatten(raw["sweep"]))
    return raw


def _override(raw: dict[str, Any], layer: Mapping[str, object], spell: Callable[[str], str], here: Path) -> None:
    """Merge flags or the environment into a plan. One value replaces the plan's sweep of it; limits are added."""
    _check_layer(layer, spell)
    groups = raw["group"]
    tables = [raw.get(name, {}) for name in (*TABLES, "sweep")]
    if not isinstance(groups, list) or not isinstance(raw.get("limits", []), list):
        return  # the schema reports it
    if not all(isinstance(table, dict) for table in (*groups, *tables)):
        return
    for name, value in layer.items():
        if name == "limits" and isinstance(value, list):
            raw["limits"] = [*raw.get("limits", []), *value]
        elif name in (*TABLES, "sweep") and isinstance(value, dict):
            raw[name] = {**raw.get(name, {}), **value}
        elif values := _values(name, value):
            _drop_axes(raw, name)
            raw["sweep"] = {**raw.get("sweep", {}), name: values}
        else:
            set_setting(raw, name, _located(name, value, here))
            _drop_axes(raw, name)


def _drop_axes(raw: dict[str, Any], name: str) -> None:
    if isinstance(swept := raw.get("sweep"), dict):
        axes = {axis: [each.rpartition(".")[2] for each in split_axis(axis)] for axis in swept}
        if together := next((axis for axis, names in axes.items() if len(names) > 1 and name in names), None):
            raise UsageError(f"the plan sweeps {together} together", "sweep or set it in the plan")
        raw["sweep"] = {axis: values for axis, values in swept.items() if axes[axis] != [name]}


def _check_layer(layer: Mapping[str, object], spell: Callable[[str], str]) -> None:
    for name, value in layer.items():
        for each in _values(name, value) or (value,):
            _check(spell(name), name, each)


def _check(flag: str, name: str, value: object) -> None:
    """Check a flag by itself, so that the message names the flag instead of a setting of the plan."""
    raw = {"group": [{name: value}]} if name in SHARED_BY_GROUPS else {name: value}
    try:
        Settings.model_validate(raw)
    except ValidationError as error:
        rows = (f"{_place(flag, raw, detail['loc'])}: {message(detail)}" for detail in distinct(error))
        raise UsageError("\n".join(rows)) from None


def _place(flag: str, raw: Mapping[str, object], loc: Sequence[int | str]) -> str:
    """Where a wrong value is: a flag or variable, an entry of one (`--host delay`), or of a keyword (`host.delay`)."""
    if loc[0] == "host" and flag == "--host":
        return f"{flag} {loc[-1]}"
    return place(raw, loc) if loc[0] == flag and flag != "limits" else flag


def _values(name: str, value: object) -> list[object] | None:
    """The values of a flag or keyword that sweeps (`--users 10,50,150`); None if it has one value."""
    if name not in SEVERAL:
        return None
    if isinstance(value, list):
        return value
    return [each.strip() for each in value.split(",")] if isinstance(value, str) and "," in value else None


def _flag(name: str) -> str:
    return {"limits": "--limit", "secrets": "--secret"}.get(name, f"--{name.replace('_', '-')}")


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"
