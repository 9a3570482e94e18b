"""Ledgers as text: cases that `tests/cli/test_ledger.py` does not cover."""

import datetime
import json

import pytest

from cuesta.analysis.history.projection import Ledger, MeasuredSystem, build_ledger
from cuesta.ledger.goals import Improvement
from cuesta.report.ledger import data, text

DAY = datetime.date(2026, 1, 1)


def made(*systems: MeasuredSystem, improvements: tuple[Improvement, ...] = (), goal: float | None = None) -> Ledger:
    return build_ledger("title\x1b[2J", "", "s", systems, improvements, None, goal)


def test_a_long_base_is_named_above_and_control_codes_are_removed() -> None:
    out = text(
        made(MeasuredSystem("Debian 12, Linux 6.18", DAY, 3.0, grade="certified"), MeasuredSystem("b", DAY, 1.5))
    )
    assert out.splitlines() == [
        "title�[2J",
        "base: Debian 12, Linux 6.18, 2026-01-01",
        "",
        "system                 date          elapsed s      % of base  grade",
        "Debian 12, Linux 6.18  2026-01-01         3.00         100.00  certified",
        "b                      2026-01-01         1.50          50.00",
    ]


def test_a_release_that_gained_more_than_planned_is_reported() -> None:
    hoped = Improvement(name="it", saves="10%")
    out = text(made(MeasuredSystem("a", DAY, 100.0), MeasuredSystem("b", DAY, 80.0, ("it",)), improvements=(hoped,)))
    assert "measured 80.00 s, expected 90.00: 11.1 % shorter; it saved 20.0 % of a, and 10.0 % was planned" in out
    assert "re-based" not in out  # no improvement remains to be projected


def test_an_empty_ledger_says_so() -> None:
    assert text(made()).endswith("none yet")


def test_a_ledger_is_json() -> None:
    ledger = made(MeasuredSystem("a", DAY, 100.0), improvements=(Improvement(name="it", saves="10-20%"),), goal=85.0)
    planned = json.loads(json.dumps(data(ledger)))["planned"]
    assert planned["improvements"][0]["elapsed"] == {"mean": 85.0, "low": 80.0, "high": 90.0}
    assert planned["goal"]["met"] is True


RUNS = (3.0, 3.02, 2.98, 3.01, 2.99)


def test_a_percentage_over_runs_has_its_interval() -> None:
    faster = tuple(each / 2 for each in RUNS)
    ledger = made(MeasuredSystem("a", DAY, 3.0, runs=RUNS), MeasuredSystem("b", DAY, 1.5, runs=faster))
    assert text(ledger).splitlines()[2:] == [
        "system  date          elapsed s         % of a  95 % interval",
        "a       2026-01-01         3.00         100.00",
        "b       2026-01-01         1.50          50.00  49.50 .. 50.50",
    ]
    assert data(ledger)["systems"][1]["percent_interval"] == pytest.approx([49.5, 50.5], abs=0.05)


@pytest.mark.parametrize(("base", "new"), [(RUNS[:1], RUNS), (RUNS, RUNS[:1]), ((), RUNS[:1])])
def test_one_run_gives_no_percentage(base: tuple[float, ...], new: tuple[float, ...]) -> None:
    ledger = made(MeasuredSystem("a", DAY, 3.0, runs=base), MeasuredSystem("b", DAY, 1.5, runs=new))
    assert data(ledger)["systems"][1]["percent"] is None
    row, note = text(ledger).splitlines()[-2:]
    assert row.split() == ["b", "2026-01-01", "1.50", "—"]
    assert note == "— no percentage: it has an interval over runs, which takes 4 of each system"


def test_printed_values_are_used_without_change() -> None:
    ledger = made(MeasuredSystem("1974", DAY, 3.0), MeasuredSystem("b", DAY, 1.5, runs=RUNS))
    assert data(ledger)["systems"][1]["percent"] == pytest.approx(50.0)
