"""Distributions of durations: of 1, 2, … 10,000 ms each quantile is known."""

import pytest

from cuesta._native import Histogram
from cuesta.figures.durations import Distribution
from tests.hdr import encode

MANY = 10_000


def test_each_figure_of_a_distribution_has_its_own_quantile() -> None:
    found = Distribution.of(Histogram.decode(encode(number / 1000 for number in range(1, MANY + 1))))
    expected = {"min": 0.001, "mean": 5.0005, "p50": 5.0, "p90": 9.0, "p95": 9.5, "p99": 9.9, "p999": 9.99, "max": 10.0}
    assert found.count == MANY
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-3), name


def test_nothing_recorded_has_no_figures_but_its_count() -> None:
    assert Distribution.of(None) == Distribution(count=0)
