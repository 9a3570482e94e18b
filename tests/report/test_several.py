"""Runs side by side."""

from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from cuesta.report import several
from tests.report import made_up
from tests.run_folder import edit_run


@pytest.mark.parametrize(
    ("paths", "named"),
    [
        (["runs/a"], ["a"]),
        (["runs/a", "runs/b"], ["a", "b"]),
        (["mr7/run", "mr8/run"], ["mr7/run", "mr8/run"]),
        (["mr7/run", "mr8/run", "other"], ["mr7/run", "mr8/run", "there/other"]),
    ],
)
def test_runs_are_named_by_the_shortest_distinct_ending(paths: list[str], named: list[str]) -> None:
    assert several.name_runs([Path("/there") / path for path in paths]) == named


def test_a_run_that_is_given_twice_has_two_names() -> None:
    first, second = several.name_runs([Path("/a"), Path("/a")])
    assert first != second
    assert not first.startswith("//")


def test_only_what_differs_is_listed(tmp_path: Path) -> None:
    base, new = made_up.good(tmp_path / "base"), made_up.good(tmp_path / "new")
    runs = {"base": summarise(base), "new": summarise(new)}
    assert list(several.list_differences(runs)) == []
    with edit_run(new) as run:
        run["machine"]["cpus"] = 4
    runs["new"] = summarise(new)
    assert list(several.list_differences(runs)) == [("machine: cpus", "2", "4")]


def test_figures_that_no_run_has_are_left_out(tmp_path: Path) -> None:
    runs = {"bad": summarise(made_up.bad(tmp_path / "bad"))}
    rows = {getattr(label, "text", label): cells for label, *cells in several.figure_rows(runs)}
    assert rows["response p50"] == ["100 ms"]
    assert str(rows["response p99"][0]).endswith("*")
    assert "echo p50" not in rows
    assert "CPU per transaction" not in rows
