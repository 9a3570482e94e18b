"""Expands a sweep into steps, one for each combination of values, and tells which steps share a run of the driver.

The last axis varies fastest; an axis of several settings changes them together. Users stay connected between steps that
differ only in settings that may change per step (users, load, think time, …); a step with other lines, tapes, seed,
host or network begins a new segment.
"""

import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pydantic import ValidationError

from cuesta.errors import InputError
from cuesta.plan.fields import PER_STEP
from cuesta.plan.messages import plan_error
from cuesta.plan.schema import SHARED_BY_GROUPS, Group, Host, Settings, driver_settings
from cuesta.plan.sessions import add_other_sessions
from cuesta.validation import suggest

MOST_STEPS = 1000
TAPES = ("tape", "sessions_tape")
FILES = (*TAPES, "data")
"""Settings that name files."""
OF_A_STEP = ("settle", "measure", "seed", "tmux", "defer", "beside")


@dataclass(frozen=True, slots=True)
class Step:
    """One point of the matrix: a ramp, a settling time and a measurement interval."""

    swept: Mapping[str, object]
    """The swept settings and their values here, as written."""
    settings: Settings
    """All settings, including the swept ones."""

    def keeps_lines_of(self, other: "Step") -> bool:
        """Whether users stay connected from one step to the other."""
        return self._line_settings() == other._line_settings()

    def _line_settings(self) -> tuple[object, ...]:
        """The settings that cannot change while users stay connected."""
        may_change = {*driver_settings(Group, PER_STEP), "sessions"}
        groups = [group.model_dump(exclude=may_change) for group in self.settings.group]
        settings = self.settings
        return settings.seed, settings.host, settings.tmux, settings.defer, groups


def steps(source: str, raw: Mapping[str, Any], sweep: Mapping[str, tuple[object, ...]]) -> tuple[Step, ...]:
    """Expand `sweep` over the raw plan."""
    base = {key: value for key, value in raw.items() if key != "sweep"}
    for axis, values in sweep.items():
        _check_axis(source, base, axis, values)
    expanded = []
    for values in itertools.product(*sweep.values()):
        swept = dict(chain.from_iterable(map(_settings_of, sweep, values)))
        expanded.append(Step(swept, _settings(source, base, swept)))
        if len(expanded) > MOST_STEPS:
            raise InputError(f"{source}: sweep: over {MOST_STEPS} steps", "sweep fewer values, or in several plans")
    return tuple(expanded)


def split_axis(axis: str) -> list[str]:
    """The settings of an axis: `tmux + align` sweeps two together."""
    return [name.strip() for name in axis.split("+")]


def _settings_of(axis: str, value: Any) -> Iterator[tuple[str, object]]:
    names = split_axis(axis)
    return zip(names, value if len(names) > 1 else [value], strict=True)


def flatten(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Turn nested tables of axes into dotted names."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{path}{key}.")
        else:
            yield path + key, value


def set_setting(raw: dict[str, Any], path: str, value: object) -> None:
    """Set a dotted setting in a raw plan. Without a group's name, a setting of groups is set in all groups."""
    match path.split("."):
        case ["group", name, setting]:
            next(group for group in raw["group"] if group.get("name", "users") == name)[setting] = value
        case ["host", setting]:
            raw["host"] = {**raw.get("host", {}), setting: value}
        case ["users"]:
            put_users(raw["group"], value)
        case [setting] if setting in SHARED_BY_GROUPS:
            for group in raw["group"]:
                group[setting] = value
        case _:
            raw[path] = value


def put_users(groups: list[dict[str, Any]], total: object) -> None:
    """Set the number of users; several groups share `total` in proportion to their own numbers. Probes keep theirs."""
    groups = [group for group in groups if group.get("role") != "probe"]
    weights = [group.get("users", 1) for group in groups]
    if len(groups) <= 1 or not all(type(weight) is int and weight >= 0 for weight in weights) or not sum(weights):
        shares: list[object] = [total] * len(groups)
    else:
        shares = [*_divide(int(str(total)), weights)] if str(total).isdigit() else [total] * len(groups)
    for group, users in zip(groups, shares, strict=True):
        group["users"] = users


def setting_at(swept: Mapping[str, object], plan: Mapping[str, Any], name: str) -> str | None:
    """The value of a dotted setting in a step: as written if it is swept, else as the resolved plan has it.

    A setting of groups is the first group's. None if there is no such setting.
    """
    if name in swept:
        return str(swept[name])
    tables = (plan, *plan.get("group", ())[:1])
    if name.startswith("host."):
        tables, name = (plan.get("host", {}),), name.removeprefix("host.")
    return next((str(table[name]) for table in tables if name in table), None)


def at_load(settings: Settings, load: float) -> Step:
    """The step with another load: a rate of arrivals if the loads are open, else a number of users.

    Several groups share it in proportion to their own; probes keep theirs. Raises InputError if some loads are open and
    others are not.
    """
    groups = [group for group in settings.group if not group.is_probe]
    is_open = [group.load.kind == "open" for group in groups]
    if any(is_open) and not all(is_open):
        raise InputError("some groups have an open load, others not", "a search changes users, or a rate of arrivals")
    if all(is_open):
        whole = sum(group.load.per_s for group in groups)
        new_loads = [replace(group.load, per_s=load * group.load.per_s / whole) for group in groups]
        changed = [group.model_copy(update={"load": each}) for group, each in zip(groups, new_loads, strict=True)]
        return Step({"load": f"open:{load:g}/s"}, _with_groups(settings, changed))
    users = _divide(round(load), [group.users for group in groups])
    changed = [group.model_copy(update={"users": each}) for group, each in zip(groups, users, strict=True)]
    return Step({"users": round(load)}, _with_groups(settings, changed))


def _with_groups(settings: Settings, changed: Sequence[Group]) -> Settings:
    """The settings with groups in place of those that have their names."""
    by_name = {group.name: group for group in changed}
    return settings.model_copy(update={"group": tuple(by_name.get(each.name, each) for each in settings.group)})


def _divide(total: int, weights: list[int]) -> list[int]:
    """Divide `total` by the largest-remainder rule."""
    whole = sum(weights)
    shares = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: -(total * weights[i] % whole))
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares


def _settings(source: str, base: Mapping[str, Any], swept: Mapping[str, object]) -> Settings:
    raw = copy.deepcopy(dict(base))
    for path, value in swept.items():
        set_setting(raw, path, value)
    try:
        return Settings.model_validate(add_other_sessions(raw))
    except ValidationError as error:
        where = ", ".join(f"{path} = {value}" for path, value in swept.items())
        raise plan_error(f"{source}: sweep ({where})", raw, error) from None


def _check_axis(source: str, base: Mapping[str, Any], axis: str, values: tuple[object, ...]) -> None:
    names = [str(group.get("name", "users")) for group in base["group"]]
    known = [
        *OF_A_STEP,
        *SHARED_BY_GROUPS,
        *(f"host.{name}" for name in Host.model_fields),
        *(f"group.{group}.{name}" for group in names for name in SHARED_BY_GROUPS),
    ]
    together = split_axis(axis)
    for name in together:
        if name not in known:
            raise InputError(f"{source}: sweep.{name}: no such setting to sweep{suggest(name, known)}")
    if not values:
        raise InputError(f"{source}: sweep.{axis}: expected a list of values, got an empty one")
    if len(together) > 1 and not all(isinstance(value, list) and len(value) == len(together) for value in values):
        raise InputError(f"{source}: sweep.{axis}: expected lists of {len(together)} values, one for each setting")
