"""Fits that must not stop early, and what the rows do not determine."""

import math

import pytest

from cuesta.analysis.models.least_squares import fit


def test_a_parameter_whose_slope_is_0_stops_no_other() -> None:
    """A delay that is cut off at 0: where it begins, no row changes with it."""
    found = fit(lambda p: [max(p[0], 0) + p[1] * x - 2 * x for x in (1, 2, 3)], [-1, 1])
    assert found.squares < 1e-12
    assert found.parameters[1] == pytest.approx(2)
    assert found.standard_errors == [math.inf, pytest.approx(0, abs=1e-6)]


def test_parameters_that_replace_one_another_are_not_determined() -> None:
    """Two constants add up: the rows tell their sum and the slope, whose error is that of the textbook."""
    off = (0.1, -0.1, -0.1, 0.1)
    found = fit(lambda p: [p[0] + p[1] + p[2] * x - 2 * x - e for x, e in enumerate(off)], [0, 0, 0])
    assert found.standard_errors == [math.inf, math.inf, pytest.approx(math.sqrt(found.squares / 1 / 5))]
    assert fit(lambda p: [p[0] - 1], [0]).standard_errors == [math.inf], "no degree of freedom is left"


def test_nothing_to_fit() -> None:
    found = fit(lambda _: [3.0, 4.0], [])
    assert (found.squares, found.freedom, found.standard_errors) == (25.0, 2, [])
