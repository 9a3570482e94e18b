"""Ranges of TCP streams, whose offsets begin anew after 2^32."""

from hypothesis import example, given
from hypothesis import strategies as st

from cuesta.analysis.path.ranges import CONTROL, MODULUS, Range, is_control

OFFSETS = st.integers(0, 3 * MODULUS)
LENGTHS = st.integers(0, 40)


def at(start: int, length: int) -> Range:
    return Range(start % MODULUS, (start + length) % MODULUS)


@given(OFFSETS, LENGTHS, st.integers(-50, 50))
@example(MODULUS - 1, 2, 1)
@example(MODULUS, 1, 0)
def test_a_range_holds_the_bytes_behind_its_start_up_to_its_end(start: int, length: int, beyond: int) -> None:
    held = {(start + byte) % MODULUS for byte in range(1, length + 1)}
    offset = (start + beyond) % MODULUS
    assert at(start, length).holds(offset) == (offset in held)


@given(OFFSETS, LENGTHS, st.integers(-50, 50), LENGTHS)
@example(MODULUS - 3, 5, 2, 1)
def test_two_ranges_overlap_if_they_share_a_byte(start: int, length: int, apart: int, other: int) -> None:
    one, two = set(range(start, start + length)), set(range(start + apart, start + apart + other))
    assert at(start, length).overlaps(at(start + apart, other)) == bool(one & two)


def test_one_key_in_eight_is_left_out() -> None:
    """Whatever the length of a segment: the offsets of ssh's keys are 36 apart."""
    for step in (1, 2, 36, 44):
        keys = sum(is_control(port, step * key) for port in range(20_000, 20_020) for key in range(1, 4_001))
        assert abs(keys - 10_000) < 500
    assert CONTROL * 8 == MODULUS
