"""Tools beside Cuesta: what is read of what they print, and the truth that their p99 is compared with."""

import random
from pathlib import Path

import pytest

from peers.job import Told
from peers.stall import hidden, true_p99
from peers.tools import locust, notes, tsung


def test_the_true_p99_is_that_of_keys_due_at_an_even_rate() -> None:
    dice, stop, seconds = random.Random(1), 1.4, 30.0
    begin = 12.0
    due = [dice.uniform(0, seconds) for _ in range(20_000)]
    waits = sorted(max(0.0, begin + stop - at) if at >= begin else 0.0 for at in due)
    assert waits[len(waits) * 99 // 100] == pytest.approx(true_p99(stop, seconds), abs=0.05)


def test_a_stop_of_less_than_a_hundredth_does_not_show_in_the_p99() -> None:
    assert true_p99(1.4, 140) == pytest.approx(0)
    assert true_p99(1.4, 200) == 0


def test_a_p99_hides_a_stop_if_it_is_below_half_of_the_true_one() -> None:
    assert hidden(0.005, 1.1)
    assert hidden(0.9, 1.1) is False
    assert hidden(None, 1.1) is None


def test_the_p99_and_the_longest_that_tsung_tells(tmp_path: Path) -> None:
    printed = (
        "Read : tsung-fullstats.log\nRead : 96 values for sample,connect\nPercentile 99 : 0.702\n"
        "Read : 419439 values for sample,request\nPercentile 99 : 3.903\n"
        "Read : 419535 values for sample,page\nPercentile 99 : 3.902\n"
    )
    assert tsung.p99_of(printed) == pytest.approx(0.003903)
    with pytest.raises(ValueError, match="told no p99"):
        tsung.p99_of("Can't locate JSON.pm")
    stats = tmp_path / "tsung-fullstats.log"
    stats.write_text(
        "{sample,connect,\n   [900.0]}\n{sample,request,\n   [0.361,\n    1390.4,0.413]}\n{sample,request,[2.0]}\n"
    )
    assert tsung.longest(stats) == pytest.approx(1.3904)


def test_the_p99_and_the_longest_that_locust_tells() -> None:
    stats = (
        "Type,Name,Request Count,Max Response Time,99%,100%\n"
        "tcp,key,14000,1399.2,6,1400\n,Aggregated,14000,1399.2,6,1400\n"
    )
    assert locust.told_by(stats) == Told(0.006, 1.3992)


def test_the_p99_and_the_longest_of_what_scripts_note(tmp_path: Path) -> None:
    for user in range(2):
        rows = [f"{1_795_703_234_308_524 + each} {each * 1000}\n" for each in range(100)]
        (tmp_path / f"{user}.notes").write_text("".join(rows))
    assert notes.told_by(tmp_path) == Told(0.099, 0.099)
    with pytest.raises(ValueError, match="nothing was noted"):
        notes.told_by(tmp_path / "none")
