"""What the report says of sweeps of TMux, deferral and aligned keys."""

from pathlib import Path

from cuesta.analysis import summarise
from cuesta.report.batching import first_answer
from tests.report.made_up import batching


def test_costs_name_the_setting_that_makes_them(tmp_path: Path) -> None:
    """Of two hold times one saves CPU and the other costs it, at the same number of users."""
    said = first_answer(summarise(batching(tmp_path / "run", holds=("off", "0ms", "20ms"))))
    assert said == (
        "TMux: it saves the host up to 40.0 % of its CPU per key (tmux 20ms, 400 users), at the earliest from 400 "
        "users on (tmux 20ms); it costs the host more CPU at 25 and 400 users (tmux 0ms) and it lengthens the "
        "response at every load"
    )
