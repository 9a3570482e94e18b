"""Which systems belong to one ledger."""

from typing import Any

import pytest

from cuesta.analysis.history.ledgers import CertifiedSystem, build_ledgers
from cuesta.errors import InputError
from cuesta.ledger.goals import Goals, Improvement
from cuesta.ledger.record import CertificationSetup, Method, Record, RecordFigure, RunRow, Workload

GOALS = Goals(
    title="ours",
    plan="benchmark",
    unit="min",
    goal="1",
    improvement=[Improvement(name="paging", saves="10%", came_with="1.1"), Improvement(name="cache", saves="20%")],
)


def part(table: type[Any], **known: object) -> Any:
    """Make a part of a record with only these fields."""
    return table.model_construct(**known)


def certified(system: str, day: int, seconds: float, users: int = 20, plan: str = "benchmark") -> CertifiedSystem:
    """Make up the fields of a benchmark's record that the ledger reads."""
    given = part(
        CertificationSetup,
        kind="benchmark",
        system=system,
        plan=plan,
        group="users",
        started=f"2026-01-{day:02}T00:00:00Z",
    )
    work = part(Workload, attached="FSIM", users=users, sha256="5da9")
    runs = [
        part(RunRow, command=RecordFigure(value=seconds + off), idle=RecordFigure(value=0.12)) for off in (-1.0, 1.0)
    ]
    method = part(Method, runs=2, excluded={})
    record = part(Record, given=given, workload=work, runs=runs, method=method, grade="certified")
    return CertifiedSystem(f"certified/{system}", record)


def test_certifications_of_a_plan_stand_with_its_goals_in_their_unit() -> None:
    several = [certified("1.1", 9, 108.0), certified("1.0", 1, 120.0)]
    (found,) = build_ledgers([GOALS], several, None, None)
    assert [(each.name, each.elapsed, each.grade) for each in found.systems] == [
        ("1.0", 2.0, "certified"),
        ("1.1", 1.8, "certified"),
    ]
    (came,) = found.outcomes
    assert (came.expected, round(came.miss, 9), came.system.zero_idle) == (1.8, 0.0, 0.12)
    assert found.rebased
    assert [each.mean for each in found.rebased.projected] == [pytest.approx(1.44)]


def test_different_workloads_are_never_listed_together() -> None:
    several = [certified("1.0", 1, 120.0), certified("1.1", 2, 108.0, users=10)]
    assert [len(each.systems) for each in build_ledgers([], several, None, None)] == [1, 1]
    with pytest.raises(InputError, match="differ in group, script, users or line"):
        list(build_ledgers([GOALS], several, None, None))


def test_systems_without_goals_have_a_ledger_of_their_own() -> None:
    several = [
        certified("1.0", 1, 120.0),
        certified("1.0", 1, 3.0, plan="other"),
        certified("1.1", 2, 2.4, plan="other"),
    ]
    ours, other = build_ledgers([GOALS], several, "1.0", None)
    assert ([each.name for each in ours.systems], [each.name for each in other.systems]) == (["1.0"], ["1.0", "1.1"])
    assert other.percent(other.systems[1].elapsed) == pytest.approx(80.0)


def test_a_base_may_be_a_folder() -> None:
    several = [certified("same", 1, 120.0), certified("same", 2, 60.0)]
    several[1] = CertifiedSystem("certified/second", several[1].record)
    (found,) = build_ledgers([GOALS], several, "certified/second", None)
    assert found.percent(found.systems[0].elapsed) == pytest.approx(200.0)
