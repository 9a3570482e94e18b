"""The ledger of 1974, computed again, and ledgers with known results."""

import datetime
from math import log
from pathlib import Path

import pytest

from cuesta.analysis.history.ledgers import build_ledgers
from cuesta.analysis.history.projection import Ledger, MeasuredSystem, build_ledger
from cuesta.errors import InputError
from cuesta.ledger.goals import Goals, Improvement, read_goals

GOALS = Path(__file__).parents[3] / "studies" / "benchmark" / "1974.toml"


def of_1974(base: str | None = None, goal: float | None = None) -> Ledger:
    (found,) = build_ledgers([read_goals(GOALS)], [], base, goal)
    return found


def system(name: str, day: int, elapsed: float, *brings: str) -> MeasuredSystem:
    return MeasuredSystem(name, datetime.date(2026, 1, day), elapsed, brings)


def improvement(name: str = "it", saves: str = "10%", **more: object) -> Improvement:
    return Improvement.model_validate({"name": name, "saves": saves, **more})


def small(*systems: MeasuredSystem, improvements: tuple[Improvement, ...] = (), goal: float | None = None) -> Ledger:
    return build_ledger("t", "", "s", systems, improvements, None, goal)


def test_the_systems_stand_in_percent_of_the_reference() -> None:
    found = of_1974()
    percents = [round(found.percent(each.elapsed) or 0, 2) for each in found.systems]
    assert percents == [87.46, 90.24, 100.0, 92.06, 87.85, 83.06]
    assert round(of_1974(base="20.2").percent(91.8) or 0, 1) == 100.4


def test_improvements_compound_on_the_last_system_before_them() -> None:
    planned = of_1974().planned
    assert planned
    assert planned.since.name == "23.9"
    assert [round(each.mean, 2) for each in planned.projected] == [81.70, 79.66, 79.66, 64.52, 51.62]
    last = planned.projected[-1]
    assert (round(last.shortest, 1), round(last.longest, 1)) == (43.4, 60.2)


def test_an_improvement_outside_the_benchmark_saves_none_of_its_time() -> None:
    planned = of_1974().planned
    assert planned
    backup = planned.projected[2]
    assert (backup.planned.name, backup.planned.in_benchmark, backup.planned.mean) == ("Backup", False, 0.0)


def test_the_chance_to_meet_the_goal_matches_the_exact_integral() -> None:
    planned = of_1974().planned
    assert planned
    assert planned.chance
    # Of 8–30 %, the widest estimate, the chance is linear; over the other two 1/x is integrated.
    k = 52.25 / (91.8 * 0.8) * log(0.90 / 0.88) / 0.02 * log(0.99 / 0.96) / 0.03
    exact = (k - 0.70) / 0.22
    assert round(exact, 2) == 0.55
    assert planned.chance.share == pytest.approx(exact, abs=4 * planned.chance.error)
    assert 0 < planned.chance.error < 0.001
    assert [planned.chance.low, planned.chance.high] == pytest.approx([45.3, 58.0], abs=0.2)


def test_a_measured_release_shows_its_miss_and_is_the_base_of_the_rest() -> None:
    found = of_1974()
    (came,) = found.outcomes
    assert (round(came.expected, 2), round(100 * came.miss, 1)) == (81.70, 6.2)
    assert (round(100 * came.gained, 1), round(100 * came.estimated)) == (5.4, 11)
    assert found.rebased
    assert found.rebased.chance
    assert round(found.rebased.final_elapsed, 1) == 54.8
    assert found.rebased.final_elapsed > found.rebased.chance.goal
    assert found.rebased.chance.share < 0.4
    assert next(each.planned.name for each in found.rebased.projected).startswith("MTS500")


def test_the_saving_is_the_share_saved_times_the_share_affected() -> None:
    found = small(system("a", 1, 100.0), improvements=(improvement(saves="40%", touches="10-15%"),))
    assert found.planned
    row = found.planned.projected[0]
    assert (row.mean, row.shortest, row.longest) == (95.0, 94.0, 96.0)


def test_certain_estimates_have_no_error() -> None:
    for goal, share in ((90.0, 1.0), (89.9, 0.0)):
        found = small(system("a", 1, 100.0), improvements=(improvement(),), goal=goal)
        assert found.planned
        assert found.planned.chance
        assert (found.planned.chance.share, found.planned.chance.error) == (share, 0.0)


def test_systems_that_all_have_improvements_are_projected_from_the_first_to_the_last() -> None:
    found = small(system("a", 1, 100.0), system("b", 2, 80.0, "it"), improvements=(improvement(), improvement("more")))
    assert found.planned
    assert found.rebased
    assert ([each.mean for each in found.rebased.projected], found.planned.final_elapsed) == ([72.0], 81.0)


def test_no_plan_starts_from_a_system_that_already_has_improvements() -> None:
    plans = (improvement(), improvement("more"))
    found = small(system("a", 1, 100.0, "it"), system("b", 2, 80.0), improvements=plans)
    assert found.planned is None
    assert found.rebased
    assert (found.rebased.since.name, found.rebased.final_elapsed) == ("b", 72.0)


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ({"saves": "a lot"}, "expected percent"),
        ({"saves": "120%"}, "expected percent"),
        ({"saves": "<15%"}, "expected percent"),
        ({"saves": "60-40%"}, "the lower end first"),
        ({"saves": "10%", "touches": "most"}, "touches"),
    ],
)
def test_an_invalid_estimate_is_refused(what: dict[str, str], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        small(system("a", 1, 1.0), improvements=(improvement(**what),))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="there is no such improvement"):
        small(system("a", 1, 1.0, "nothing"), improvements=(improvement(),))
    with pytest.raises(InputError, match=r"no system is called 99\.9"):
        build_ledger("t", "", "s", [system("a", 1, 1.0)], [], "99.9", None)


def test_goals_without_a_system_are_an_empty_ledger() -> None:
    (found,) = build_ledgers([Goals(title="t", improvement=[improvement()])], [], None, None)
    assert (found.systems, found.planned, found.base) == ((), None, None)
