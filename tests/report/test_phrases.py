"""Sentences that no snapshot covers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.capacity.asymptotes import Asymptotes, HeavyLoadAsymptote, LightLoadAsymptote
from cuesta.analysis.law import law
from cuesta.analysis.summary import Doubted, Summary, summarise
from cuesta.figures.limit import Limit
from cuesta.figures.step import LimitResult, PublishedComparison
from cuesta.report import phrases
from cuesta.report.figure import mark, marked
from cuesta.report.host_section import worth
from cuesta.report.run_report import text
from cuesta.report.sweep import limited, saturation
from tests.report import made_up
from tests.run_folder import RunFolder


@pytest.fixture(scope="module")
def plain_run(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return summarise(RunFolder(tmp_path_factory.mktemp("plain") / "run").write())


def test_a_negative_term_stands_in_brackets() -> None:
    found = law(4, 10.0, 20, {"think": -0.001, "keying": 0.2, "response_from_sent": 39.8})
    assert found
    first = phrases.law_terms(found)
    assert "− (−50.0 µs) − 10.0 ms =" in first


def test_advice_is_given_once(tmp_path: Path) -> None:
    found = summarise(made_up.bad(tmp_path / "bad"))
    first, *others = found.doubts
    again = Doubted(1, first.doubt)
    said = phrases.doubts(replace(found, doubts=[first, again, *others]))
    assert said[1] == (f"step 2: {said[0][0]}", "")
    assert phrases.with_advice(said[1]) == said[1][0]
    assert all(advice for _, advice in [said[0], *said[2:]])


def test_a_limit_without_a_value_says_what_the_tape_lacks(tmp_path: Path) -> None:
    with_echo = summarise(made_up.good(tmp_path / "good"))
    without = summarise(RunFolder(tmp_path / "run").write())
    limit = LimitResult("echo.max < 50ms", None, ok=False, is_duration=True, step=0)
    assert phrases.kept(limit) == "not measured"
    assert phrases.limit_value(limit, without) == "the tape times no echo; add `Set Echo screen`"
    assert phrases.limit_value(limit, with_echo) == "nothing was measured for it"
    assert phrases.limit_value(replace(limit, limit="response{a}.p50 < 1s"), without) == "nothing was measured for it"


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("driver.cpu < 50%", 0.0021, "0.21 %"),
        ("host.cpu.idle > 20%", 64.0, "64.0 %"),
        ("host.per_transaction.cpu_ms < 500us", 0.31, "310 µs"),
        ("errors.count == 0", 0.0, "0"),
        ("response.count > 5", 60.0, "60"),
        ("errors.rate < 1%", 0.005, "0.50 %"),
        ("throughput > 1/s", 2.0, "2.00/s"),
        ("characters.in_per_s_per_user > 1", 2.0, "2.00/s"),
        ("driver.rss_per_user < 1000", 2048.0, "2.00 KiB"),
        ("response.p99 != 1s", 0.1, "100 ms"),
    ],
)
def test_a_limit_shows_its_value_in_the_unit_of_the_figure(
    plain_run: Summary, limit: str, value: float, said: str
) -> None:
    result = LimitResult(limit, value, ok=True, is_duration=False, step=0)
    assert phrases.limit_value(result, plain_run) == said


def test_an_unequal_limit_has_the_column_of_its_figure(tmp_path: Path) -> None:
    limits = ["response.p99 != 1s", "errors.count==0", "throughput > 1/s", "response{x}.p95<=2s"]
    swept = summarise(RunFolder(tmp_path / "run", users=(2, 4), limits=limits).write())
    assert list(limited(swept).values()) == [
        *("response.p99", "errors.count", "transactions.per_s"),
        "response{x}.p95",
    ]


def test_percentiles_of_few_values_are_marked_in_a_sweep(tmp_path: Path) -> None:
    limits = ["response{a, b/c}.p99.9 < 9s", "response.p60 < 9s", "response.max < 9s"]
    (first, _) = summarise(RunFolder(tmp_path / "run", users=(2, 4), limits=limits).write()).steps
    marks = [mark(Limit.read(limit).figure, first) for limit in limits]
    assert marks == ["*", "", ""]
    assert marked("response.p99", first).endswith("*")
    assert not marked("transactions.per_s", first).endswith("*")


def test_a_record_with_a_class_that_a_plan_may_not_name_is_read(tmp_path: Path) -> None:
    row = {"what": "an echo", "figure": "echo{x}.p99", "value": "1s", "source": "A memo"}
    folder = RunFolder(tmp_path / "run", limits=["echo{x}.p99 < 1s"], published=[row]).write()
    said = text(summarise(folder), colour=False, verbose=True)
    assert re.search(r"not measured +echo{x}.p99 < 1s", said)
    assert re.search(r"an echo +4 users +nothing +1.00 s", said)


def test_a_published_value_has_the_unit_of_its_figure() -> None:
    row = PublishedComparison("CPU", "host.cpu.usr", None, 80.0, None, "A memo", 0, 8.0, 0.1, is_duration=False)
    assert phrases.beside(row)[:2] == ("8.0 %", "80.0 %")
    assert phrases.beside(replace(row, measured=None))[0] == "nothing"


def test_the_certainty_of_cpu_figures_is_stated_in_words(tmp_path: Path) -> None:
    host = summarise(made_up.good(tmp_path / "run")).last.host
    assert host.meters
    (said, *_) = worth(replace(host, meters=replace(host.meters, order=4, honesty="all of it is shared")))
    assert said == "CPU figures: least certain (level 4 of 4), because all of it is shared"


def test_a_sweep_says_at_how_many_users_it_saturates() -> None:
    light = LightLoadAsymptote(users=1, response=0.1, own=0.9, error=0.01)
    heavy = HeavyLoadAsymptote("servers", (8, 16), utilization=0.99, demand=0.05, error=0.01)
    (said,) = saturation(Asymptotes(light, "", heavy, ""))
    assert said.startswith("saturates at about 20.0 users, with 95 % from ")
    assert "where the ceiling set by servers is reached" in said
