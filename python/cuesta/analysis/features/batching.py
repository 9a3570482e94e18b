"""Gains and costs of batching packets, in sweeps of `tmux`, `defer` or `align`.

Each setting is compared with the steps of the same configuration that have none of the three. Steps that differ only in
`seed` are repeats. Figures differ significantly if there are at least REPEATS of each and their ranges are disjoint.

A key that `align` puts off is due when the grid says, so that its wait for the grid is in no measured figure. Half the
grid, which is its mean for keys at any time, is added to the response here: computed, not measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import comb
from statistics import median
from typing import Literal

from cuesta import _native
from cuesta.analysis.planned import last_part
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE
from cuesta.figures.step import StepFigures

ALIGN = "align"
SETTINGS = ("tmux", "defer", ALIGN)
OFF = "off"
NO_CONFIGURATION = ("users", "seed", "settle", "measure")
"""Swept settings in which steps of one configuration may differ."""
CPU, PACKETS = "host.cpu_per_keystroke", "wire.packets_per_keystroke"
RESPONSE, ECHO = "response.mean", "echo.mean"
REPEATS = 4
"""The fewest repeats whose ranges are compared: with two, those of equal figures are disjoint in a third of cases."""
FALSE_ALARM = 2 / comb(2 * REPEATS, REPEATS)
"""The probability of disjoint ranges of equal figures: two of all orders of both sides' values."""

SettingValues = tuple[tuple[str, str], ...]
"""Settings, each with its value."""


@dataclass(frozen=True, slots=True)
class Spread:
    values: Sequence[float]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)


@dataclass(frozen=True, slots=True)
class Change:
    without: Spread
    with_setting: Spread

    @property
    def verdict(self) -> Literal["less", "more", "not told apart"]:
        if min(len(self.without.values), len(self.with_setting.values)) < REPEATS:
            return "not told apart"
        if self.with_setting.high < self.without.low:
            return "less"
        return "more" if self.with_setting.low > self.without.high else "not told apart"

    @property
    def is_less(self) -> bool:
        return self.verdict == "less"

    @property
    def is_more(self) -> bool:
        return self.verdict == "more"

    @property
    def share(self) -> float:
        return self.with_setting.median / self.without.median - 1 if self.without.median else 0.0

    @property
    def difference(self) -> float:
        return self.with_setting.median - self.without.median


@dataclass(frozen=True, slots=True)
class LoadChanges:
    """The changes by a setting at one number of users; None if not measured."""

    users: int
    cpu: Change | None
    """Host CPU per key, seconds."""
    response: Change | None
    """The mean, with the mean wait for the grid of `align`, seconds."""
    packets: Change | None
    """Packets on the wire per key."""


@dataclass(frozen=True, slots=True)
class Saving:
    """A share of the host's CPU per key that an effect saves."""

    share: float
    users: int
    by: "Effect"


@dataclass(frozen=True, slots=True)
class Effect:
    """The changes by a setting in one configuration, by number of users."""

    setting: SettingValues
    """Those of SETTINGS that are not off."""
    configuration: SettingValues
    """The other swept settings."""
    loads: Sequence[LoadChanges]

    @property
    def saves_from(self) -> int | None:
        """The least number of users from which on all measured loads take less CPU per key."""
        saving = takewhile(lambda load: load.cpu and load.cpu.is_less, reversed(self.loads))
        return min((load.users for load in saving), default=None)

    @property
    def most_saved(self) -> Saving | None:
        """The largest relative saving of CPU per key; None without any."""
        shares = [Saving(-load.cpu.share, load.users, self) for load in self.loads if load.cpu and load.cpu.is_less]
        return max(shares, default=None, key=lambda saving: saving.share)

    @property
    def is_repeated(self) -> bool:
        """Whether any figure has REPEATS on both sides."""
        changes = [change for load in self.loads for change in (load.cpu, load.response, load.packets) if change]
        return any(min(len(each.without.values), len(each.with_setting.values)) >= REPEATS for each in changes)


def find_effects(summary: Summary) -> list[Effect]:
    """Compare every setting with none, configuration by configuration; steps that are in doubt do not count."""
    return compare_settings(summary.undoubted)


def has_only_doubted(summary: Summary) -> bool:
    """Whether steps could be compared, were they not in doubt."""
    return not find_effects(summary) and bool(compare_settings([step for step in summary.steps if step.seconds]))


def compare_settings(steps: Sequence[StepFigures]) -> list[Effect]:
    groups = dict[tuple[SettingValues, SettingValues], list[StepFigures]]()
    for step in steps:
        groups.setdefault((read_configuration(step), read_compared_settings(step)), []).append(step)
    effects = [
        Effect(setting, configuration, compare_loads(groups[configuration, ()], steps))
        for (configuration, setting), steps in groups.items()
        if setting and (configuration, ()) in groups
    ]
    return [effect for effect in effects if effect.loads]


def read_compared_settings(step: StepFigures) -> SettingValues:
    """Those of SETTINGS that are swept and not off in a step."""
    swept = ((last_part(name), str(value)) for name, value in step.swept.items())
    return tuple((name, value) for name, value in swept if name in SETTINGS and value != OFF)


def read_configuration(step: StepFigures) -> SettingValues:
    return tuple(
        (name, str(value))
        for name, value in step.swept.items()
        if last_part(name) not in (*SETTINGS, *NO_CONFIGURATION)
    )


def compare_loads(without: Sequence[StepFigures], with_setting: Sequence[StepFigures]) -> list[LoadChanges]:
    """Compare at the numbers of users that both were measured with."""
    users = sorted({step.users for step in without} & {step.users for step in with_setting})
    response = RESPONSE if any(step.response.count for step in (*without, *with_setting)) else ECHO
    return [
        LoadChanges(number, *(compare_at(name, number, without, with_setting) for name in (CPU, response, PACKETS)))
        for number in users
    ]


def compare_at(
    name: str, users: int, without: Sequence[StepFigures], with_setting: Sequence[StepFigures]
) -> Change | None:
    both = collect_spread(name, users, without), collect_spread(name, users, with_setting)
    return Change(*both) if both[0].values and both[1].values else None


def collect_spread(name: str, users: int, steps: Sequence[StepFigures]) -> Spread:
    values = (take_figure(name, step) for step in steps if step.users == users)
    return Spread([value for value in values if value is not None])


def take_figure(name: str, step: StepFigures) -> float | None:
    """A figure of a step; a response with the mean wait for the grid, unknown if one group has its own."""
    value = CATALOGUE[name].take_from(step)
    if value is None or name not in (RESPONSE, ECHO):
        return value
    grids = {axis: str(grid) for axis, grid in step.swept.items() if last_part(axis) == ALIGN and grid != OFF}
    if grids.keys() - {ALIGN}:
        return None
    return value + sum(_native.duration(grid) for grid in grids.values()) / 2e9


def list_points(
    effects: Sequence[Effect], users: int
) -> Mapping[tuple[SettingValues, SettingValues], tuple[Spread, Spread]]:
    """Response and host CPU per key at a number of users, by configuration and setting; () is none."""
    points = dict[tuple[SettingValues, SettingValues], tuple[Spread, Spread]]()
    for effect in effects:
        for load in effect.loads:
            if load.users == users and load.cpu and load.response:
                points[effect.configuration, ()] = load.response.without, load.cpu.without
                points[effect.configuration, effect.setting] = load.response.with_setting, load.cpu.with_setting
    return points
