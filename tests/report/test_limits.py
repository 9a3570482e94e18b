"""What the sections of limits and of published figures say."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.step import LimitResult, PublishedComparison
from cuesta.report.limits import compare_with_published, describe_limit_value, limit_status
from cuesta.report.run_report import text
from tests.report import made_up
from tests.run_folder import RunFolder


@pytest.fixture(scope="module")
def plain_run(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return summarise(RunFolder(tmp_path_factory.mktemp("plain") / "run").write())


def test_a_limit_without_a_value_says_what_the_tape_lacks(tmp_path: Path) -> None:
    with_echo = summarise(made_up.good(tmp_path / "good"))
    without = summarise(RunFolder(tmp_path / "run").write())
    limit = LimitResult("echo.max < 50ms", None, ok=False, is_duration=True, step=0)
    assert limit_status(limit) == "not measured"
    assert describe_limit_value(limit, without) == "the tape times no echo; add `Set Echo screen`"
    assert describe_limit_value(limit, with_echo) == "nothing was measured for it"
    assert describe_limit_value(replace(limit, limit="response{a}.p50 < 1s"), without) == "nothing was measured for it"


@pytest.mark.parametrize(
    ("limit", "value", "message"),
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
    plain_run: Summary, limit: str, value: float, message: str
) -> None:
    result = LimitResult(limit, value, ok=True, is_duration=False, step=0)
    assert describe_limit_value(result, plain_run) == message


def test_a_record_with_a_class_that_a_plan_may_not_name_is_read(tmp_path: Path) -> None:
    row = {"what": "an echo", "figure": "echo{x}.p99", "value": "1s", "source": "A memo"}
    folder = RunFolder(tmp_path / "run", limits=["echo{x}.p99 < 1s"], published=[row]).write()
    message = text(summarise(folder), colour=False, verbose=True)
    assert re.search(r"not measured +echo{x}.p99 < 1s", message)
    assert re.search(r"an echo +4 users +nothing +1.00 s", message)


def test_a_published_value_has_the_unit_of_its_figure() -> None:
    row = PublishedComparison("CPU", "host.cpu.usr", None, 80.0, None, "A memo", 0, 8.0, 0.1, is_duration=False)
    assert compare_with_published(row)[:2] == ("8.0 %", "80.0 %")
    assert compare_with_published(replace(row, measured=None))[0] == "nothing"
