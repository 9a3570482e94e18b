"""The figures of a run over time."""

from pathlib import Path

import pytest

from cuesta._native import Histogram
from cuesta.analysis.over_time import MOST_POINTS, over_time, percentile_curve
from cuesta.analysis.waits import Waits
from cuesta.ledger import open_run
from tests.hdr import encode
from tests.run_folder import RunFolder


def test_each_second_has_its_point_and_agents_are_pooled(tmp_path: Path) -> None:
    run = open_run(
        RunFolder(tmp_path / "run", agents=2, measure=5, responses=lambda _, agent, *__: [0.1 + agent]).write()
    )
    points = over_time(run)
    assert [point.at for point in points] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    assert {point.users for point in points} == {4}
    assert [point.per_s for point in points[2:]] == [2.0] * 5
    assert points[3].p50["response"] == pytest.approx(0.1, rel=1e-3)
    assert points[3].p99["response"] == pytest.approx(1.1, rel=1e-3)
    assert "echo" not in points[3].p50


def test_a_run_that_was_stopped_before_it_began_has_no_point(tmp_path: Path) -> None:
    run = open_run(RunFolder(tmp_path / "run", measure=1, edit=lambda row: {**row, "length": 0.0}).write())
    assert over_time(run) == []


def test_a_long_run_has_wider_points_and_loses_no_values(tmp_path: Path) -> None:
    run = open_run(RunFolder(tmp_path / "run", settle=0, measure=1000).write())
    points = over_time(run)
    assert len(points) <= MOST_POINTS
    assert sum(point.per_s for point in points) / len(points) == pytest.approx(2.0)


def test_a_percentile_curve_rises_to_the_maximum() -> None:
    histogram = Histogram.decode(encode(number / 1000 for number in range(1, 1001)))
    rarities, values = zip(*percentile_curve(Waits(histogram)), strict=True)
    assert (rarities[0], rarities[-1]) == (1.0, 1000.0)
    assert list(values) == sorted(values)
    assert values[-1] == histogram.max
    assert dict(zip(rarities, values, strict=True))[rarities[20]] == pytest.approx(0.9, rel=2e-3)


def test_a_percentile_curve_ends_where_unanswered_waits_make_it_unknown() -> None:
    answered, timed_out = (Histogram.decode(encode([seconds] * number)) for seconds, number in ((0.05, 90), (4.0, 10)))
    points = list(percentile_curve(Waits(answered, timed_out)))
    assert points[-1][0] == pytest.approx(10.0, rel=0.13)
    assert [value for _, value in points] == pytest.approx([0.05] * len(points), rel=1e-3)
