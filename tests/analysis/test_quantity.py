"""Prints as quantities, and formulas over them."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.history.formula import expand, parse
from cuesta.analysis.quantity import Quantity, parse_print, parse_unit, write_like
from cuesta.errors import InputError


@pytest.mark.parametrize(
    ("text", "low", "value", "high"),
    [
        ("25.4", 25.35, 25.4, 25.45),
        ("25.40 sec.", 25.395, 25.4, 25.405),
        (".68", 0.675, 0.68, 0.685),
        ("33%", 32.5, 33.0, 33.5),
        ("1,442,527", 1442526.5, 1442527.0, 1442527.5),
        ("<15%", 0.0, 15.0, 15.0),
        (">200", 200.0, 200.0, inf),
        ("10-12%", 10.0, 11.0, 12.0),
        ("0:36:13", 2173.0, 2173.5, 2174.0),
        ("4:43", 283.0, 283.5, 284.0),
        ("6.", 5.5, 6.0, 6.5),
    ],
)
def test_a_print_stands_for_the_range_that_rounds_to_it(text: str, low: float, value: float, high: float) -> None:
    found = parse_print(text)
    assert found
    assert [found.low, found.value, found.high] == pytest.approx([low, value, high])


def test_a_truncated_value_is_not_less_than_its_print() -> None:
    found = parse_print("24.849", cut_off=True)
    assert found
    assert [found.low, found.value, found.high] == pytest.approx([24.849, 24.849, 24.85], rel=1e-9)


@pytest.mark.parametrize(
    "text", ["", "N/A", "--", "B.06", "T.46", "7.679.891", "4u,514", "ug8.877", "S54T7.643", "70 371"]
)
def test_text_without_a_number_has_no_quantity(text: str) -> None:
    assert parse_print(text) is None


def test_formulas_propagate_bounds() -> None:
    a, b = Quantity(1.0, 2.0, 3.0), Quantity(-1.0, 1.0, 2.0)
    assert a + b == Quantity(0.0, 3.0, 5.0)
    assert a - b == Quantity(-1.0, 1.0, 4.0)
    assert a * b == Quantity(-3.0, 2.0, 6.0)
    assert (a / b).high == inf
    with pytest.raises(ZeroDivisionError):
        _ = a / Quantity(0.0, 0.0, 1.0)


def test_a_computed_number_is_written_in_the_format_of_the_print() -> None:
    assert [write_like(112674.2, "112,676"), write_like(38.823, "30.86"), write_like(2173.7, "0:36:18")] == [
        "112,674",
        "38.82",
        "0:36:13",
    ]
    assert [parse_unit("91.8 System"), parse_unit("52 min."), parse_unit("<15%")] == ["System", "min", "%"]


def test_placeholders_match_every_fitting_name() -> None:
    names = ["a.x.n", "a.y.n", "b.x.n", "a.total.n"]
    assert list(expand("a.{row}.n = b.{row}.n", names)) == ["a.x.n = b.x.n"]
    assert list(expand("{t}.x.n = 1", names)) == ["a.x.n = 1", "b.x.n = 1"]


def test_a_star_sums_all_matching_names() -> None:
    assert parse("1 = sum(a.*.n)", ["a.x.n", "a.y.n", "b.x.n", "a.x.y.n"]).names == ("a.x.n", "a.y.n")


@given(st.text(max_size=40))
def test_any_text_is_read_as_a_print_without_failure(text: str) -> None:
    found = parse_print(text)
    assert found is None or found.low <= found.value <= found.high


@given(st.text(st.sampled_from('ab.{}()*+-/%,"=<> 1x\tsum in divides'), max_size=60))
def test_any_text_is_read_as_a_formula_or_refused(text: str) -> None:
    try:
        for each in expand(text, ["a.b", "x"]):
            assert parse(each, ["a.b", "x"]).relation
    except InputError as error:
        assert str(error)  # noqa: PT017
