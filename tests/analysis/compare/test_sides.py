"""Sides as they lie in folders: which runs are used."""

import json
from pathlib import Path

import pytest

from cuesta.analysis.compare import sides
from cuesta.analysis.compare.run_sample import RunSample
from cuesta.analysis.compare.sides import in_pairs
from tests.analysis import runs


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of pairs whose runs are read from nothing: as many as the index has different rows."""

    def read(folder: Path, _step: int | None) -> RunSample:
        number = int(folder.parent.name.removeprefix("pair-"))
        return runs.run_sample(number, folder.name, folder=folder, figures={"throughput": 16.0 + number})

    monkeypatch.setattr(sides, "run_sample", read)
    return tmp_path


def index(folder: Path, *numbers: int, new: str = "new") -> None:
    rows = [{"pair": n, "base": f"pair-{n}/base", "new": f"pair-{n}/{new}", "first": "base"} for n in numbers]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_pairs_are_read_in_their_order(pairs: Path) -> None:
    index(pairs, 1, 2, 3)
    base, new = in_pairs(pairs)
    assert [str(run.folder.relative_to(pairs)) for run in base.runs] == ["pair-1/base", "pair-2/base", "pair-3/base"]
    assert (len(new.runs), base.left_out, new.left_out) == (3, [], [])


def test_a_pair_that_is_listed_again_is_no_repetition(pairs: Path) -> None:
    index(pairs, *[1] * 8)
    base, new = in_pairs(pairs)
    assert (len(base.runs), len(new.runs)) == (1, 1)
    assert {each.why for each in base.left_out} == {"it is pair-1/base once more"}
    assert {each.why for each in new.left_out} == {"it is pair-1/new once more"}


def test_a_run_is_no_pair_with_itself(pairs: Path) -> None:
    index(pairs, 1, new="base")
    base, new = in_pairs(pairs)
    assert (base.runs, new.runs) == ([], [])
    assert base.left_out[0].why == "the other run of its pair is left out"
    assert new.left_out[0].why == "it is pair-1/base once more"
