"""The in-kernel path: the share of characters that took it, and the doubt about those that did not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cuesta.analysis.summary import Summary, summarise
from tests.report import made_up
from tests.run_folder import Row, change_run, write_rows


def run(path: Path, change: Callable[[Row], Row], **plan: object) -> Summary:
    """A run whose built-in host recorded these changes in each second."""
    folder = change_run(made_up.good(path / "run"), plan=plan)
    series = folder / "host" / "series.jsonl"
    write_rows(series, [change(json.loads(row)) for row in series.read_text().splitlines()])
    return summarise(folder)


def traffic(typed: int, out: int) -> Row:
    """Figures of the in-kernel path by which these characters passed."""
    return {
        "lines": {"joined": 1, "refused": {}},
        "input": {"kernel": typed, "commands": 8, "lost": 0},
        "output": {"kernel": out, "user": {"escape": 2}},
    }


def share(summary: Summary) -> float | None:
    built_in = summary.last.host.builtin
    assert built_in
    return built_in.in_kernel


def test_the_share_is_of_the_characters_of_all_lines(tmp_path: Path) -> None:
    passed = traffic(10, 26)
    # 2 were typed on a line that was refused.
    characters = {"typed": 12, "out": 28}
    taken = run(tmp_path, lambda row: row | {"kernel_path": passed, "characters": row["characters"] | characters})
    assert share(taken) == pytest.approx(0.9)
    assert share(run(tmp_path / "without", lambda row: row)) is None


@pytest.mark.parametrize(
    ("user", "allowed", "said"),
    [
        (0, 0.99, []),
        (4, 0.99, ["only 90.0 % of the characters took the in-kernel path (at least 99.0 %)"]),
        (4, 0.9, []),
        (None, 0.5, ["the in-kernel path was not taken"]),
    ],
)
def test_characters_that_missed_it_are_doubted(
    tmp_path: Path, user: int | None, allowed: float, said: list[str]
) -> None:
    def change(row: Row) -> Row:
        taken = None if user is None else traffic(18, 18)
        return row | {"kernel_path": taken, "characters": row["characters"] | {"typed": 18, "out": 18 + (user or 0)}}

    summary = run(tmp_path, change, host={"path": "kernel"}, validity={"in_kernel": allowed})
    assert [str(each) for each in summary.doubts] == said
