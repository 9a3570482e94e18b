"""Folders of runs, and the index of pairs."""

from pathlib import Path

import pytest

from cuesta.errors import InputError
from cuesta.ledger.experiment import read_pairs, run_folders


def run(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    return folder


def test_one_run_is_a_side(tmp_path: Path) -> None:
    assert run_folders(run(tmp_path / "one")) == [tmp_path / "one"]


def test_runs_are_sorted_by_number_and_other_entries_are_ignored(tmp_path: Path) -> None:
    made = [run(tmp_path / f"run-{number}") for number in (1, 2, 10)]
    run(tmp_path / "excluded" / "run-1")
    (tmp_path / "notes").mkdir()
    assert run_folders(tmp_path) == made


@pytest.mark.parametrize(("folder", "said"), [("none", "no such folder"), (".", "holds no run")])
def test_a_folder_without_runs_is_refused(tmp_path: Path, folder: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        run_folders(tmp_path / folder)


def test_a_last_pair_without_its_newline_was_not_complete(tmp_path: Path) -> None:
    row = '{"pair": 1, "base": "pair-1/base\u2028", "new": "pair-1/new", "first": "new"}'
    (tmp_path / "pairs.jsonl").write_text(f"{row}\n{row}", encoding="utf-8")
    (found,) = read_pairs(tmp_path)
    assert (found.base, found.new, found.first) == (tmp_path / "pair-1/base\u2028", tmp_path / "pair-1/new", "new")


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pairs"):
        read_pairs(tmp_path)
