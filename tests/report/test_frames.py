"""Frames that show keys: their figures, the row of their times, and what is said of a program that draws much."""

from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from cuesta.figures.counts import Frames
from cuesta.report.frames import describe_costly_frames, describe_frames
from cuesta.report.run_report import text
from tests.run_folder import RunFolder, measured

SECONDS = 30
"""Measured seconds of a folder, of one agent."""


def frames(path: Path, *, frame: float, **counted: int) -> Path:
    """A run whose keys echo in 2 ms; `counted`: the frames of each second."""
    keys = [("interactive/keys/echo", [0.002] * 300), ("interactive/keys/echo_from_sent", [0.002] * 300)]
    keys.append(("interactive/keys/whole_frame", [frame] * 300))
    counts = {"count": 10, "bytes": 310, "keys": 10, "shared": 0, "followed": 10, "drawn": 10} | counted
    return RunFolder(path, histograms=keys, measure=SECONDS, edit=measured(frames=counts)).write()


def test_figures_are_divided_by_the_keys_that_frames_showed(tmp_path: Path) -> None:
    folder = frames(tmp_path / "run", frame=0.004, count=8, shared=4, drawn=12)
    step = summarise(folder).last
    assert step.frames
    assert (step.frames.per_key, step.frames.bytes_per_key) == (1.2, 31.0)
    assert step.frames.shared_keys == 0.4 * step.frames.keys
    assert step.whole_frame.p50 == pytest.approx(0.004, rel=1e-3)
    assert step.keys[0].whole_frame == step.whole_frame


def test_bytes_are_those_of_all_frames_drawn_for_a_key(tmp_path: Path) -> None:
    folder = frames(tmp_path / "run", frame=0.004, drawn=20, drawn_bytes=10_640)
    step = summarise(folder).last
    assert step.frames
    assert (step.frames.per_key, step.frames.bytes_per_key) == (2.0, 1064.0)
    assert "a key takes 1,064 bytes" in " ".join(text(summarise(folder)).split())


def test_without_frames_there_is_no_figure(tmp_path: Path) -> None:
    keys = [("interactive/keys/echo", [0.002] * 300)]
    step = summarise(RunFolder(tmp_path / "run", histograms=keys).write()).last
    assert (step.frames, step.whole_frame.count, step.whole_frame.p50) == (None, 0, None)


@pytest.mark.parametrize(("frame", "is_shown"), [(0.002, False), (0.0021, False), (0.004, True)])
def test_the_times_of_frames_are_shown_where_they_are_not_those_of_echoes(
    tmp_path: Path, frame: float, is_shown: bool
) -> None:
    summary = summarise(frames(tmp_path / "run", frame=frame))
    assert ("whole frame" in text(summary)) == is_shown
    assert "whole frame" in text(summary, verbose=True)
    assert "a key takes 1.00 frames and 31.0 bytes; none shared a frame with others" in " ".join(
        text(summary, verbose=True).split()
    )


def test_a_limit_on_frames_says_what_it_needs(tmp_path: Path) -> None:
    limits = ["whole_frame.p95 < 50ms", "frames.bytes_per_key < 100"]
    kept = RunFolder(tmp_path / "run", limits=limits, histograms=[("interactive/keys/whole_frame", [0.004] * 300)])
    counts = {"count": 10, "bytes": 310, "keys": 10, "shared": 0, "followed": 10, "drawn": 10}
    kept.edit = measured(frames=counts)
    assert [limit.ok for limit in summarise(kept.write()).last.limits] == [True, True]
    timed = RunFolder(tmp_path / "timed", limits=limits, histograms=[("interactive/keys/echo", [0.004] * 300)])
    output = " ".join(text(summarise(timed.write())).split())
    assert output.count("the tape times no key by a screen; add `Set Echo screen`") == 2, output


def test_what_a_program_draws_beyond_the_usual_is_said() -> None:
    def said(per_key: float = 1.0, bytes_per_key: float = 31.0, shared_keys: int = 0) -> list[str]:
        return list(describe_costly_frames(Frames(300, per_key, bytes_per_key, shared_keys)))

    assert said() == said(per_key=2.0, bytes_per_key=200.0, shared_keys=10) == []
    [many_bytes] = said(bytes_per_key=1055.0)
    assert "1,055 bytes" in many_bytes
    assert "only the cells that differ" in many_bytes
    [many_frames] = said(per_key=4.5)
    assert many_frames.startswith("4.50 frames are drawn for a key")
    [shared] = said(shared_keys=60)
    assert shared.startswith("60 of 300 keys (20.0 %) shared a frame with others")


def test_the_sentence_leaves_out_what_is_not_known() -> None:
    assert describe_frames(Frames(30, None, 12.0, 2)) == (
        "a key takes 12.0 bytes; 2 of 30 keys (6.7 %) shared a frame with others"
    )
