"""Groups systems into ledgers: those with the same workload, and those of a file of goals."""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from cuesta.analysis.history.projection import Ledger, MeasuredSystem, ledger
from cuesta.analysis.history.quantity import parse_print
from cuesta.errors import InputError
from cuesta.ledger.goals import Goals
from cuesta.ledger.record import Record

SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class CertifiedSystem:
    """A certification and its folder."""

    folder: str
    record: Record
    doubt: str = ""
    """Why it should not be trusted."""

    @property
    def workload(self) -> tuple[str, ...]:
        """The facts that must be equal for two elapsed times to belong to one series."""
        given, work = self.record.given, self.record.workload
        return given.plan, given.group, given.kind, work.attached, str(work.users), work.sha256


def ledgers(
    goals: Sequence[Goals], certified: Sequence[CertifiedSystem], base: str | None, goal: float | None
) -> Iterator[Ledger]:
    """Make a ledger for each file of goals, and for each workload without such a file."""
    certified = sorted(certified, key=lambda each: each.record.given.started)
    planned_names = {each.plan for each in goals if each.plan}
    for each in goals:
        yield with_goals(each, [one for one in certified if each.plan == one.record.given.plan], base, goal)
    series: dict[tuple[str, ...], list[CertifiedSystem]] = {}
    for one in certified:
        if one.record.given.plan not in planned_names:
            series.setdefault(one.workload, []).append(one)
    for several in series.values():
        yield without_goals(several, base)


def with_goals(goals: Goals, certified: Sequence[CertifiedSystem], base: str | None, goal: float | None) -> Ledger:
    """Raises InputError if the certifications have unlike workloads."""
    if len({one.workload for one in certified}) > 1:
        folders = ", ".join(one.folder for one in certified)
        raise InputError(
            f"{goals.title}: certifications of plan {goals.plan} differ in group, script, users or line: {folders}",
            "give the folders of one series: their elapsed times do not belong to one ledger",
        )
    came = {name: tuple(each.name for each in goals.improvement if each.came_with == name) for name in names(certified)}
    systems = [listed(goals, system.name) for system in goals.system] + list(rows(certified, SECONDS[goals.unit], came))
    wanted = goal if goal is not None else None if goals.goal is None else time(goals, "goal", goals.goal)
    of = base if is_there(base, systems) else goals.base
    return ledger(goals.title, goals.workload, goals.unit, systems, goals.improvement, of, wanted)


def is_there(base: str | None, systems: Sequence[MeasuredSystem]) -> bool:
    return any(base in {each.name, each.folder} for each in systems)


def without_goals(certified: Sequence[CertifiedSystem], base: str | None) -> Ledger:
    """Make the ledger of one workload."""
    record = certified[0].record
    work = record.workload
    what = f"{work.users} × {work.attached}, script {work.sha256[:12]}"
    title = f"{record.given.kind} of {record.given.plan}, group {record.given.group}"
    systems = list(rows(certified, 1.0, {}))
    return ledger(title, what, "s", systems, [], base if is_there(base, systems) else None, None)


def rows(
    certified: Sequence[CertifiedSystem], per: float, came: dict[str, tuple[str, ...]]
) -> Iterator[MeasuredSystem]:
    for one in certified:
        found = measured(one.record, one.folder, per, came.get(one.record.given.system, ()), one.doubt)
        if found:
            yield found


def names(certified: Sequence[CertifiedSystem]) -> list[str]:
    return [one.record.given.system for one in certified]


def listed(goals: Goals, name: str) -> MeasuredSystem:
    """Read a system from a file of goals."""
    system = next(each for each in goals.system if each.name == name)
    idle = None if system.zero_idle is None else number(goals, "zero_idle", system.zero_idle) / 100
    brings = (*system.brings, *(each.name for each in goals.improvement if each.came_with == name))
    elapsed = time(goals, f"{name}: elapsed", system.elapsed)
    return MeasuredSystem(name, system.date, elapsed, tuple(dict.fromkeys(brings)), idle)


def number(goals: Goals, place: str, text: str) -> float:
    """Raises InputError."""
    found = parse_print(text)
    if found is None:
        raise InputError(f"{goals.title}: {place}: expected a number, got {text}")
    return found.value


def time(goals: Goals, place: str, text: str) -> float:
    """Read an elapsed time above 0. Raises InputError."""
    found = number(goals, place, text)
    if found <= 0:
        raise InputError(f"{goals.title}: {place}: expected more than 0, got {text}")
    return found


def elapsed(record: Record) -> float | None:
    """Elapsed time of a system: the mean of the runs that count, in seconds.

    For a benchmark it is the makespan, for a certification the real time of a process (MPL-17's d.1).
    """
    known = elapsed_by_run(record)
    return fmean(known) if known else None


def elapsed_by_run(record: Record) -> list[float]:
    figure = "command" if record.given.kind == "benchmark" else "completion"
    values = [getattr(run, figure).value for run in record.runs]
    return [value for value in values if value is not None]


def idle(record: Record) -> float | None:
    """True idle as a share of the CPUs' time, the mean of the runs."""
    known = [run.idle.value for run in record.runs if run.idle.value is not None]
    return fmean(known) if known else None


def measured(
    record: Record, folder: str, per: float, brings: tuple[str, ...], doubt: str = ""
) -> MeasuredSystem | None:
    """Make a system's row, with its elapsed time in units of `per` seconds; None if nothing was measured."""
    found = elapsed(record)
    if found is None:
        return None
    given = record.given
    date = datetime.date.fromisoformat(given.started[:10])
    zero = idle(record) if given.kind == "benchmark" else None
    runs = tuple(each / per for each in elapsed_by_run(record))
    return MeasuredSystem(given.system, date, found / per, brings, zero, record.grade, folder, doubt, runs)
