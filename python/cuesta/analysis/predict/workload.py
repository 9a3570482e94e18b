"""The workload of simulated users: tapes and groups of a run folder, or a plain tape for rows of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from cuesta import _native
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.errors import InputError, RefusedError
from cuesta.ledger.run_folder import read_run
from cuesta.plan.driver import driver_loads, driver_values
from cuesta.plan.fields import ALWAYS
from cuesta.plan.schema import Group, Settings
from cuesta.plan.sweep import at_load

NANO = 10**9
PLAIN = "a plain tape: keying, one request, an exponential think time"
PLAIN_TAPE = "Set TypingSpeed 0ms\nEnter@{keying:.6f}ms\nWait+Bytes 1\nThink exp {think:.6f}ms\n"


@dataclass(frozen=True, slots=True)
class Workload:
    """Groups of users, each with the tape that they play."""

    title: str
    settings: Settings
    """The plan; its groups give the proportion of users."""
    tapes: Mapping[str, _native.Tape]
    scripts: Sequence[str]
    """The name of each group's tape."""
    notes: Sequence[str] = ()
    """Differences from the recorded run, a sentence each."""

    @property
    def groups(self) -> Sequence[Group]:
        return self.settings.group

    @property
    def is_on_slow_lines(self) -> bool:
        """Whether the lines of a group may have a speed of their own."""
        return any(group.line_speed != 0 for group in self.groups)

    def with_groups(self, **changes: object) -> Self:
        """The workload with other settings in every group."""
        groups = tuple(group.model_copy(update=changes) for group in self.groups)
        return replace(self, settings=self.settings.model_copy(update={"group": groups}))

    def run_spec(self, users: int, times: "Times", seed: int) -> dict[str, Any]:
        """The driver's specification of a run with that number of users."""
        settings = at_load(self.with_groups(stagger=nanoseconds(times.stagger)).settings, users).settings
        step = {"settle": nanoseconds(times.settle), "measure": max(nanoseconds(times.measure), 1)}
        return {
            "seed": seed,
            "drain": 0,
            "groups": [
                {"name": group.name, "script": script, "target": "loopback", **driver_values(group, ALWAYS)}
                for group, script in zip(settings.group, self.scripts, strict=True)
            ],
            "steps": [{**step, "groups": [asdict(load) for load in driver_loads(settings)]}],
        }


@dataclass(frozen=True, slots=True)
class Times:
    """Lengths of a simulation, in seconds of virtual time."""

    stagger: float
    """Between the starts of two users."""
    settle: float
    measure: float


def nanoseconds(value: float) -> int:
    return round(value * NANO)


def choose_workload(at: Conditions, points: Sequence[Point]) -> Workload:
    """The workload of the nearest recorded row of the configuration, else a plain tape.

    Raises RefusedError for a table without think times, InputError for a folder that cannot be read.
    """
    own = [point for point in points if point.at.configuration == at.configuration and point.recorded]
    if not own:
        return plain_workload(at)
    nearest = min(own, key=lambda point: (abs(point.at.own_time - at.own_time), abs(point.at.users - at.users)))
    assert nearest.recorded
    return recorded_workload(*nearest.recorded)


def plain_workload(at: Conditions) -> Workload:
    """One request after a think time. Raises RefusedError for a load without think time."""
    if at.is_paced or not at.think:
        what = "the load is paced" if at.is_paced else "the load has no think time"
        raise RefusedError(
            f"a table has no tape, and {what}: nothing says when its users type",
            "simulate a run folder, or a load with a think time, such as --at users=50,think=5s",
        )
    text = PLAIN_TAPE.format(keying=1e3 * at.keying, think=1e3 * at.think)
    tape = _native.Tape.parse(text, "plain", ".")
    return Workload(PLAIN, Settings(group=(Group(name="users"),)), {"plain": tape}, ["plain"])


def recorded_workload(folder: Path, step: int) -> Workload:
    """The groups and the tapes of a step of a run folder."""
    run = read_run(folder)
    try:
        groups = tuple(Group.model_validate(each) for each in run["steps"][step]["group"])
        settings = Settings.model_validate(run["plan"]).model_copy(update={"group": groups})
        files = {name: folder / each["file"] for name, each in run["tapes"].items()}
        tapes = {name: parse_tape(path, name, groups) for name, path in files.items()}
        scripts = name_tapes(groups, settings, list(files))
    except (KeyError, IndexError, TypeError, OSError, ValidationError) as error:
        raise InputError(f"{folder}: its plan and tapes cannot be read: {error}") from None
    columns = sorted({name for tape in tapes.values() for name in tape.columns()})
    typed = f"the users' table is not in the run folder: ${{{columns[0]}}} is typed as it stands" if columns else ""
    title = f"the run's own {'tape' if len(tapes) == 1 else 'tapes'} {', '.join(tapes)}"
    return Workload(title, settings, tapes, scripts, [typed] if typed else [])


def parse_tape(path: Path, name: str, groups: Sequence[Group]) -> _native.Tape:
    """Parse a tape, with the files that it names beside the original."""
    where = next((Path(group.tape).parent for group in groups if Path(group.tape).stem == name), path.parent)
    try:
        return _native.Tape.parse(path.read_text(encoding="utf-8"), str(path), str(where))
    except _native.TapeError as error:
        raise InputError(str(error), "a simulation plays the run folder's tapes") from None


def name_tapes(groups: Sequence[Group], settings: Settings, names: Sequence[str]) -> list[str]:
    """The name of each group's tape in the run folder, which numbers tapes of one name."""
    if len(names) == 1:
        return [names[0]] * len(groups)
    sources = dict.fromkeys(group.tape for group in (*settings.group, *groups))
    known = dict(zip(sources, names, strict=False)) if len(sources) == len(names) else {}
    return [known.get(group.tape, Path(group.tape).stem) for group in groups]
