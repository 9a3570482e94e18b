"""`cuesta ledger` from the command line."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.cli import main
from tests.conftest import Write
from tests.run_folder import RunFolder

STUDIES = Path(__file__).parents[2] / "studies"
GOALS = STUDIES / "benchmark" / "1974.toml"
FORM = STUDIES / "certification" / "published.toml"


def test_the_goals_of_1974(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    assert main(["ledger", str(GOALS)]) == 0
    assert capsys.readouterr().out == snapshot


def test_the_form_of_1969_is_checked(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    assert main(["ledger", "--check", str(FORM)]) == 1
    assert capsys.readouterr().out == snapshot


def test_a_consistent_table_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "--check", str(STUDIES / "history" / "tmux-1993.toml")]) == 0
    assert capsys.readouterr().out.endswith(
        "121 values computed: 117 agree with the print, 4 within rounding, 0 do not. Nothing was rewritten.\n"
    )


def test_ledgers_and_findings_are_available_as_json(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["ledger", str(GOALS), "--json", "-", "--goal", "60"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["ledgers"]
    assert found["planned"]["improvements"][-1]["elapsed"]["mean"] == pytest.approx(51.62, abs=0.005)
    assert (found["rebased"]["goal"]["goal"], found["rebased"]["goal"]["met"]) == (60.0, True)
    assert main(["ledger", "--check", str(FORM), "--json", "out.json"]) == 1
    (checked,) = json.loads((here / "out.json").read_text())["checked"]
    assert {each["verdict"] for each in checked["findings"]} >= {"likely misread", "arithmetic error", "rounding"}


def test_runs_are_queried_by_sql(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    RunFolder(here / "runs" / "a", users=(2, 4), measure=3).write()
    RunFolder(here / "runs" / "b", measure=3, ended=None).write()
    question = [
        "ledger",
        "runs",
        "--sql",
        "select step, users, transactions_per_s x from steps order by users, x, step limit 2",
    ]
    assert main(question) == 0
    out = capsys.readouterr()
    assert out.out.splitlines() == [
        "step  users  x",
        "   0      2  2",
        "   0      4  2",
        "2 rows",
    ]
    assert out.err == f"read only in part: {here}/runs/b: agent-0/agent.json: No such file or directory\n"
    assert main([*question, "--csv"]) == 0
    assert capsys.readouterr().out == "step,users,x\n0,2,2.0\n0,4,2.0\n"
    assert main([*question, "--json", "-", "--database", "l.db"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "columns": ["step", "users", "x"],
        "rows": [[0, 2, 2.0], [0, 4, 2.0]],
    }
    assert main([*question, "--parquet", "x.parquet"]) == 0
    assert capsys.readouterr().out == "x.parquet: 2 rows\n"
    raw = (here / "runs" / "a" / "run.json").read_bytes()
    assert main([*question, "--parquet", "runs/a/run.json"]) == 1
    assert "exists, and is not a Parquet file" in capsys.readouterr().err
    assert (here / "runs" / "a" / "run.json").read_bytes() == raw
    assert main(["ledger", "runs", "--sql", "select 'nan'::double x, 'inf'::double y", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["rows"] == [[None, None]]
    assert (here / "l.db").exists()
    assert (here / "x.parquet").exists()


def test_an_unreadable_certification_is_left_out_and_reported(
    capsys: pytest.CaptureFixture[str], here: Path, write: Write
) -> None:
    (here / "half").mkdir()
    write("half/certification.json", '{"format": 1, "kind"')
    assert main(["ledger", "half"]) == 0
    assert capsys.readouterr().out.startswith("left out: half: half/certification.json: cannot be read")
    assert main(["ledger", "half", "--goal", "3"]) == 2
    assert "--goal needs a file of goals" in capsys.readouterr().err
    assert main(["ledger", "half", "--sql", "select damage from certifications"]) == 0
    assert "half/certification.json: cannot be read" in capsys.readouterr().err


def test_goals_for_own_systems(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    write(
        "goals.toml",
        """
        title = "ours"
        goal = 8
        [[system]]
        name = "1.0"
        date = 2026-01-01
        elapsed = 10.0
        [[improvement]]
        name = "faster paging"
        saves = "20-40%"
        touches = "50%"
        date = "summer"
        """,
    )
    assert main(["ledger"]) == 0
    out = capsys.readouterr().out
    assert "faster paging  summer             8.50          85.00  8.00 .. 9.00         20–40 % of 50 %" in out
    assert "goal 8.00 s: projected 8.50, 1.18 times as fast as 1.0: NOT MET\nchance to meet it 0.00" in out


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["nowhere"], 104, "nowhere: there is no such file or folder"),
        ([], 104, "there is no certification and no file of goals"),
        (["--check"], 2, "files with typed tables"),
        (["--csv"], 2, "go with --sql"),
        (["--sql", "from runs", "--check"], 2, "cannot be combined"),
        (["--sql", "drop table runs"], 2, "one SELECT"),
        (["--sql", "from runs", "--csv", "--json", "-"], 2, "both want standard output"),
        (["--sql", "from runs", "--parquet", "no/such.parquet"], 1, "cannot write there"),
        ([str(GOALS), "--base", "99"], 104, "no system is called 99"),
        ([str(FORM)], 104, "cuesta ledger --check checks it"),
        (["--check", str(FORM), "--goal", "3"], 2, "only to the list of systems"),
        (["--sql", "from runs", "--base", "x"], 2, "only to the list of systems"),
        (["--sql", "from runs", "--parquet", "x.parquet", "--csv"], 2, "cannot be combined"),
        (["--check", "."], 104, "not a table typed from a document"),
        (["--check", "bad.toml"], 104, "not a table typed from a document"),
        (["--check", "none.toml"], 104, "cannot be read"),
    ],
)
def test_impossible_requests_are_refused(
    arguments: list[str], exit_code: int, said: str, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "bad.toml").write_text('title = "only"')
    assert main(["ledger", *arguments]) == exit_code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("goal", ["nan", "inf", "0", "-3"])
def test_a_goal_is_a_time(goal: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["ledger", str(GOALS), f"--goal={goal}"])
    assert left.value.code == 2
    assert "expected a time of more than 0" in capsys.readouterr().err


def test_the_typed_tables_of_a_folder_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "--check", str(STUDIES / "certification"), "--json", "-"]) == 1
    (checked,) = json.loads(capsys.readouterr().out)["checked"]
    assert checked["file"] == str(FORM)


def test_the_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "--tables"]) == 0
    assert "steps: a row for each load step of a run" in capsys.readouterr().out
    assert main(["ledger", "--tables", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"]["columns"][0]["name"] == "folder"


@pytest.mark.parametrize("goal", ["x", "-3", "inf", "5s"])
def test_a_goal_that_is_no_time_is_refused(goal: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ledger", f"--goal={goal}"])
    assert f"expected a time of more than 0, without a unit, got '{goal}'" in capsys.readouterr().err
