"""Reading the meters' record of a run, whole and damaged."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.ledger.meters import Gap, Metered, name_files, read_metered
from cuesta.ledger.rows import RowReader
from tests.run_folder import CLOCK, NANO

ABOUT = {"about": {"source": "here", "subject": "pid:4711", "why": "the host's process", "honesty": "shared"}}


def written(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps({"at": CLOCK, **row}, ensure_ascii=False) + "\n" for row in rows)


def read(folder: Path, text: str) -> tuple[Metered, list[str]]:
    (folder / "run").mkdir()
    (folder / "run" / "meters.jsonl").write_text(text, encoding="utf-8")
    return read_again(folder)


def read_again(folder: Path) -> tuple[Metered, list[str]]:
    metered, damage = Metered(), list[str]()
    read_metered([(0, folder / "run" / "meters.jsonl")], CLOCK, damage, RowReader(), metered)
    return metered, damage


def test_each_kind_of_row_is_read(tmp_path: Path) -> None:
    row = {"row": {"cpu": {}}, "seconds": 1.0, "at": CLOCK + 3 * NANO}
    of_step = [{"step": 1, "sheet": {"at": 5}}, {"step": 1, "profile": {"samples": 7}}]
    found, damage = read(tmp_path, written(ABOUT, row, *of_step))
    assert damage == []
    assert [(each.end, each.length) for each in found.rows] == [(3.0, 1.0)]
    assert (found.reports[1].at, found.profiles) == (5, {1: {"samples": 7}})
    assert found.about(4) == found.abouts[0]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0c", "\x1e"])
def test_only_a_newline_ends_a_row(tmp_path: Path, separator: str) -> None:
    why = f"it said:{separator}nothing"
    found, damage = read(tmp_path, written(ABOUT, {"gap": why}))
    assert (found.gaps, damage) == ([Gap(0.0, why)], [])


@pytest.mark.parametrize("row", ["[]", "7", '"text"', "{}", '{"at": 5, "about": {"more": 1}}', "\ufffd"])
def test_an_invalid_row_is_left_out_and_reported(tmp_path: Path, row: str) -> None:
    found, damage = read(tmp_path, written(ABOUT) + row + "\n" + written({"gap": "later"}))
    assert len(found.gaps) == 1
    assert damage == ["run/meters.jsonl: 1 row cannot be read and is left out"]


def test_a_file_that_cannot_be_opened_is_reported_as_damage(tmp_path: Path) -> None:
    (tmp_path / "run" / "meters.jsonl").mkdir(parents=True)
    assert read_again(tmp_path) == (Metered(), ["run/meters.jsonl: Is a directory"])


def test_further_hosts_have_files_with_their_names() -> None:
    assert name_files([]) == {"meters.jsonl": ""}
    hosts = ["gate", "10.7.0.2", "/../../else", "a\0", "a b", ""]
    assert name_files(hosts) == {"meters.jsonl": "gate", "meters-10.7.0.2.jsonl": "10.7.0.2"}
