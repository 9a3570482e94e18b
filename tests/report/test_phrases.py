"""Sentences that no snapshot covers."""

from dataclasses import replace
from pathlib import Path

from cuesta.analysis.asymptotes import Asymptotes, Heavy, Light
from cuesta.analysis.law import law
from cuesta.analysis.summary import Doubted, summarise
from cuesta.figures.step import LimitResult
from cuesta.report import phrases
from cuesta.report.host import worth
from cuesta.report.sweep import saturation
from tests.report import made_up


def test_a_negative_term_stands_in_brackets() -> None:
    found = law(4, 10.0, 20, {"think": -0.001, "keying": 0.2, "response_from_sent": 39.8})
    assert found
    first = phrases.law_terms(found)
    assert "− (−50.0 µs) thinking − 10.0 ms keying =" in first


def test_advice_is_given_once(tmp_path: Path) -> None:
    found = summarise(made_up.bad(tmp_path / "bad"))
    first, *others = found.doubts
    again = Doubted(1, first.doubt)
    said = phrases.doubts(replace(found, doubts=[first, again, *others]))
    assert said[1] == (f"step 2: {said[0][0]}", "")
    assert phrases.with_advice(said[1]) == said[1][0]
    assert all(advice for _, advice in [said[0], *said[2:]])


def test_a_limit_without_a_value_says_what_the_tape_lacks() -> None:
    limit = LimitResult("echo.max < 50ms", None, ok=False, is_duration=True, step=0)
    assert phrases.kept(limit) == "not measured"
    assert phrases.limit_value(limit) == "the tape times no echo; add `Set Echo screen`"


def test_the_certainty_of_cpu_figures_is_stated_in_words(tmp_path: Path) -> None:
    host = summarise(made_up.good(tmp_path / "run")).last.host
    assert host.meters
    (said, *_) = worth(replace(host, meters=replace(host.meters, order=4, honesty="all of it is shared")))
    assert said == "CPU figures: least certain (level 4 of 4), because all of it is shared"


def test_a_sweep_says_at_how_many_users_it_saturates() -> None:
    light = Light(users=1, response=0.1, own=0.9, error=0.01)
    heavy = Heavy("servers", (8, 16), utilization=0.99, demand=0.05, error=0.01)
    (said,) = saturation(Asymptotes(light, "", heavy, ""))
    assert said.startswith("saturates at about 20.0 users, with 95 % from ")
    assert "where the ceiling set by servers is reached" in said
