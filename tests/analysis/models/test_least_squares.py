"""Fits that must not stop early."""

import pytest

from cuesta.analysis.models.least_squares import fit


def test_a_parameter_whose_slope_is_0_stops_no_other() -> None:
    """A delay that is cut off at 0: where it begins, no row changes with it."""
    found = fit(lambda p: [max(p[0], 0) + p[1] * x - 2 * x for x in (1, 2, 3)], [-1, 1])
    assert found.squares < 1e-12
    assert found.parameters[1] == pytest.approx(2)


def test_nothing_to_fit() -> None:
    found = fit(lambda _: [3.0, 4.0], [])
    assert (found.squares, found.freedom) == (25.0, 2)
