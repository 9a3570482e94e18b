"""Probes: their figures apart, the verdict of what they saw beside the others, and what reports say of it."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cuesta._native import Histogram
from cuesta.analysis.planned import PlannedProbe
from cuesta.analysis.probe import compare_probes, describe_probe
from cuesta.analysis.summary import Summary, summarise
from cuesta.analysis.waits import Waits
from cuesta.figures.probe import ProbeFigures
from cuesta.ledger import Tag
from cuesta.report.headline import headline
from cuesta.report.model import Table
from cuesta.report.response_section import describe_load, distribution_rows, response_section
from tests.hdr import encode
from tests.run_folder import Row, RunFolder, edit_run

LENGTH = 60.0


def compare(probe: Sequence[float], load: Sequence[float], users: int = 3, own_nodes: bool = True) -> ProbeFigures:
    """What a probe says that saw these responses beside those of 100 users, in a minute."""
    found = {"p": Waits(histogram(probe)), "g": Waits(histogram(load))}
    return compare_waits(found, users, own_nodes)


def compare_waits(found: Mapping[str, Waits], users: int = 3, own_nodes: bool = True) -> ProbeFigures:
    planned = {"p": PlannedProbe("p", users, {"g": 100})}
    tags = [Tag(0, "p", "ask", "response_from_sent")]
    return compare_probes(planned, own_nodes, tags, LENGTH, lambda groups, *_: found[next(iter(groups))])


def histogram(values: Sequence[float]) -> Histogram:
    return Histogram.decode(encode(values))


def draw(seed: int, mean: float, count: int) -> list[float]:
    """Responses of a host that is never quicker than half the mean."""
    rng = random.Random(seed)
    return [mean * (0.5 + rng.expovariate(2.0)) for _ in range(count)]


def test_a_probe_tells_a_loaded_driver_from_a_loaded_host() -> None:
    load = draw(1, 2.0, 2000)
    assert compare(draw(2, 1.0, 90), load).verdict == "driver"
    assert compare(draw(2, 4.0, 90), load).verdict == "probe"
    assert compare(draw(2, 2.0, 180), load).verdict == "alike"


def test_a_probe_of_few_values_says_so() -> None:
    """Of one user, values of one second count as one: they are hardly independent."""
    load = draw(1, 2.0, 2000)
    assert compare([1.0] * 19, load).verdict == "unknown"
    assert compare([1.0] * 21, load).verdict == "driver"
    assert compare([2.0 + 0.01 * step for step in range(-50, 50)] * 10, load, users=1).verdict == "unknown"
    assert describe_probe(compare([1.0] * 19, load)) == (
        "the probe cannot tell: 19 values (ask), at most one of each user and second, are too few; measure longer, or "
        "give it more users"
    )


def test_a_difference_below_a_millisecond_is_none() -> None:
    assert compare([0.0002] * 100, [0.0009] * 1000).verdict == "alike"
    assert compare([0.0002] * 100, [0.0013] * 1000).verdict == "driver"


def test_a_false_alarm_is_rarer_than_one_in_a_hundred() -> None:
    """Of 400 runs whose probe and load see one host, and of 400 whose load sees twice the times; seeds are fixed."""
    alarms = [compare(draw(2 * run, 1.0, 60), draw(2 * run + 1, 1.0, 600)).verdict for run in range(400)]
    assert alarms.count("driver") + alarms.count("probe") <= 4
    found = [compare(draw(2 * run, 1.0, 60), draw(2 * run + 1, 2.0, 600)).verdict for run in range(400)]
    assert found.count("driver") >= 396


def test_what_was_never_answered_is_no_short_response() -> None:
    """Half of the load's responses were given up after 5 s: its median is above what it answered."""
    short, given_up = histogram([1.0] * 100), histogram([5.0] * 300)
    told = compare_waits({"p": Waits(short), "g": Waits(short, given_up)})
    assert (told.verdict, round(told.comparisons[0].load_value), told.comparisons[0].load_high) == ("driver", 5, None)


def test_the_sentence_says_which_it_was() -> None:
    saw = "{} where the rest saw {} (median ask since sent)"
    told = describe_probe(compare([0.04] * 50, [0.08] * 500))
    assert told == f"the probe saw {saw.format('40.0 ms', '80.0 ms')}: the driver is loaded, not the host"
    told = describe_probe(compare([0.08] * 50, [0.04] * 500))
    assert (
        told == f"the probe saw {saw.format('80.0 ms', '40.0 ms')}: it is slowed itself, and tells nothing of the rest"
    )
    told = describe_probe(compare([0.04] * 50, [0.04] * 500))
    assert told == "the probe saw it too, 40.0 ms beside 40.0 ms (median ask since sent): it is the host"
    assert (
        describe_probe(compare([0.04] * 50, [0.04] * 500, own_nodes=False)) == f"{told}, or the machine that both share"
    )
    assert describe_probe(ProbeFigures(3, ["p"], True, "unknown", [])).startswith(
        "the probe cannot tell: it has done nothing that the load does"
    )


def summary_of(
    path: Path, probe: float, limits: Sequence[str] = ("response.p95 < 10s",), load: Sequence[float] = (0.1, 0.2)
) -> Summary:
    """Four users, two answers a second; two of them are a probe's, with answers of their own."""

    def divide(row: Row) -> Row:
        return row | ({"group": "near"} if row["user"] > 1 else {})

    tags = [(f"near/a%2C%20b%2Fc/{series}", [probe] * 60) for series in ("response", "response_from_sent")]
    tags.append(("near/keys/lateness", [0.0] * 30))
    made = RunFolder(path, edit_user=divide, histograms=tags, limits=limits, responses=lambda *_: [*load]).write()
    with edit_run(made) as run:
        (group,) = run["steps"][0]["group"]
        groups = [{**group, "users": 2}, {**group, "name": "near", "users": 2, "role": "probe"}]
        run["steps"][0]["group"] = run["plan"]["group"] = groups
    return summarise(made)


def test_users_of_a_probe_are_in_no_figure_of_all_users(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "run", 5.0)
    step = summary.last
    assert step.probe is not None
    assert (step.probe.users, step.probe.groups, step.background) == (2, ["near"], 0)
    assert (round(step.response.longest or 0, 1), step.response.count) == (0.2, 60)
    assert step.transactions.count == 60 - 30
    assert step.keystrokes.count == 13 * 60 - 30
    assert step.served_transactions == 60, "the host works for both"
    assert step.law is not None, "all are closed, the probe too"
    assert describe_load(step).startswith("2 users beside a probe of 2, closed load")
    assert headline(summary).startswith("2 users at the built-in host (host:) beside a probe of 2 users: ")


@pytest.mark.parametrize(("machines", "own"), [(["a", "b"], True), (["a", "a"], False)])
def test_nodes_on_one_machine_are_not_apart(machines: list[str], own: bool, tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "run", 0.1)
    with edit_run(tmp_path / "run") as run:
        run["plan"] |= {"engine": "ray:auto", "nodes": 2}
        run["nodes"] = [{"name": name, "machine": {"id": name}} for name in machines]
    probe = summarise(summary.recorded.folder).last.probe
    assert probe is not None
    assert probe.own_nodes is own


def test_a_probe_on_faster_lines_is_not_compared(tmp_path: Path) -> None:
    """Its answers take less time by themselves."""
    summary = summary_of(tmp_path / "run", 0.05)
    with edit_run(tmp_path / "run") as run:
        run["steps"][0]["group"][1]["line_speed"] = 0
    probe = summarise(summary.recorded.folder).last.probe
    assert probe is not None
    assert (probe.verdict, probe.comparisons) == ("unknown", [])


@pytest.mark.parametrize(
    ("limit", "ok"),
    [("response.max < 1s", True), ("response{a, b/c}.max < 1s", True), ("response{near}.max < 1s", False)],
)
def test_a_limit_is_about_a_probe_if_it_names_its_group(limit: str, ok: bool, tmp_path: Path) -> None:
    (judged,) = summary_of(tmp_path / "run", 5.0, [limit]).last.limits
    assert judged.ok is ok


def test_a_loaded_driver_makes_a_run_invalid(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "loaded", 0.05)
    (doubt,) = [each.doubt for each in summary.doubts if each.doubt.blames == "driver"]
    assert doubt.name == "slower_than_probe"
    assert "the driver is loaded, not the host" in doubt.text
    assert not summary.valid
    assert summary_of(tmp_path / "alike", 0.1).valid


def test_responses_that_are_alike_say_nothing_of_echoes() -> None:
    """Half of the load's echoes take 3 ms longer than the probe's, which has too few to be sure."""
    found = {
        ("p", "echo_from_sent"): Waits(histogram([0.004] * 15)),
        ("g", "echo_from_sent"): Waits(histogram([0.007] * 900)),
        ("p", "response_from_sent"): Waits(histogram([0.32] * 100)),
        ("g", "response_from_sent"): Waits(histogram([0.32] * 900)),
    }
    planned = {"p": PlannedProbe("p", 3, {"g": 100})}
    tags = [Tag(0, "p", "keys", "echo_from_sent"), Tag(0, "p", "ask", "response_from_sent")]
    told = compare_probes(planned, True, tags, LENGTH, lambda groups, _, series: found[next(iter(groups)), series])
    assert (told.verdict, {each.verdict for each in told.comparisons}) == ("unknown", {"unknown", "alike"})
    assert describe_probe(told).startswith("the probe cannot tell: 15 values (echo), ")


def test_a_tail_is_compared_too() -> None:
    """Every eighth answer reaches the load late: its median is that of the host."""
    told = compare(draw(3, 0.04, 180), [*draw(4, 0.04, 1750), *([0.5] * 250)])
    assert [(each.statistic, each.verdict == "driver") for each in told.comparisons] == [("p50", False), ("p90", True)]
    assert told.verdict == "driver"
    assert "(p90 ask since sent): the driver is loaded, not the host" in describe_probe(told)


def test_rows_of_a_probe_stand_below_the_same_of_the_others(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "run", 0.15, ["response.p95 < 50ms"], [0.15, 0.15])
    *remarks, table = response_section(summary, summary.last).brief or ()
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["answer", "probe near: a, b/c"]
    assert "all transactions" not in {label for label, *_ in distribution_rows(summary.last)}, "the load has one"
    assert any("the probe saw it too" in str(each) for each in remarks), "a limit was crossed"
    kept = summary_of(tmp_path / "kept", 0.15, load=[0.15, 0.15])
    assert "the probe saw" not in str(response_section(kept, kept.last).brief)
