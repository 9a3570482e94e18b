"""Sentences that no snapshot shows."""

from cuesta.analysis.law import law
from cuesta.report import words


def test_a_term_below_zero_stands_in_brackets() -> None:
    found = law(4, 10.0, 20, {"think": -0.001, "keying": 0.2, "response_from_sent": 39.8})
    assert found
    first, _ = words.law(found)
    assert "− (−50.0 µs) − 10.0 ms =" in first
