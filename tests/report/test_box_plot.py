"""Distributions in rows of characters."""

from cuesta._native import Histogram
from cuesta.analysis.waits import Waits
from cuesta.report.box_plot import WIDTH, draw_boxes
from tests.hdr import encode


def waits(*seconds: float) -> Waits:
    return Waits(answered=Histogram.decode(encode(seconds)))


def test_all_rows_have_one_logarithmic_axis() -> None:
    quick = waits(*(0.010 * 1.01**number for number in range(101)))
    slow = waits(*(0.020 * 1.01**number for number in range(101)))
    one, other, axis = draw_boxes({"1.4": quick, "a version \x1b with a long name": slow})
    assert one.startswith("1.4               ─")
    assert other.startswith("a version � wit…  ")
    assert one.index("|") < other.index("|") < WIDTH
    # A factor of 2 is as long everywhere: both medians are 69 of the 159 steps apart that the axis has (90 and 69).
    columns = len(axis) - axis.index("10.5 ms")
    assert abs((other.index("|") - one.index("|")) / (columns - 1) - 69 / 159) < 0.03
    assert axis.endswith("51.5 ms")


def test_one_value_has_a_mark_alone() -> None:
    row, _ = draw_boxes({"x": waits(0.02)})
    assert row.split() == ["x", "|"]


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw_boxes({}) == []
    assert draw_boxes({"x": waits(0.02), "y": Waits()}) == []
