"""How figures are written for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.units import interval, many, percent, seconds, seconds_between, seconds_within, share, write_rounded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0.0, "0 ns"),
        (1.23e-7, "123 ns"),
        (12.34e-6, "12.3 µs"),
        (0.341, "341 ms"),
        (0.0009996, "1.00 ms"),
        (0.9996, "1.00 s"),
        (2.0, "2.00 s"),
        (99.94, "99.9 s"),
        (1234.5, "1,234 s"),
        (-0.0012, "−1.20 ms"),
    ],
)
def test_durations(value: float | None, text: str) -> None:
    assert seconds(value) == text


@given(st.floats(1e-9, 1e5))
def test_a_duration_is_short_and_close_to_its_value(value: float) -> None:
    number, unit = seconds(value).split(" ")
    back = float(number.replace(",", "")) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
    assert len(seconds(value)) <= 9
    assert back == pytest.approx(value, rel=5.1e-3) or value < 1e-7


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0.0 %"), (0.0012, "0.12 %"), (0.123, "12.3 %"), (1.5, "150 %"), (-1e-5, "0.00 %")]
)
def test_shares(value: float, text: str) -> None:
    assert share(value) == text


def test_one_and_many() -> None:
    assert (many(1, "user"), many(12345, "user")) == ("1 user", "12,345 users")


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [(45.234, 0.4, "45.2"), (45.234, 3.0, "45"), (45.234, 20.0, "50"), (1234.5, 30.0, "1,230"), (-0.04, 1.0, "0")],
)
def test_digits_follow_the_error(value: float, error: float, text: str) -> None:
    assert write_rounded(value, error) == text


def test_an_interval_is_as_fine_as_its_percentage() -> None:
    assert [interval(0.11, 0.23), interval(0.95, 1.05), interval(1.08, 1.21), interval(44.41, 46.04)] == [
        "0.11–0.23",
        "0.95–1.05",
        "1.1–1.2",
        "44.4–46.0",
    ]
    assert [interval(4.2, 76.0), interval(8.0, 17.0), interval(0.0, 76.0)] == ["4–76", "8–17", "0–80"]
    assert [seconds_within(0.000996, 3e-4), seconds_between(4.2e-6, 76e-6)] == ["1.0 ms", "4–76 µs"]


def test_a_percentage_and_a_duration_with_an_error() -> None:
    assert [percent(0.123, None), percent(0.123, 0.02), percent(12.34, 0.001)] == ["0.1", "0.12", "12.3"]
    assert [seconds_within(0.1234, 0.03), seconds_within(2.0, 1e-4)] == ["120 ms", "2.00 s"]
