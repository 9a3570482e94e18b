"""CPU time of the kernel's threads in a part of a run."""

import pytest

from cuesta.ledger.readings import KernelThreads

READ = KernelThreads([-0.5, 0.0, 1.0, 2.0], [0.0, 0.1, 0.3, 0.3])


@pytest.mark.parametrize(
    ("begin", "end", "used"),
    [(0.0, 1.0, 0.2), (-0.5, 2.0, 0.3), (0.5, 1.5, 0.1), (1.0, 2.0, 0.0), (-0.25, 0.5, 0.15), (0.5, 0.5, 0.0)],
)
def test_between_readings_time_is_interpolated(begin: float, end: float, used: float) -> None:
    assert READ.used_between(begin, end) == pytest.approx(used)


@pytest.mark.parametrize(("begin", "end"), [(-1.0, 1.0), (1.0, 2.1)])
def test_beyond_the_readings_there_is_no_figure(begin: float, end: float) -> None:
    assert READ.used_between(begin, end) is None
    assert KernelThreads([], []).used_between(0.0, 1.0) is None
