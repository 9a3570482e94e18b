"""Sizes of answers: a host that says BUSY under load does not do what it is asked."""

from pathlib import Path

import pytest

from cuesta.analysis.summary import Summary, summarise
from tests.run_folder import RunFolder, rows

ASK = "interactive/ask"


def swept(path: Path, *sizes: list[int]) -> Summary:
    """A sweep of one step for each list of sizes, of 2, 4, 8 … users."""
    users = tuple(2 ** (1 + number) for number in range(len(sizes)))
    folder = RunFolder(path, users=users, measure=5, histograms=[(f"{ASK}/response", [0.1] * 60)])
    made = folder.write()
    log = (made / "agent-0" / "histograms.hlog").read_text().splitlines(keepends=True)
    for step, characters in enumerate(sizes):
        first = step * (folder.settle + folder.measure) + folder.settle
        log += rows(step, first, [(f"{ASK}/characters", [number * 1e-9 for number in characters])])
    (made / "agent-0" / "histograms.hlog").write_text("".join(log))
    return summarise(made)


def list_shrunk(summary: Summary) -> list[str]:
    return [str(each) for each in summary.doubts if "shrank" in str(each)]


def test_the_sizes_of_answers_are_figures_of_their_class(tmp_path: Path) -> None:
    step = swept(tmp_path / "run", [20] * 10 + [150] * 90).last
    (of,) = (each.characters for each in step.classes if each.transaction == "ask")
    assert (of.count, of.min, of.p5, of.p50, of.p95, of.max) == (100, 20, 20, 150, 150, 150)
    assert of.mean == pytest.approx(137, rel=1e-3)


def test_answers_that_shrank_under_load_are_doubted(tmp_path: Path) -> None:
    summary = swept(tmp_path / "run", [150] * 60, [150] * 55 + [20] * 5, [150] * 40 + [20] * 20)
    assert list_shrunk(summary) == [
        "step 3: answers of ask shrank: 33.3 % have at most 75, for 150 characters with 2 users",
    ]
    assert not any(limit.ok for limit in summary.last.limits)


@pytest.mark.parametrize(
    "sizes",
    [
        ([20] * 30 + [150] * 30, [20] * 32 + [150] * 28),  # a class of two sizes, at either load
        ([150] * 60, [150] * 5 + [20] * 3),  # too few to tell
        ([150] * 60, [110] * 60),
        ([20] * 60, [150] * 60),  # they grew
        ([2] * 60, [1] * 60),  # a prompt alone
    ],
)
def test_other_sizes_raise_no_doubt(tmp_path: Path, sizes: tuple[list[int], list[int]]) -> None:
    assert list_shrunk(swept(tmp_path / "run", *sizes)) == []
