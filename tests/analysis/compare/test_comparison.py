"""Comparisons of two sides: refusals, excluded runs, and verdicts."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.compare.comparability import collect_facts
from cuesta.analysis.compare.comparison import Overall, Terms, compare, list_notes
from cuesta.analysis.compare.sides import ComparedRun, Side, read_compared_run, separate_usable
from cuesta.analysis.compare.verdict import Verdict
from tests.analysis import runs
from tests.analysis.runs import RUN, unmeasured_run
from tests.run_folder import RunFolder

THREE = {"demand": 20.0, "throughput": 16.0, "response__p95": 1.3}


def recorded(one: Side, edit: Callable[[dict[str, Any]], object]) -> Side:
    """A copy of a side with other records."""
    run = copy.deepcopy(RUN)
    edit(run)
    return replace(one, runs=[replace(each, facts=collect_facts(run)) for each in one.runs])


def unlike(one: Side, **machine: object) -> Side:
    """A copy of a side, measured on another machine."""
    return recorded(one, lambda run: run["machine"].update(machine))


def other_method(one: Side) -> Side:
    """A copy of a side with a longer measurement."""
    return recorded(one, lambda run: run["steps"][0].update(measure="60s"))


@pytest.mark.parametrize(
    ("figures", "metric", "word"),
    [
        ({}, "demand", Verdict.EQUIVALENT),
        ({"demand": 30.0}, "demand", Verdict.SLOWER),
        ({"demand": 10.0}, "demand", Verdict.FASTER),
        ({"throughput": 20.0}, "throughput", Verdict.FASTER),
        ({"throughput": 12.0}, "throughput", Verdict.SLOWER),
        ({"response__p95": 2.0}, "response.p95", Verdict.SLOWER),
        ({"response__p95": 1.33}, "response.p95", Verdict.BELOW),
    ],
)
def test_a_change_is_named_on_its_figure(figures: dict[str, float], metric: str, word: Verdict) -> None:
    found = compare(runs.side("base", 5, **THREE), runs.side("new", 5, **{**THREE, **figures}), Terms())
    words = {each.metric.name: each.test.verdict for each in found.headline if each.test}
    assert words.pop(metric) == word
    assert set(words.values()) == {Verdict.EQUIVALENT}
    assert found.overall == (Overall.CHANGED if word in {Verdict.FASTER, Verdict.SLOWER} else Overall.UNCHANGED)


def test_the_reader_sets_the_margin() -> None:
    base, new = runs.side("base", 8, **THREE), runs.side("new", 8, **{**THREE, "demand": 20.8})
    words = [judged.verdict for margin in (0.01, 0.1) if (judged := compare(base, new, Terms(margin)).headline[0].test)]
    assert words == [Verdict.SLOWER, Verdict.BELOW]


@pytest.mark.parametrize("many", [1, 3])
def test_too_few_runs_are_inconclusive_and_say_so(many: int) -> None:
    found = compare(runs.side("base", many, **THREE), runs.side("new", many, demand=99.0), Terms())
    assert found.overall == Overall.INCONCLUSIVE
    said = f"too few for any verdict: an exact 95 % interval needs 4 + 4 runs, and there are {many} + {many} runs"
    assert said in list(list_notes(found))


def test_unlike_machines_are_refused_unless_a_reason_is_given() -> None:
    base, new = runs.side("base", 5, **THREE), unlike(runs.side("new", 5, **THREE), cpus=4)
    found = compare(base, new, Terms())
    assert (found.overall, found.headline) == (Overall.REFUSED, ())
    assert found.refused == ["machine: cpus 2 against 4"]
    despite = compare(base, new, Terms(despite="two of them were off"))
    assert despite.overall == Overall.UNCHANGED
    assert [str(each) for each in despite.unlike] == ["machine: cpus 2 against 4"]


def test_runs_of_one_side_must_be_alike_even_with_a_reason() -> None:
    mixed = runs.side("base", 5, **THREE)
    slower = recorded(mixed, lambda run: run["plan"]["host"].update(service_time="exp 9ms"))
    mixed = replace(mixed, runs=[*mixed.runs[:4], slower.runs[4]])
    found = compare(mixed, runs.side("new", 5, **THREE), Terms(despite="it is so"))
    assert found.refused == ["BASE: run-4 differs from run-0: host: host.service_time exp 5ms against exp 9ms"]


def test_a_side_without_a_run_that_can_be_used_is_refused_with_its_reasons() -> None:
    spoilt = separate_usable(Path("base"), [unmeasured_run(1, "base", why_excluded="INVALID: the driver was late")])
    found = compare(spoilt, runs.side("new", 5, **THREE), Terms(despite="never mind"))
    assert found.overall == Overall.REFUSED
    assert found.refused == [
        "BASE: run-1 cannot be used: INVALID: the driver was late",
        "BASE: base has no run that can be used",
    ]


def test_a_copy_of_a_run_is_not_a_repetition() -> None:
    one = unmeasured_run(1, "base", figures={"demand": 1.0})
    found = separate_usable(Path("base"), [one, replace(one, folder=Path("base/run-2")), unmeasured_run(3, "base")])
    assert [run.folder.name for run in found.runs] == ["run-1", "run-3"]
    assert [(each.folder.name, each.why) for each in found.excluded] == [("run-2", "it is a copy of run-1")]


def test_a_change_of_method_without_compensation_is_reported() -> None:
    base, new = runs.side("base", 5, **THREE), other_method(runs.side("new", 5, **THREE))
    found = compare(base, new, Terms(despite="longer runs"))
    assert any(
        "not compensated in: CPU per transaction, transactions/s, response p95" in note for note in list_notes(found)
    )


def test_a_compensation_moves_its_figure_and_no_other() -> None:
    base, new = runs.side("base", 5, **THREE), other_method(runs.side("new", 5, **{**THREE, "demand": 25.0}))
    found = compare(base, new, Terms(despite="the new certifier counts attach calls", compensation={"demand": 0.8}))
    demand, throughput, _ = found.headline
    assert demand.new[0] == 25.0, "compensation must not change the measured values"
    assert demand.ratio == pytest.approx(1.0, abs=0.01)
    assert demand.test
    assert demand.test.verdict == Verdict.EQUIVALENT
    assert throughput.compensation is None
    assert any("not compensated in: transactions/s, response p95" in note for note in list_notes(found))


def test_a_compensation_is_for_a_change_of_method_only() -> None:
    base, new = runs.side("base", 5, **THREE), unlike(runs.side("new", 5, **THREE), cpus=4)
    found = compare(base, new, Terms(despite="more CPUs", compensation={"demand": 0.5}))
    assert found.refused == ["a compensation is for a change of method, and the methods are alike"]


def test_runs_in_blocks_raise_a_warning_and_pairs_do_not() -> None:
    base, new = runs.side("base", 6, **THREE), runs.side("new", 6, **THREE)
    assert any("drift between them" in note for note in list_notes(compare(base, new, Terms())))
    assert not any("drift between them" in note for note in list_notes(compare(base, new, Terms(), in_pairs=True)))


def test_figures_that_were_not_measured_are_not_zero() -> None:
    base = runs.side("base", 5, throughput=16.0, response__p95=1.3)
    found = compare(base, runs.side("new", 5, **THREE), Terms())
    demand = found.headline[0]
    assert (demand.ratio, demand.test, demand.missing) == (None, None, "not measured in 5 of 10 runs")
    assert found.headline[1].test, "measured figures have a verdict"
    assert found.overall == Overall.INCONCLUSIVE, "unmeasured figures are undecided"
    assert "not decided, because there is no ratio: CPU per transaction (not measured in 5 of 10 runs)" in list(
        list_notes(found)
    )


def test_without_meters_cpu_time_is_not_judged() -> None:
    base, new = (
        recorded(runs.side(name, 5, throughput=16.0, response__p95=1.3), lambda run: run["plan"].update(meters="none"))
        for name in ("base", "new")
    )
    found = compare(base, new, Terms())
    assert [each.metric.name for each in found.headline] == ["throughput", "response.p95"]
    assert found.overall == Overall.UNCHANGED


def test_a_run_that_is_on_both_sides_is_refused() -> None:
    base = runs.side("base", 5, **THREE)
    found = compare(base, replace(base, folder=Path("new")), Terms(despite="never mind"))
    assert found.overall == Overall.REFUSED
    assert found.refused[0] == "NEW: run-0 is on both sides: it is a copy of run-0"
    assert found.remedy == "give each side runs of its own"


def test_a_reason_is_requested_only_where_it_helps() -> None:
    base = runs.side("base", 5, **THREE)
    remedy = compare(base, unlike(runs.side("new", 5, **THREE), cpus=4), Terms()).remedy
    assert "--despite" in (remedy or "")
    spoilt = separate_usable(Path("new"), [unmeasured_run(1, "new", why_excluded="INVALID: the driver was late")])
    remedy = compare(base, unlike(spoilt, cpus=4), Terms()).remedy
    assert "--despite" not in (remedy or "--despite")


def test_meters_that_cover_too_little_are_reported() -> None:
    new = runs.side("new", 5, **THREE)
    new = replace(new, runs=[replace(new.runs[0], metered=0.5), *new.runs[1:]])
    told = list_notes(compare(runs.side("base", 5, **THREE), new, Terms()))
    assert any("saw less than 75 % of the interval in 1 run" in note for note in told)


def test_a_99th_percentile_of_few_values_is_not_shown() -> None:
    figures = {**THREE, "response__p99": 2.0}
    base, new = runs.side("base", 5, **figures), runs.side("new", 5, **figures)
    shown = {each.metric.name: each for each in compare(base, new, Terms()).exploratory}
    assert shown["response.p99"].ratio == pytest.approx(1.0, abs=0.01)
    few = replace(new, runs=[*new.runs[:4], replace(new.runs[4], effective_sizes={"response": 213.0})])
    shown = {each.metric.name: each for each in compare(base, few, Terms()).exploratory}
    assert shown["response.p99"].missing == "worth 213 of 1,000 needed"


def test_echoes_are_judged_where_there_are_no_transactions() -> None:
    echoes = {"keystrokes": 100.0, "echo__p95": 0.004}
    found = compare(runs.side("base", 5, **echoes), runs.side("new", 5, **{**echoes, "echo__p95": 0.04}), Terms())
    assert [each.metric.name for each in found.headline] == ["keystrokes", "echo.p95"]
    assert found.overall == Overall.CHANGED


def test_echoes_are_judged_beside_transactions() -> None:
    """A program that echoes keys later is slower to type on, even if its answers take as long as before."""
    figures = {**THREE, "echo__p95": 0.030}
    slower = {**figures, "echo__p95": 0.045}
    found = compare(runs.side("base", 8, **figures), runs.side("new", 8, **slower), Terms())
    words = {each.metric.name: each.test and each.test.verdict for each in found.headline}
    assert words.pop("echo.p95") == Verdict.SLOWER
    assert set(words.values()) == {Verdict.EQUIVALENT}
    assert found.overall == Overall.CHANGED
    assert "echo.p95" not in [each.metric.name for each in found.exploratory]


def test_each_class_and_each_group_is_judged_separately(tmp_path: Path) -> None:
    """A short transaction that got slower does not change the 95th percentile over all transactions."""

    def write_run(side_: str, number: int, quick: float, echo: float) -> ComparedRun:
        several = [
            *((f"interactive/{name}/response", [seconds] * 60) for name, seconds in (("find", 9.0), ("step", quick))),
            *((f"{group}/keys/echo", [seconds] * 60) for group, seconds in (("interactive", 0.2), ("readers", echo))),
            *((f"{group}/keys/lateness", [0.00002] * 40) for group in ("interactive", "readers")),
        ]
        run = RunFolder(
            tmp_path / side_ / f"run-{number}",
            histograms=several,
            responses=lambda *_: [],
            edit=lambda row: {**row, "transactions": 2, "characters": dict.fromkeys(row["characters"], 300)},
        )
        folder = run.write()
        return replace(read_compared_run(folder), started=f"{side_} {number}")

    base, new = (
        separate_usable(Path(name), [write_run(name, number, quick * (1 + number / 200), echo) for number in range(8)])
        for name, quick, echo in (("base", 0.10, 0.01), ("new", 0.13, 0.02))
    )
    found = compare(base, new, Terms())
    words = {each.metric.name: each.test and each.test.verdict for each in found.headline}
    assert words["response{interactive: find}.p95"] == Verdict.EQUIVALENT
    assert words["response{interactive: step}.p95"] == Verdict.SLOWER
    assert words["echo{interactive}.p95"] == Verdict.EQUIVALENT
    assert words["echo{readers}.p95"] == Verdict.SLOWER
    assert "response.p95" not in words
    assert {"response.p95", "echo.p95"} <= {each.metric.name for each in found.exploratory}


def test_certifications_are_judged_by_their_phases() -> None:
    figures = {**THREE, "creation__cpu": 72.4, "command__cpu": 284.4, "completion": 391.8}
    faster = {**figures, "command__cpu": 200.0}
    found = compare(runs.side("base", 5, **figures), runs.side("new", 5, **faster), Terms())
    assert [each.test and each.test.verdict for each in found.headline] == [
        Verdict.EQUIVALENT,
        Verdict.FASTER,
        Verdict.EQUIVALENT,
    ]
