"""A side that fails more is said to, and is never faster."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from cuesta.analysis.compare.comparison import Comparison, Overall, Terms, compare
from cuesta.analysis.compare.failures import Failing
from cuesta.analysis.compare.sides import Side, read_compared_run, read_side
from cuesta.analysis.compare.verdict import Verdict
from cuesta.report.comparison import data, text
from tests.analysis.runs import side
from tests.run_folder import Row, RunFolder, change_run, edit_run

RUNS = 7
SLOW, QUICK = {"demand": 0.010, "throughput": 10.0, "response__p95": 1.0}, {"response__p95": 0.5}
CLASS = f"interactive/{quote('a, b/c', safe='')}"


def with_failures(side_: Side, *shares: float) -> Side:
    """The side with these shares of failures, run by run."""
    rows = zip(side_.runs, shares * RUNS, strict=False)
    return replace(side_, runs=[replace(run, failures={"errors.rate": share}) for run, share in rows])


def compared(base: tuple[float, ...], new: tuple[float, ...], quicker: bool = True) -> Comparison:
    """Seven runs of each side, of which NEW is quicker, or not, and these shares fail."""
    of_new = side("new", RUNS, **(SLOW | QUICK if quicker else SLOW))
    return compare(with_failures(side("base", RUNS, **SLOW), *base), with_failures(of_new, *new), Terms())


def verdict(comparison: Comparison, name: str = "response.p95") -> Verdict | None:
    (found,) = (each for each in comparison.headline if each.metric.name == name)
    return found.test.verdict if found.test else None


def test_a_side_that_fails_more_is_not_faster_and_the_failures_are_said_first() -> None:
    found = compared((0.0,), (0.05, 0.06))
    assert (found.overall, found.failures[0].verdict) == (Overall.CHANGED, Failing.MORE)
    assert verdict(found) == Verdict.NOT_JUDGED
    first = text(found).split("\n\n")[-1]
    assert first.startswith("new against base: more failures in NEW: error rate 5.")
    assert "faster" not in first
    assert data(found)["failures"][0]["verdict"] == "more failures"


def test_the_base_may_not_be_faster_either() -> None:
    found = compare(
        with_failures(side("base", RUNS, **(SLOW | QUICK)), 0.05, 0.06),
        with_failures(side("new", RUNS, **SLOW), 0.0),
        Terms(),
    )
    assert (found.failures[0].verdict, verdict(found)) == (Failing.FEWER, Verdict.NOT_JUDGED)


@pytest.mark.parametrize(
    ("base", "new", "said"),
    [
        ((0.0,), (0.0,), Failing.ALIKE),
        ((0.01, 0.02), (0.0105, 0.0195), Failing.ALIKE),
        ((0.0,), (0.0, 0.0, 0.0, 0.02), Failing.UNKNOWN),
        ((0.05, 0.04), (0.0, 0.001), Failing.FEWER),
    ],
)
def test_failures_are_judged_by_differences(base: tuple[float, ...], new: tuple[float, ...], said: Failing) -> None:
    found = compared(base, new, quicker=False)
    assert found.failures[0].verdict == said
    assert found.overall == {
        Failing.ALIKE: Overall.UNCHANGED,
        Failing.UNKNOWN: Overall.INCONCLUSIVE,
        Failing.FEWER: Overall.CHANGED,
    }[said]  # fmt: skip


def test_more_failures_that_may_be_chance_withhold_faster() -> None:
    found = compared((0.0,), (0.0, 0.0, 0.0, 0.02))
    assert (verdict(found), found.overall) == (Verdict.NOT_JUDGED, Overall.INCONCLUSIVE)
    assert "which may be chance" in text(found).replace("\n", " ")


def test_a_bound_is_slower_but_never_faster_or_equivalent() -> None:
    """NEW timed out where its p95 lies: it is at least so large."""
    bounded = side("new", RUNS, **(SLOW | {"response__p95": 4.0}))
    bounded = replace(bounded, runs=[replace(run, bounds={"response.p95"}) for run in bounded.runs])
    base = side("base", RUNS, **SLOW)
    found = compare(base, bounded, Terms())
    assert verdict(found) == Verdict.SLOWER
    assert "≥ 4." in text(found)
    assert verdict(compare(bounded, base, Terms())) == Verdict.FASTER, "BASE is even slower than that"
    low = replace(bounded, runs=[replace(run, figures={**run.figures, "response.p95": 0.5}) for run in bounded.runs])
    assert verdict(compare(base, low, Terms())) == Verdict.INCONCLUSIVE


def write_side(folder: Path, name: str, drops: bool, runs: int = RUNS) -> Path:
    """Runs of a host that answers one request in twenty after 2 s, or instead closes the line at once."""
    for number in range(runs):
        quick, slow = 0.1 + number / 1e4, [2.0 + number / 1e3] * 5
        lost = [(f"{CLASS}/response_lost", [0.001] * 150)] if drops else []

        def edit(row: Row) -> Row:
            closed = {"errors": {"closed": 5}, "unanswered": 5} if drops and row["phase"] == "measure" else {}
            return row | closed

        run = RunFolder(
            folder / name / f"run-{number}",
            responses=lambda *_, quick=quick, slow=slow: [quick] * 95 + ([] if drops else slow),
            edit=edit,
            lost=(0, 1) if drops and number % 2 else (),
            histograms=lost,
        )
        with edit_run(run.write()) as recorded:
            recorded["started"] = f"2026-11-21T0{1 + drops}:{number:02}:00Z"
            recorded["plan"]["meters"] = "none"
    return folder / name


def test_a_version_that_drops_its_slowest_answers_is_not_faster(tmp_path: Path) -> None:
    """Half of its runs are INVALID for what the host did. They count: those that are left would be no sample."""
    base, new = (read_side(write_side(tmp_path, name, drops)) for name, drops in (("old", False), ("new", True)))
    assert (len(new.runs), new.excluded) == (RUNS, [])
    assert [bool(run.host_doubt) for run in new.runs] == [bool(number % 2) for number in range(RUNS)]
    found = compare(base, new, Terms())
    assert [each.verdict for each in found.failures] == [Failing.MORE, Failing.UNKNOWN]
    assert found.overall == Overall.CHANGED
    assert all(each.test is None or each.test.verdict != Verdict.FASTER for each in found.headline)
    assert "3 runs of NEW would be INVALID for what the host did, and count" in text(found).replace("\n", " ")


def test_runs_that_the_driver_spoilt_are_still_left_out(tmp_path: Path) -> None:
    busy = RunFolder(tmp_path / "run", lost=(0, 1), edit=lambda row: row | {"cpu": 0.95}).write()
    assert (read_compared_run(busy).why_excluded or "").startswith("INVALID: the driver was busy")


def test_a_percentile_of_too_few_values_is_not_decided(tmp_path: Path) -> None:
    for hour, name in enumerate(("old", "new")):
        for number in range(4):
            folder = RunFolder(tmp_path / name / f"run-{number}", measure=20).write()
            change_run(folder, started=f"2026-11-21T0{hour}:0{number}")
    found = compare(read_side(tmp_path / "old"), read_side(tmp_path / "new"), Terms())
    (p95,) = (each for each in found.headline if each.metric.name == "response.p95")
    assert p95.missing == "not decided: a run has 40 values, and 45 are needed"
    assert found.overall == Overall.INCONCLUSIVE
