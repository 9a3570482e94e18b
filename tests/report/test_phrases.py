"""Sentences that no snapshot shows."""

from dataclasses import replace
from pathlib import Path

from cuesta.analysis.law import law
from cuesta.analysis.summary import Doubted, summarise
from cuesta.report import phrases
from tests.report import made_up


def test_a_term_below_zero_stands_in_brackets() -> None:
    found = law(4, 10.0, 20, {"think": -0.001, "keying": 0.2, "response_from_sent": 39.8})
    assert found
    first = phrases.law_terms(found)
    assert "− (−50.0 µs) thinking − 10.0 ms keying =" in first


def test_what_to_do_is_said_once(tmp_path: Path) -> None:
    found = summarise(made_up.bad(tmp_path / "bad"))
    first, *others = found.doubts
    again = Doubted(1, first.doubt)
    said = phrases.doubts(replace(found, doubts=[first, again, *others]))
    assert said[1] == (f"step 2: {said[0][0]}", "")
    assert phrases.with_advice(said[1]) == said[1][0]
    assert all(advice for _, advice in [said[0], *said[2:]])
