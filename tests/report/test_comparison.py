"""Comparisons as they are shown."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.comparison import Comparison, Terms, compare
from cuesta.analysis.likeness import facts
from cuesta.analysis.sides import LeftOut, Side
from cuesta.report.comparison import data, text
from tests.analysis import runs
from tests.analysis.runs import RUN

FIGURES = {"demand": 21.7, "throughput": 15.9, "response__p95": 1.31, "response__p50": 0.42, "response__p99": 2.2}


def with_run(one: Side, **steps: str) -> Side:
    """Let a side have been made otherwise."""
    run = copy.deepcopy(RUN)
    run["plan"]["host"]["service_time"] = "exp 7ms"
    run["steps"][0] |= steps
    return replace(one, runs=[replace(each, facts=facts(run)) for each in one.runs])


def changed() -> Comparison:
    left_out = [
        LeftOut(Path("new/run-9"), "INVALID: the driver was late: 1 key in 100 by over 62.5 ms (allowed 10.0 ms)")
    ]
    base = runs.side("base", 8, **FIGURES)
    new = replace(runs.side("new", 8, **{**FIGURES, "demand": 26.0, "response__p95": 1.37}), left_out=left_out)
    new = replace(new, runs=[replace(each, effective={"response": 213.0}, errors=1) for each in new.runs])
    return compare(base, with_run(new), Terms())


def compensated() -> Comparison:
    terms = Terms(despite="runs are twice as long", compensation={"demand": 0.835})
    new = with_run(runs.side("new", 7, **{**FIGURES, "demand": 26.0}), measure="60s")
    return compare(runs.side("base", 7, **FIGURES), new, terms, in_pairs=True)


def inconclusive() -> Comparison:
    return compare(runs.side("base", 3, **FIGURES), runs.side("new", 3, demand=99.0, throughput=15.9), Terms())


def refused() -> Comparison:
    return compare(runs.side("base", 5, **FIGURES), with_run(runs.side("new", 5, **FIGURES), settle="1s"), Terms())


@pytest.mark.parametrize("made", [changed, compensated, inconclusive, refused], ids=lambda made: made.__name__)
def test_what_is_said(made: object, snapshot: SnapshotAssertion) -> None:
    assert callable(made)
    said = text(made())
    assert "\n" + said + "\n" == snapshot
    assert all(len(row) <= 80 for row in said.splitlines())


@pytest.mark.parametrize("made", [changed, compensated, inconclusive, refused], ids=lambda made: made.__name__)
def test_the_same_as_data(made: object) -> None:
    assert callable(made)
    found = json.loads(json.dumps(data(made())))
    assert found["verdict"] == str(made().overall)
    for figure in found["headline"]:
        assert (figure["ratio"] is None) == (figure["missing"] is not None)
        assert set(figure) >= {"metric", "base", "new", "interval", "verdict", "more_runs", "chance_unchanged"}


def test_colour_is_for_terminals() -> None:
    assert "\x1b[" not in text(changed())
    assert "\x1b[1;31mCHANGED" in text(changed(), colour=True)


def test_names_cannot_command_the_terminal() -> None:
    evil = runs.side("new\x1b[31m", 5, **FIGURES)
    assert "\x1b" not in text(compare(runs.side("base", 5, **FIGURES), evil, Terms()))
