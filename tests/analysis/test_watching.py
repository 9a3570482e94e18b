"""Marks, held starts, and what watching cost, as figures."""

import math
from pathlib import Path

import pytest

from cuesta.analysis.summary import Summary, summarise
from cuesta.analysis.watching import find_held
from cuesta.figures.watching import HeldStarts, MarkFigures
from cuesta.ledger import open_run
from cuesta.report.headline import list_oddities
from tests.report import made_up
from tests.run_folder import Row, RunFolder, write_rows

HELD = "starts were held"


def marked(folder: Path, *marks: tuple[float, bool | None], **fields: object) -> Path:
    """A run of two steps, each 2 s of settling and 3 s of measuring, with marks that hold or release starts."""
    made = RunFolder(folder / "run", users=(4, 8), measure=3, **fields).write()  # type: ignore[arg-type]
    holds = [{} if holds is None else {"holds_starts": holds} for _, holds in marks]
    rows: list[Row] = [{"seconds": at, "note": "x", **each} for (at, _), each in zip(marks, holds, strict=True)]
    write_rows(made / "marks.jsonl", rows)
    return made


def doubts(summary: Summary) -> list[str]:
    return [doubted.doubt.name for doubted in summary.doubts]


@pytest.mark.parametrize(
    ("marks", "held"),
    [
        ([], []),
        ([(1.0, None), (2.0, False)], []),
        ([(1.0, True), (3.0, None), (4.0, False)], [(1.0, 4.0)]),
        ([(1.0, True), (2.0, True), (4.0, False), (5.0, False)], [(1.0, 4.0)]),
        ([(1.0, True), (2.0, False), (4.0, True)], [(1.0, 2.0), (4.0, math.inf)]),
    ],
)
def test_starts_are_held_from_one_mark_to_the_next(
    tmp_path: Path, marks: list[tuple[float, bool | None]], held: list[tuple[float, float]]
) -> None:
    assert list(find_held(open_run(marked(tmp_path, *marks)))) == held


def test_a_mark_has_its_step_and_makes_no_run_invalid(tmp_path: Path) -> None:
    summary = summarise(marked(tmp_path, (0.5, None), (5.0, None), (9.999, None), (10.0, None)))
    figures = summary.figures()
    assert [mark.step for mark in figures.marks] == [0, 1, 1, None]
    assert figures.marks[0] == MarkFigures(0.5, 0, "x")
    assert figures.starts_held == []
    assert summary.valid


def test_a_time_in_which_starts_were_held_is_a_notice_with_what_of_it_was_measured(tmp_path: Path) -> None:
    """Steps are measured from 2 s to 5 s and from 7 s to 10 s."""
    summary = summarise(marked(tmp_path, (1.0, True), (1.5, False), (4.0, True), (8.0, False), (9.0, True)))
    assert summary.figures().starts_held == [
        HeldStarts(1.0, 1.5, 0.0),
        HeldStarts(4.0, 8.0, 2.0),
        HeldStarts(9.0, None, 1.0),
    ]
    assert [each for each in list_oddities(summary.last, summary) if HELD in each] == [
        "starts were held from 1.0 s to 1.5 s",
        "starts were held from 4.0 s to 8.0 s (2.0 s of it while measuring)",
        "starts were held from 9.0 s to the end (1.0 s of it while measuring)",
    ]
    assert [step.settled.held for step in summary.steps] == [0.5, 2.0]
    assert summary.valid


def test_users_who_were_missing_because_starts_were_held_are_not_the_hosts_fault(tmp_path: Path) -> None:
    def one_is_missing(row: Row) -> Row:
        return row | {"active": 3, "users": 3} if row["step"] == 0 else row

    missing = summarise(marked(tmp_path / "slow", edit=one_is_missing))
    held = summarise(marked(tmp_path / "held", (0.0, True), (6.0, False), edit=one_is_missing))
    assert doubts(missing) == doubts(held) == ["incomplete"]
    assert [summary.doubts[0].doubt.blames for summary in (missing, held)] == ["host", "measurement"]
    assert str(held.doubts[0]) == (
        "step 1: only 3 of 4 users were at work when measuring began: starts were held for 2.00 s before"
    )


def test_watching_costs_what_was_used_between_the_readings(tmp_path: Path) -> None:
    summary = summarise(made_up.watched(tmp_path / "run"))
    driver = summary.last.driver
    assert driver.watchers == pytest.approx({"live view": 0.008, "page and exporters": 0.014})
    assert driver.watching == pytest.approx(0.022)
    assert driver.cpu == pytest.approx(0.01), "the agents' own"
    assert summary.valid


def test_a_run_that_was_not_watched_has_no_such_figure(tmp_path: Path) -> None:
    driver = summarise(RunFolder(tmp_path / "run").write()).last.driver
    assert (driver.watching, driver.watchers) == (None, {})
