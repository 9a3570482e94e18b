"""A side that was kept as data is compared as the runs themselves."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.compare.comparison import Comparison, Overall, Terms, compare
from cuesta.analysis.compare.metrics import ECHO, Metric, metric
from cuesta.analysis.compare.sides import Side, read_side
from cuesta.analysis.compare.stored_side import StoredSide, restore_side, store_runs
from tests.analysis import runs
from tests.report.made_up import good

ECHOES = {"keystrokes": 9.0, "echo__p95": 0.004}


def kept(side: Side) -> Side:
    """The side after it was written as JSON and read again."""
    return restore_side(StoredSide(**json.loads(json.dumps(asdict(store_runs(side.runs))))), "kept")


def said(comparison: Comparison) -> list[Any]:
    """All that a comparison claims, without the names of folders."""
    return [comparison.overall, comparison.refused, comparison.failures, comparison.headline, comparison.exploratory]


@pytest.mark.parametrize("p95", [0.004, 0.006, 0.002])
def test_a_verdict_is_that_of_the_runs_themselves(p95: float) -> None:
    base, new = runs.side("base", 5, **ECHOES), runs.side("new", 5, **{**ECHOES, "echo__p95": p95})
    found = compare(kept(base), new, Terms())
    assert said(found) == said(compare(base, new, Terms()))
    assert found.overall == (Overall.UNCHANGED if p95 == 0.004 else Overall.CHANGED)


def test_runs_of_a_folder_are_compared_the_same(tmp_path: Path) -> None:
    for name in ("base", "new"):
        for number in range(4):
            started = f"2026-11-21T{10 + (name == 'new')}:0{number}:00Z"
            folder = good(tmp_path / name / f"run-{number}")
            (folder / "run.json").write_text((folder / "run.json").read_text().replace("01:23:45", started[11:19]))
    base, new = read_side(tmp_path / "base"), read_side(tmp_path / "new")
    assert said(compare(kept(base), new, Terms())) == said(compare(base, new, Terms()))


def test_what_runs_lack_is_lacking_afterwards() -> None:
    """Figures of some runs only, lower bounds, and groups with verdicts of their own."""
    groups = [metric("echo.p95").for_part(name) for name in ("typists", "readers, {slow}")]
    parts: dict[str, list[Metric]] = {ECHO.name: groups}
    base, new = runs.side("base", 5, **ECHOES), runs.side("new", 5, **ECHOES)
    for side in (base, new):
        for number, run in enumerate(side.runs):
            p95 = {each.name: None if number == 2 else 0.004 + number / 1e6 for each in groups}
            side.runs[number] = replace(
                run,
                figures={**run.figures, **p95},
                parts=parts,
                bounds={groups[0].name} if number else (),
                totals={"x": 3},
            )
    found = compare(kept(base), new, Terms())
    assert said(found) == said(compare(base, new, Terms()))
    assert [each.metric for each in found.headline if each.metric.series == "echo"] == groups


def test_another_machine_is_refused() -> None:
    base, new = runs.side("base", 5, **ECHOES), runs.side("new", 5, **ECHOES)
    stored = store_runs(base.runs)
    stored.facts["machine"]["cpus"] = 64
    assert compare(restore_side(stored, "kept"), new, Terms()).refused == ["machine: cpus 64 against 2"]


def test_lists_of_unequal_length_are_no_runs() -> None:
    stored = store_runs(runs.side("base", 5, **ECHOES).runs)
    stored.figures["echo.p95"].pop()
    with pytest.raises(ValueError, match="lists of 4 and 5 values, and each run has one"):
        restore_side(stored, "kept")
