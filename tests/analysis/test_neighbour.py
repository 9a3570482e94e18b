"""What ran beside a measurement, and users in the background: figures, doubts and the first sentence."""

from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.neighbour import quote_command
from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.neighbour import NeighbourFigures
from cuesta.report.headline import headline
from tests.run_folder import CLOCK, NANO, Row, RunFolder, edit_run, measured, waiting, write_rows

SETTLED, END = 2.0, 32.0
"""Seconds of the run between which the folders here were measured."""
MAKE = "make -j8"


def at(seconds: float) -> int:
    return CLOCK + round(seconds * NANO)


def beside(folder: Path, *runs: tuple[float, float, str | None], cpu: float = 45.0, said: str = "") -> Summary:
    """A run beside a neighbour that ran at these times."""
    made = RunFolder(folder / "run", plan={"beside": MAKE}).write()
    rows = [{"begin": at(begin), "end": at(end), "ended": ended} for begin, end, ended in runs]
    bounds: Row = {"begin": {"at": at(SETTLED), "cpu": 3.0}, "end": {"at": at(END), "cpu": 3.0 + cpu}}
    write_rows(made / "beside.jsonl", [{"step": 0, **bounds, "runs": rows}])
    (made / "beside.log").write_text(said)
    return summarise(made)


def test_its_time_in_the_interval_and_its_cpus_are_figures(tmp_path: Path) -> None:
    summary = beside(tmp_path, (1.0, 12.0, "ended with code 0"), (12.5, 32.1, None))
    assert summary.last.neighbour == NeighbourFigures(MAKE, 29.5, 2, 1.5, "ended with code 0", None)
    assert summary.valid
    assert headline(summary).startswith("4 users at the built-in host (host:) beside `make -j8`: an answer takes")


def test_a_run_that_it_hardly_accompanied_is_not_valid(tmp_path: Path) -> None:
    summary = beside(tmp_path, (1.0, 17.0, "ended with code 2"), said="cc -c a.c\nno rule to make target\n\n")
    assert [doubted.doubt.name for doubted in summary.doubts] == ["unaccompanied"]
    assert str(summary.doubts[0]) == (
        "beside it `make -j8` ran for 15.0 s of 30.0 s (at least 90.0 %): it ended with code 2, "
        "and said: no rule to make target"
    )


def test_what_it_says_of_its_success_is_not_quoted(tmp_path: Path) -> None:
    ran = beside(tmp_path, (1.0, 9.0, "ended with code 0"), said="warning: slow\n").last.neighbour
    assert ran
    assert ran.said is None


def test_without_a_record_nothing_ran(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path / "run", plan={"beside": MAKE}).write())
    assert summary.last.neighbour == NeighbourFigures(MAKE, 0.0, 0, None)
    assert "did not run" in str(summary.doubts[0])


@pytest.mark.parametrize("plan", [{}, {"beside": "off"}])
def test_a_plan_without_one_has_no_figures_of_it(tmp_path: Path, plan: Row) -> None:
    assert summarise(RunFolder(tmp_path / "run", plan=plan).write()).last.neighbour is None


def test_a_long_command_is_cut_in_sentences() -> None:
    assert quote_command("make\n  -j8") == "`make -j8`"
    assert quote_command("x" * 50) == f"`{'x' * 39}…`"


def put_in_background(name: str, folder: Path) -> None:
    """Make two of the users of the plan a group in the background."""
    with edit_run(folder) as run:
        (group,) = run["steps"][0]["group"]
        run["steps"][0]["group"] = [{**group, "users": 2}, {**group, "name": name, "users": 2, "background": True}]


def test_users_in_the_background_are_in_no_figure_of_all_users(tmp_path: Path) -> None:
    """Two of four users: each has 15 transactions, and slow ones of their own."""

    def divide(row: Row) -> Row:
        return row | ({"group": "others"} if row["user"] > 1 else {})

    slow = [("others/x/response", [5.0] * 30), ("others/keys/echo", [2.0] * 30), ("others/keys/lateness", [0.0] * 30)]
    made = RunFolder(tmp_path / "run", edit_user=divide, histograms=slow).write()
    alone = summarise(made).last
    put_in_background("others", made)
    summary = summarise(made)
    step = summary.last
    assert (round(alone.response.longest or 0), alone.echo.count, alone.background) == (5, 30, 0)
    assert (round(step.response.longest or 0, 1), step.echo.count, step.background) == (0.2, 0, 2)
    assert step.transactions.count == alone.transactions.count - 30
    assert step.keystrokes.count == alone.keystrokes.count - 30
    assert [each.group for each in step.keys] == ["interactive", "others"]
    assert headline(summary).startswith("2 users at the built-in host (host:) beside 2 other sessions: ")


@pytest.mark.parametrize(("slow", "doubts"), [([("others/x/response", [5.0] * 3)], set()), ([], {"stuck"})])
def test_a_wait_in_the_background_is_as_long_as_others_there(tmp_path: Path, slow: Any, doubts: set[str]) -> None:
    """When measuring ends, a user has waited for 4 s; the records do not say in which group."""
    waits = measured(unfinished=1, oldest=4.0, waiting=waiting(answers=1, oldest=4.0))
    made = RunFolder(tmp_path / "run", edit=waits, histograms=slow).write()
    put_in_background("others", made)
    assert {each.doubt.name for each in summarise(made).doubts} & {"stuck"} == doubts


@pytest.mark.parametrize("counted", [{"unfollowed": 25}, {"stray": 2}, {"continued_long": 25}])
def test_what_is_counted_of_all_users_is_a_share_of_all(tmp_path: Path, counted: Row) -> None:
    """None of these counts says whose it is: those of many users in the background are not held against the others."""
    first = iter([{**counted, "keys": 3013, "transactions": 6002}])
    many = [(f"others/keys/{series}", [0.001] * 3000) for series in ("echo", "lateness")]
    made = RunFolder(
        tmp_path / "run",
        edit=lambda row: row | (next(first, {}) if row["phase"] == "measure" else {}),
        edit_user=lambda row: row | ({"group": "others", "transactions": 3000} if row["user"] > 1 else {}),
        histograms=many,
    ).write()
    put_in_background("others", made)
    names = {each.doubt.name for each in summarise(made).doubts}
    assert not names & {"unfollowed", "mismatched", "continued"}


@pytest.mark.parametrize(("background_keys", "per_user"), [(0, 13.0), (30, None)])
def test_what_is_typed_is_divided_by_those_who_type(
    tmp_path: Path, background_keys: int, per_user: float | None
) -> None:
    """Two of four users stream. What they type is not counted apart, so that there is no figure if they do."""
    made = RunFolder(
        tmp_path / "run",
        edit_user=lambda row: row | ({"group": "others"} if row["user"] > 1 else {}),
        histograms=[("others/keys/lateness", [0.0] * background_keys)] if background_keys else [],
    ).write()
    put_in_background("others", made)
    characters = summarise(made).last.characters
    assert (characters.in_per_s, characters.in_per_s_per_user) == (26.0, per_user)
