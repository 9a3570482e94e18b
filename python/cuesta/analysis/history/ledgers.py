"""Groups systems into ledgers: those with the same workload, and those of a file of goals."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from cuesta.analysis.history.projection import Ledger, MeasuredSystem, build_ledger
from cuesta.analysis.quantity import parse_print
from cuesta.errors import InputError
from cuesta.ledger.goals import Goals, System
from cuesta.ledger.record import Record

SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class CertifiedSystem:
    folder: str
    record: Record
    doubt: str = ""
    """Why it should not be trusted."""

    @property
    def workload(self) -> tuple[str, ...]:
        """The key of a series: facts that elapsed times of one ledger share."""
        given, work = self.record.given, self.record.workload
        return given.plan, given.group, given.kind, work.attached, str(work.users), work.sha256


def build_ledgers(
    goals: Sequence[Goals], certified: Sequence[CertifiedSystem], base: str | None, goal: float | None
) -> Iterator[Ledger]:
    """A ledger for each file of goals, and for each workload without one."""
    certified = sorted(certified, key=lambda each: each.record.given.started)
    planned_names = {each.plan for each in goals if each.plan}
    for each in goals:
        yield with_goals(each, [one for one in certified if each.plan == one.record.given.plan], base, goal)
    series: dict[tuple[str, ...], list[CertifiedSystem]] = {}
    for one in certified:
        if one.record.given.plan not in planned_names:
            series.setdefault(one.workload, []).append(one)
    for systems in series.values():
        yield without_goals(systems, base)


def with_goals(goals: Goals, certified: Sequence[CertifiedSystem], base: str | None, goal: float | None) -> Ledger:
    """Raises InputError if the certifications have unlike workloads."""
    if len({one.workload for one in certified}) > 1:
        folders = ", ".join(one.folder for one in certified)
        raise InputError(
            f"{goals.title}: certifications of plan {goals.plan} differ in group, script, users or line: {folders}",
            "give the folders of one series: their elapsed times do not belong to one ledger",
        )
    brought: dict[str | None, tuple[str, ...]] = {}
    for improvement in goals.improvement:
        brought[improvement.came_with] = (*brought.get(improvement.came_with, ()), improvement.name)
    systems = [read_system(goals, system, brought.get(system.name, ())) for system in goals.system]
    systems += measure_systems(certified, SECONDS[goals.unit], brought)
    wanted = goal if goal is not None else None if goals.goal is None else read_elapsed(goals, "goal", goals.goal)
    reference = base if has_system(base, systems) else goals.base
    return build_ledger(goals.title, goals.workload, goals.unit, systems, goals.improvement, reference, wanted)


def has_system(base: str | None, systems: Sequence[MeasuredSystem]) -> bool:
    return any(base in {each.name, each.folder} for each in systems)


def without_goals(certified: Sequence[CertifiedSystem], base: str | None) -> Ledger:
    record = certified[0].record
    work = record.workload
    what = f"{work.users} × {work.attached}, script {work.sha256[:12]}"
    title = f"{record.given.kind} of {record.given.plan}, group {record.given.group}"
    systems = list(measure_systems(certified, 1.0, {}))
    return build_ledger(title, what, "s", systems, [], base if has_system(base, systems) else None, None)


def measure_systems(
    certified: Sequence[CertifiedSystem], per: float, brought: Mapping[str | None, tuple[str, ...]]
) -> Iterator[MeasuredSystem]:
    """The systems of which anything was measured, with their elapsed times in units of `per` seconds."""
    for system in certified:
        given, elapsed = system.record.given, mean_elapsed(system.record)
        if elapsed is not None:
            yield MeasuredSystem(
                given.system,
                datetime.date.fromisoformat(given.started[:10]),
                elapsed / per,
                brought.get(given.system, ()),
                mean_idle(system.record) if given.kind == "benchmark" else None,
                system.record.grade,
                system.folder,
                system.doubt,
                tuple(seconds / per for seconds in elapsed_by_run(system.record)),
            )


def read_system(goals: Goals, system: System, brought: Sequence[str]) -> MeasuredSystem:
    idle = None if system.zero_idle is None else read_number(goals, "zero_idle", system.zero_idle) / 100
    elapsed = read_elapsed(goals, f"{system.name}: elapsed", system.elapsed)
    return MeasuredSystem(system.name, system.date, elapsed, tuple(dict.fromkeys((*system.brings, *brought))), idle)


def read_number(goals: Goals, place: str, text: str) -> float:
    """Raises InputError."""
    quantity = parse_print(text)
    if quantity is None:
        raise InputError(f"{goals.title}: {place}: expected a number, got {text}")
    return quantity.value


def read_elapsed(goals: Goals, place: str, text: str) -> float:
    """Read an elapsed time above 0. Raises InputError."""
    elapsed = read_number(goals, place, text)
    if elapsed <= 0:
        raise InputError(f"{goals.title}: {place}: expected more than 0, got {text}")
    return elapsed


def mean_elapsed(record: Record) -> float | None:
    """Mean seconds of the runs: a benchmark's makespan, or the real time of a process (MPL-17's d.1)."""
    known = elapsed_by_run(record)
    return fmean(known) if known else None


def elapsed_by_run(record: Record) -> list[float]:
    figure = "command" if record.given.kind == "benchmark" else "completion"
    values = [getattr(run, figure).value for run in record.runs]
    return [value for value in values if value is not None]


def mean_idle(record: Record) -> float | None:
    known = [run.idle.value for run in record.runs if run.idle.value is not None]
    return fmean(known) if known else None
