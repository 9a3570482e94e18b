"""What the report says of sweeps of TMux, deferral and aligned keys."""

from pathlib import Path

from cuesta.analysis.features.batching import find_effects
from cuesta.analysis.summary import summarise
from cuesta.report.features.batching import IN_DOUBT, first_answer, section
from cuesta.report.features.frontier import plot_frontier
from cuesta.report.model import Remark
from tests.analysis.features.test_batching import aligned
from tests.report.made_up import batching, good


def test_costs_name_the_setting_that_makes_them(tmp_path: Path) -> None:
    """Of two hold times one saves CPU and the other costs it, at the same number of users."""
    text = first_answer(summarise(batching(tmp_path / "run", holds=("off", "0ms", "20ms"))))
    assert text == (
        "TMux: it saves the host up to 40.0 % of its CPU per key (tmux 20ms, 400 users), at the earliest from 400 "
        "users on (tmux 20ms); it costs the host more CPU at 25 and 400 users (tmux 0ms) and it lengthens the "
        "response at every load"
    )


def test_the_wait_for_the_grid_of_aligned_keys_is_said_to_be_computed(tmp_path: Path) -> None:
    summary = summarise(aligned(batching(tmp_path / "run")))
    text = "half the grid, their mean wait for it, is added to the response: computed, not measured"
    assert first_answer(summary).endswith(f"; it lengthens the response at every load; {text}")
    for plot in plot_frontier(find_effects(summary)):
        assert "half the grid, the mean wait of keys for it" in plot.note
        assert [layer["data"]["values"][1]["s"] for layer in plot.spec["layer"][2:3]] == ["align with half the grid"]


def test_the_wait_for_the_grid_is_said_of_single_measurements_too(tmp_path: Path) -> None:
    text = first_answer(summarise(aligned(batching(tmp_path / "run", seeds=(1,)))))
    assert text.endswith("; half the grid, their mean wait for it, is added to the response: computed, not measured")


def test_without_aligned_keys_nothing_is_said_of_a_grid(tmp_path: Path) -> None:
    summary = summarise(batching(tmp_path / "run"))
    assert "grid" not in first_answer(summary)
    assert [plot.note for plot in plot_frontier(find_effects(summary))] == ["", ""]


def test_a_run_in_doubt_says_why_nothing_is_compared(tmp_path: Path) -> None:
    folder = batching(tmp_path / "run")
    (folder / "agent-0" / "agent.json").unlink()
    (part,) = section(summarise(folder))
    assert part.parts == [Remark(IN_DOUBT, "notice")]
    assert list(section(summarise(good(tmp_path / "other")))) == []
