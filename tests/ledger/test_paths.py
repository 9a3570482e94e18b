"""The files of followed keys, whole, cut off, missing, and of agents on other clocks."""

from pathlib import Path

import pytest

from cuesta.ledger import open_run
from cuesta.ledger.paths import has_followed, name_path_files, read_followed, read_paths
from tests.followed import Line, at_shell, write_followed, write_lines
from tests.run_folder import CLOCK, NANO, RunFolder, change_run, write_rows


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return RunFolder(tmp_path / "run", measure=5).write()


def typed(group: str = "interactive") -> Line:
    line = Line(group=group)
    for number in range(4):
        line.type(3.0 + number / 10, at_shell())
    return line


def test_keys_and_paths_are_read(run: Path) -> None:
    line = typed(group='a "group", of users')
    write_lines(run, [line])
    recorded = open_run(run)
    keys = list(read_followed(recorded))
    assert [key.row.user_group for key in keys] == ['a "group", of users'] * 4
    assert [round(key.sent, 3) for key in keys] == [3.0, 3.1, 3.2, 3.3]
    assert keys[0].took == line.rows[0]["kernel_shown"] - line.rows[0]["kernel_sent"]
    paths = [record.path for _, record in read_paths(recorded, "paths.jsonl") if record.path]
    assert [path.key_to for path in paths] == [row["key_to"] for row in line.paths]
    assert paths[0].hops[1].kind == "on_cpu"
    assert not recorded.damage


def test_a_run_without_followed_keys_has_none(run: Path) -> None:
    recorded = open_run(run)
    assert not has_followed(recorded)
    assert [*read_followed(recorded), *read_paths(recorded, "paths.jsonl")] == []


def test_what_is_cut_off_is_left_out(run: Path) -> None:
    write_lines(run, [typed()])
    for name in ("agent-0/followed.csv", "paths.jsonl"):
        file = run / name
        file.write_bytes(file.read_bytes()[:-30])
    recorded = open_run(run)
    assert len(list(read_followed(recorded))) == 3
    assert len([record for _, record in read_paths(recorded, "paths.jsonl") if record.path]) >= 3
    assert [note.partition(":")[0] for note in recorded.damage] == ["agent-0/followed.csv", "run/paths.jsonl"]


def test_rows_that_cannot_be_read_are_left_out_and_told(run: Path) -> None:
    write_lines(run, [typed()])
    with (run / "paths.jsonl").open("a") as file:
        file.write('{"host_at": 1, "path": {"port": 1}}\nnonsense\n')
    with (run / "agent-0/followed.csv").open("a") as file:
        file.write('"g",1,echo,x\n')
    recorded = open_run(run)
    assert len(list(read_followed(recorded))) == 4
    list(read_paths(recorded, "paths.jsonl"))
    assert [note.partition(": ")[2] for note in recorded.damage] == [
        "1 row cannot be read and is left out",
        "2 rows cannot be read and are left out",
    ]


def test_columns_that_a_newer_version_adds_are_left_out(run: Path) -> None:
    write_followed(run, [typed()])
    file = run / "agent-0/followed.csv"
    file.write_text("".join(f"{row},1\n" for row in file.read_text().splitlines()))
    recorded = open_run(run)
    assert len(list(read_followed(recorded))) == 4
    assert not recorded.damage


def test_an_agent_may_have_another_clock(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", measure=5).write()
    write_followed(run, [typed()])
    ahead = 40 * NANO
    write_rows(
        run / "agents.jsonl",
        [{"at": CLOCK, "agent": 0, "node": "far", "clock": "its", "offset": ahead, "start_at": CLOCK}],
    )
    timeline = run / "agent-0/timeline.json"
    timeline.write_text(timeline.read_text().replace(str(CLOCK), str(CLOCK + ahead)))
    (key, *_) = read_followed(open_run(run))
    assert key.sent == pytest.approx(3.0 - ahead / NANO, abs=1e-4)


def test_each_host_has_a_file(run: Path) -> None:
    assert name_path_files(open_run(run)) == {"paths.jsonl": ""}
    change_run(run, metered=["bastion", "farm", "../etc"])
    assert name_path_files(open_run(run)) == {"paths.jsonl": "bastion", "paths-farm.jsonl": "farm"}
