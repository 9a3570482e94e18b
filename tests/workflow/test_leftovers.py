"""The next run tells what one that was killed may have left at web terminals."""

import json
import os
from pathlib import Path

import pytest

from cuesta.workflow.leftovers import warn_of_leftovers


def make_run(folder: Path, target: str, *, ended: bool, written: float) -> None:
    agent = folder / "agent-0"
    agent.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"format": 1, "host": {"targets": [target]}}))
    (agent / "series.jsonl").touch()
    if ended:
        (agent / "agent.json").touch()
    for file in (folder / "run.json", agent / "series.jsonl"):
        os.utime(file, (written, written))


@pytest.mark.parametrize(
    ("target", "ended", "written", "left"),
    [
        (
            "jupyter+ws://lab:8888/user/joe?keep",
            False,
            1000.0,
            "at jupyter+ws://lab:8888/user/joe: terminals named cuesta_",
        ),
        ("k8s+wss://api:6443/default/web", False, 1000.0, "at k8s+wss://api:6443/default/web: shells in its pods"),
        ("jupyter+ws://lab:8888", True, 1000.0, ""),
        ("ttyd+ws://lab:7681", False, 1000.0, ""),
        ("jupyter+ws://lab:8888", False, 4e9, ""),
    ],
    ids=["killed", "killed at pods", "ended", "nothing is left", "goes on"],
)
def test_only_a_run_that_was_cut_off_is_told(
    target: str, ended: bool, written: float, left: str, tmp_path: Path
) -> None:
    make_run(tmp_path / "earlier", "jupyter+ws://other:1", ended=False, written=500.0)
    make_run(tmp_path / "last", target, ended=ended, written=written)
    told = list(warn_of_leftovers(tmp_path / "new"))
    assert [text.partition("something ")[2][: len(left)] for text in told] == ([left] if left else [])


def test_a_first_run_has_none_before_it(tmp_path: Path) -> None:
    assert list(warn_of_leftovers(tmp_path / "runs" / "new")) == []
