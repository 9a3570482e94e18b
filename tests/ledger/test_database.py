"""The ledger's database: rows of folders, queries, and what a query cannot do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuesta.analysis.sql_rows import rows_of_run
from cuesta.errors import CuestaError, UsageError
from cuesta.ledger.database import Database, SqlResult, check_select
from cuesta.ledger.discover import discover, fingerprint
from tests.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return RunFolder(tmp_path / "runs" / "one", users=(2, 4), measure=3, limits=("response.p50 < 1s",)).write()


@contextmanager
def database(folder: Path) -> Iterator[Database]:
    with Database.at(None) as made:
        made.replace_rows(str(folder), fingerprint(folder), rows_of_run(folder))
        yield made


def ask(folder: Path, sql: str) -> SqlResult:
    with database(folder) as made:
        return made.fetch(sql)


def write(folder: Path, sql: str, file: Path) -> int:
    with database(folder) as made:
        return made.write(sql, file)


def test_a_run_is_rows_of_several_tables(folder: Path) -> None:
    assert ask(folder, "select name, seed, ended, damage from runs").rows == [("made-up", 1, "completed", "")]
    sql = "select step, users, transactions from steps order by step"
    assert ask(folder, sql).rows == [(0, 2, 6), (1, 4, 6)]
    assert ask(folder, "select limit_text, ok from limits where step = 1").rows == [("response.p50 < 1s", True)]
    assert ask(folder, "select phase, count(*) from intervals group by all order by 1").rows == [
        ("measure", 6),
        ("settle", 4),
    ]


def test_tables_are_joined_by_folder(folder: Path) -> None:
    sql = 'select r.started, c."transaction", c.response_max from runs r join classes c using (folder) where step = 1'
    answer = ask(folder, sql)
    assert (answer.columns[1], answer.rows[0][1]) == ("transaction", "a, b/c")
    assert answer.rows[0][2] == pytest.approx(0.2, rel=1e-3)


def test_absent_figures_are_null_and_not_zero(folder: Path) -> None:
    assert ask(folder, "select distinct host_idle, echo_p50 from steps").rows == [(None, None)]


@pytest.mark.parametrize(
    "sql",
    [
        "drop table runs",
        "delete from runs",
        "select 1; select 2",
        "copy runs to 'out.csv'",
        "attach 'other.db'",
        "install httpfs",
        "set enable_external_access = true",
        "",
    ],
)
def test_a_query_is_one_select(sql: str) -> None:
    with pytest.raises(UsageError, match="one SELECT"):
        check_select(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('{file}')",
        "select * from read_json('{file}')",
        "select * from glob('/etc/*')",
        "from '{file}'",
        "select * from sqlite_scan('{file}', 'x')",
    ],
)
def test_a_query_reads_only_the_tables(folder: Path, sql: str) -> None:
    with pytest.raises(UsageError):
        ask(folder, sql.format(file=folder / "run.json"))


def test_a_result_is_written_as_parquet_only(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "it's.parquet"
    assert write(folder, "select users from steps order by step -- a remark", file) == 2
    first = file.read_bytes()
    assert first[:4] == first[-4:] == b"PAR1"
    assert write(folder, "select 1;", file) == 1  # an existing file is overwritten
    with pytest.raises(UsageError):
        write(folder, f"select * from read_text('{folder}/run.json')", file)


def test_an_invalid_query_is_refused(folder: Path) -> None:
    for sql, wrong in (
        ("selec 1", "syntax error"),
        ("from nope", "nope does not exist"),
        ("select nope from runs", "nope"),
    ):
        with pytest.raises(UsageError, match=wrong):
            ask(folder, sql)


def test_a_saved_database_reads_only_changed_folders(folder: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "ledger.db", RunFolder(tmp_path / "runs" / "two", measure=3).write()
    prints = {str(each): fingerprint(each) for each in (folder, other)}
    with Database.at(file) as made:
        assert made.changed(prints) == [str(folder), str(other)]
        for each in (folder, other):
            made.replace_rows(str(each), prints[str(each)], rows_of_run(each))
    with (other / "agent-0" / "series.jsonl").open("a") as series:
        series.write('{"half')
    prints[str(other)] = fingerprint(other)
    with Database.at(file) as made:
        assert made.changed(prints) == [str(other)]
        made.replace_rows(str(other), prints[str(other)], rows_of_run(other))
        assert made.damaged() == [f"{other}: agent-0/series.jsonl: the last row is cut off and left out"]
    del prints[str(folder)]
    with Database.at(file) as made:  # rows of a deleted folder are deleted
        assert made.changed(prints) == []
        assert made.fetch("select count(*) from runs").rows == [(1,)]


def test_a_saved_database_may_be_deleted_or_of_another_version(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    for _ in range(2):
        with Database.at(file) as made:
            assert made.changed({str(folder): "x"}) == [str(folder)]
            made.replace_rows(str(folder), "x", rows_of_run(folder))
        file.unlink()
    with Database.at(file) as made:
        made.replace_rows(str(folder), "x", rows_of_run(folder))
        made.connection.execute("UPDATE ledger_format SET shape = 'older'")
    with Database.at(file) as made:
        assert made.changed({str(folder): "x"}) == [str(folder)]


def test_a_file_that_is_not_a_database_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "precious.txt"
    file.write_text("mine" * 4000)
    with pytest.raises(CuestaError, match="not a database of this cuesta's ledger"), Database.at(file):
        pass
    assert file.read_text() == "mine" * 4000


def test_a_truncated_folder_is_read_up_to_that_point(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3, ended=None).write()
    series = folder / "agent-0" / "series.jsonl"
    series.write_bytes(series.read_bytes()[:-7])
    (run,) = rows_of_run(folder)["runs"]
    assert run["ended"] == ""
    assert "the last row is cut off" in run["damage"]
    (folder / "run.json").write_text('{"format": 99}')
    (run,) = rows_of_run(folder)["runs"]
    assert "is of format 99" in run["damage"]


def test_runs_are_found_below_folders_but_not_within_runs(tmp_path: Path) -> None:
    one = RunFolder(tmp_path / "a" / "one", measure=1).write()
    RunFolder(one / "inside", measure=1).write()
    RunFolder(tmp_path / ".hidden" / "two", measure=1).write()
    (tmp_path / "a" / "goals.toml").write_text("")
    found = discover([tmp_path, tmp_path / "a"])
    assert (found.runs, found.certifications, found.goals) == ([one], [], [tmp_path / "a" / "goals.toml"])
