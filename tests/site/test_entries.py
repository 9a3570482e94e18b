"""What there is below folders: ids, states, and links that leave a folder."""

import os
import time
from pathlib import Path

import pytest

from cuesta.errors import InputError
from cuesta.site.entries import Entries, find_state, list_files, name_entry
from tests.report import made_up
from tests.run_folder import RunFolder, change_run
from tests.site.folders import write_summary
from tests.test_old_folders import unpacked


def test_entries_are_found_with_the_newest_first(tmp_path: Path) -> None:
    change_run(RunFolder(tmp_path / "old").write(), started="2026-01-01T00:00:00Z")
    change_run(write_summary(made_up.search(tmp_path / "below" / "search")), started="2026-02-01T00:00:00Z")
    entries = [*Entries([tmp_path]).find().values()]
    assert [(entry.name, entry.kind) for entry in entries] == [("search", "search"), ("old", "run")]
    assert entries[0].summary["search"]["users"] is not None
    assert entries[0].address == f"/run/{name_entry(tmp_path / 'below' / 'search')}"


def test_runs_of_a_certification_are_parts_of_it(tmp_path: Path) -> None:
    unpacked("certification", tmp_path)
    certification, *runs = sorted(Entries([tmp_path]).find().values(), key=lambda entry: entry.kind)
    assert certification.kind == "certification"
    assert {run.part_of for run in runs} == {certification.id}
    assert {"run-1", "traced/run-1"} <= {run.name for run in runs}


def test_a_folder_has_the_same_id_in_every_process_and_no_two_have_the_same(tmp_path: Path) -> None:
    folders = [tmp_path / "a" / "run 1", tmp_path / "b" / "run 1", tmp_path / "a" / "…"]
    assert len({name_entry(folder) for folder in folders}) == 3
    assert name_entry(Path("/x/run 1")) == "run-1-c510de9e"


def test_a_summary_is_read_again_when_it_changes(tmp_path: Path) -> None:
    entries = Entries([tmp_path])
    folder = write_summary(RunFolder(tmp_path / "run").write())
    (before,) = entries.find().values()
    (folder / "summary.json").write_text('{"valid": false}')
    (after,) = entries.find().values()
    assert (before.summary["valid"], after.summary) == (True, {"valid": False})


def test_a_run_goes_on_as_long_as_it_is_written(tmp_path: Path) -> None:
    folder = made_up.cut_off(tmp_path / "run")
    assert find_state(folder, {}) == "goes on"
    for file in folder.rglob("*.jsonl"):
        os.utime(file, (time.time() - 60, time.time() - 60))
    assert find_state(folder, {}) == "cut off"
    assert find_state(RunFolder(tmp_path / "ended").write(), {}) == "ended"


def test_a_run_that_another_folder_says_what_it_is_is_left_out(tmp_path: Path) -> None:
    other = RunFolder(tmp_path / "elsewhere" / "run").write()
    RunFolder(tmp_path / "shown" / "one").write()
    linked = tmp_path / "shown" / "linked"
    linked.mkdir()
    (linked / "run.json").symlink_to(other / "run.json")
    (tmp_path / "shown" / "whole").symlink_to(other)
    assert [entry.name for entry in Entries([tmp_path / "shown"]).find().values()] == ["one"]


@pytest.mark.parametrize("target", ["/etc/hostname", "../../secret", "/etc"])
def test_a_link_out_of_a_folder_is_refused(tmp_path: Path, target: str) -> None:
    folder = RunFolder(tmp_path / "runs" / "run").write()
    (tmp_path / "secret").write_text("secret")
    (folder / "agent-0" / "inside").symlink_to("series.jsonl")
    assert folder / "agent-0" / "inside" in [*list_files(folder)]
    (folder / "agent-0" / "out").symlink_to(target)
    with pytest.raises(InputError, match="a link to what is outside of the folder"):
        _ = [*list_files(folder)]
