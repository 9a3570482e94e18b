"""How comparisons are shown."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.compare.comparability import collect_facts
from cuesta.analysis.compare.comparison import Comparison, Terms, compare
from cuesta.analysis.compare.metrics import metric
from cuesta.analysis.compare.sides import ExcludedRun, Side
from cuesta.report.comparison import data, text, write_least_change
from tests.analysis import runs
from tests.analysis.runs import RUN

FIGURES = {"demand": 21.7, "throughput": 15.9, "response__p95": 1.31, "response__p50": 0.42, "response__p99": 2.2}


def with_run(one: Side, **steps: str) -> Side:
    """A copy of a side with changes in its runs."""
    run = copy.deepcopy(RUN)
    run["plan"]["host"]["service_time"] = "exp 7ms"
    run["steps"][0] |= steps
    return replace(one, runs=[replace(each, facts=collect_facts(run)) for each in one.runs])


def changed() -> Comparison:
    excluded = [
        ExcludedRun(
            Path("new/run-9"),
            "INVALID: the driver was late: "
            "1 % of keys were sent more than 62.5 ms after they could be (allowed 10.0 ms)",
        )
    ]
    base = runs.side("base", 8, **FIGURES)
    new = replace(runs.side("new", 8, **{**FIGURES, "demand": 26.0, "response__p95": 1.37}), excluded=excluded)
    new = replace(new, runs=[replace(each, effective_sizes={"response": 213.0}, errors=1) for each in new.runs])
    return compare(base, with_run(new), Terms())


def compensated() -> Comparison:
    terms = Terms(despite="runs are twice as long", compensation={"demand": 0.835})
    new = with_run(runs.side("new", 7, **{**FIGURES, "demand": 26.0}), measure="60s")
    return compare(runs.side("base", 7, **FIGURES), new, terms, in_pairs=True)


def far_apart() -> Comparison:
    """Echoes of all and of the editors take eleven times as long, those of the readers 128 times."""
    base, new = (
        with_groups(runs.side(name, 8, demand=20.0, throughput=16.0, response__p95=1.3, echo__p95=echo), echo)
        for name, echo in (("base", 0.004), ("new", 0.0452))
    )
    return compare(base, new, Terms(), in_pairs=True)


def with_groups(one: Side, echo: float) -> Side:
    """Two groups time their keys; the echoes of the second differ much more."""
    names = {"editors who have a long name": echo, "readers": 3000 * echo**2}
    parts = [metric("echo.p95").for_part(name) for name in names]
    figures = {part.name: value for part, value in zip(parts, names.values(), strict=True)}
    return replace(
        one,
        runs=[
            replace(
                run,
                parts={"echo.p95": parts},
                figures={**run.figures, **varied(figures, number + len(one.folder.name))},
            )
            for number, run in enumerate(one.runs)
        ],
    )


def varied(figures: dict[str, float], number: int) -> dict[str, float]:
    return {name: value * (1 + number * 3 % 7 / 200) for name, value in figures.items()}


def inconclusive() -> Comparison:
    return compare(runs.side("base", 3, **FIGURES), runs.side("new", 3, demand=99.0, throughput=15.9), Terms())


def refused() -> Comparison:
    return compare(runs.side("base", 5, **FIGURES), with_run(runs.side("new", 5, **FIGURES), settle="1s"), Terms())


@pytest.mark.parametrize(
    "made", [changed, compensated, far_apart, inconclusive, refused], ids=lambda made: made.__name__
)
def test_the_printed_text(made: object, snapshot: SnapshotAssertion) -> None:
    assert callable(made)
    output = text(made())
    assert "\n" + output + "\n" == snapshot
    assert all(len(row) <= 80 for row in output.splitlines())


@pytest.mark.parametrize(
    "made", [changed, compensated, far_apart, inconclusive, refused], ids=lambda made: made.__name__
)
def test_the_same_as_json(made: object) -> None:
    assert callable(made)
    document = json.loads(json.dumps(data(made())))
    assert document["verdict"] == str(made().overall)
    for figure in document["headline"]:
        assert (figure["ratio"] is None) == (figure["missing"] is not None)
        assert set(figure) >= {"metric", "base", "new", "interval", "verdict", "more_runs", "chance_unchanged"}


def test_ratio_and_interval_are_always_separated() -> None:
    """Ratios of 10 and more too: not `11.29611.184 – 11.380`."""
    (row,) = (row for row in text(far_apart()).splitlines() if "have a long name  " in row)
    *_, ratio, low, dash, high, verdict = row.split()
    assert (dash, verdict) == ("–", "slower")
    assert 10 < float(low) <= float(ratio) <= float(high) < 13


def test_the_reason_for_no_verdict_comes_last_and_once() -> None:
    output = text(inconclusive())
    assert output.split("\n\n")[-1].startswith(
        "new against base: cannot tell: too few for any verdict: an exact 95 % interval\nneeds 4 + 4"
    )
    assert " ".join(output.split()).count("too few for") == 1
    wide = compare(
        runs.side("base", 8, **FIGURES), runs.side("new", 8, **{**FIGURES, "response__p95": 1.37}), Terms(margin=0.045)
    )
    first = " ".join(text(wide).split("\n\n")[-1].split())
    assert first == "new against base: cannot tell: response p95 could have changed by more than ±4.5 %"


def test_identical_runs_can_detect_a_change_of_any_size() -> None:
    assert [write_least_change(0.0), write_least_change(0.0093)] == ["any size", "0.93 %"]


def test_without_a_spread_the_number_of_runs_for_the_margin_is_not_known() -> None:
    comparison = changed()
    one, *others = comparison.headline
    assert one.test
    unknown = replace(one, test=replace(one.test, least_change=None, runs_for_margin=None))
    output = " ".join(text(replace(comparison, headline=[unknown, *others])).split())
    assert "cannot say how many runs would show a change of 5 % in CPU per transaction" in output
    many = replace(one, test=replace(one.test, least_change=0.2, runs_for_margin=None))
    output = " ".join(text(replace(comparison, headline=[many, *others])).split())
    assert "a change of 5 % would be found by over 500 runs in CPU per transaction" in output


def test_figures_that_no_run_has_are_not_listed_among_the_others() -> None:
    comparison = changed()
    one, *rest = comparison.exploratory
    absent = replace(one, base=(), new=(), missing="there is none", ratio=None, interval=None)
    assert one.metric.label in text(comparison).partition("OTHERS")[2]
    assert absent.metric.label not in text(replace(comparison, exploratory=[absent, *rest])).partition("OTHERS")[2]
