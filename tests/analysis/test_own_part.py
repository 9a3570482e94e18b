"""What the driver adds to durations, by lateness and drawing; too much of it voids them as figures of the host."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cuesta.analysis.own_part import why_void
from cuesta.analysis.summary import Summary, summarise
from cuesta.report.headline import big_figures, headline
from cuesta.report.limits import describe_limit_value
from cuesta.report.run_report import text
from tests.run_folder import Row, RunFolder

LATE = 0.00002
"""The lateness of each key of a `RunFolder`."""


def with_echoes(path: Path, echo: float) -> Summary:
    """A run whose keys echo in a time since due that contains their lateness."""
    echoes = [("interactive/keys/echo", [echo] * 20), ("interactive/keys/echo_from_sent", [echo - LATE] * 20)]
    return summarise(RunFolder(path, histograms=echoes).write())


def drawing(seconds: float, awaited: float) -> Callable[[Row], Row]:
    """In each second screens are drawn for so long, a part of it for users who wait for an answer."""
    screens = {"count": 4, "bytes": 200_000, "drawing": seconds, "awaited": awaited}
    return lambda row: row | {"screens": screens}


def test_an_echo_of_which_over_a_tenth_is_lateness_is_quoted_since_sent(tmp_path: Path) -> None:
    short, long = with_echoes(tmp_path / "short", 5 * LATE), with_echoes(tmp_path / "long", 11 * LATE)
    assert (short.last.driver.voids, long.last.driver.voids) == (["echo"], [])
    assert "a key echoes in 80.1 µs since sent, an answer takes 100 ms" in headline(short)
    assert "a key echoes in 220 µs, an answer takes 100 ms" in headline(long)
    assert next(big_figures(short)).label == "keystroke echo since sent"
    assert short.json()["driver"]["voids"] == ["echo"]


@pytest.mark.parametrize(
    ("late", "why"),
    [
        (2000, "of a median response of 5.00 ms this driver was late by 1.00 ms"),
        (20, "of a p99 response of 5.00 ms this driver was late by 1.00 ms"),
        (0, ""),
    ],
)
def test_the_percentile_is_named_of_which_lateness_takes_too_much(tmp_path: Path, late: int, why: str) -> None:
    lateness = [("interactive/keys/lateness", [1e-3] * late)]
    run = RunFolder(tmp_path / "run", responses=lambda *_: [5e-3, 5e-3], histograms=lateness)
    assert why_void(summarise(run.write()).last) == why


def test_an_answer_that_the_driver_drew_for_long_is_not_quoted_as_the_hosts(tmp_path: Path) -> None:
    limits = ("response.p50 < 50ms", "transactions.per_s > 1")
    summary = summarise(RunFolder(tmp_path / "run", edit=drawing(0.3, 0.2), limits=limits).write())
    why = "of a mean response of 149 ms this driver drew on screens for 100 ms"
    assert summary.last.driver.voids == ["response", "response_from_sent"]
    assert f"{why}; valid" in headline(summary)
    assert f"{why}: the times below contain it" in " ".join(text(summary, colour=False).split())
    said = [describe_limit_value(each, summary) for each in summary.last.limits]
    assert said == ["100 ms, over a tenth of it this driver's", "2.00/s"]
    assert summary.json()["limited_by"].startswith(f"the driver, not the host, at 4 users: {why}; use fewer users")


def test_what_is_drawn_while_nobody_waits_is_in_no_response(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path / "run", edit=drawing(0.3, 0.02)).write())
    assert summary.last.driver.voids == []
    assert "an answer takes 100 ms" in headline(summary)
    old = summarise(RunFolder(tmp_path / "old", edit=lambda row: row | {"screens": {"count": 4, "bytes": 1}}).write())
    assert old.last.driver.voids == []
