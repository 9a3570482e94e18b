"""What is seen of a run from its folder while it goes on is what its agents told."""

import shutil
from pathlib import Path

from cuesta.ledger.run_tail import RunTail
from cuesta.live.view import merge
from tests.run_folder import RunFolder

SERIES = ("agent-0/series.jsonl", "agent-1/series.jsonl")


def test_an_interval_is_seen_once_all_agents_have_recorded_it(tmp_path: Path) -> None:
    whole = RunFolder(tmp_path / "whole", agents=2, settle=1, measure=3).write()
    growing = shutil.copytree(whole, tmp_path / "growing")
    rows = {name: (whole / name).read_text().splitlines(keepends=True) for name in SERIES}
    tail, seen = RunTail(growing), list[float]()
    for count in range(5):
        for name in SERIES:
            (growing / name).write_text("".join(rows[name][:count]) + rows[name][min(count, 3)][:9])
        seen += [view.elapsed for each in tail.read() if (view := merge(each))]
    assert seen == [1.0, 2.0, 3.0, 4.0]


def test_durations_of_the_interval_are_those_of_all_agents(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2, settle=1, measure=2, responses=lambda *_: [0.1, 0.3])
    views = [merge(each) for each in RunTail(folder.write()).read()]
    measured = views[-1]
    assert measured
    assert measured.response
    assert (measured.users, measured.response.count) == (4, 4)
    assert abs(measured.response.p99 - 0.301) < 0.001
