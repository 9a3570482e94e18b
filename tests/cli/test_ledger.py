"""`cuesta ledger` from the command line."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write
from tests.run_folder import RunFolder

STUDIES = Path(__file__).parents[2] / "studies"
GOALS = STUDIES / "benchmark" / "1974.toml"
FORM = STUDIES / "certification" / "published.toml"


def test_the_goals_of_1974(cuesta: Cuesta, snapshot: SnapshotAssertion) -> None:
    assert cuesta("ledger", GOALS).ends().out == snapshot


def test_the_form_of_1969_is_checked(cuesta: Cuesta, snapshot: SnapshotAssertion) -> None:
    assert cuesta("ledger", "--check", FORM).ends(Exit.FAILED).out == snapshot


def test_a_consistent_table_passes(cuesta: Cuesta) -> None:
    text = cuesta("ledger", "--check", STUDIES / "history" / "tmux-1993.toml").ends().out
    assert text.endswith(
        "121 values computed: 117 agree with the print, 4 within rounding, 0 do not. Nothing was rewritten.\n"
    )


def test_ledgers_and_findings_are_available_as_json(cuesta: Cuesta, here: Path) -> None:
    (document,) = cuesta("ledger", GOALS, "--json", "-", "--goal", "60").ends().json["ledgers"]
    assert document["planned"]["improvements"][-1]["elapsed"]["mean"] == pytest.approx(51.62, abs=0.005)
    assert (document["rebased"]["goal"]["goal"], document["rebased"]["goal"]["met"]) == (60.0, True)
    cuesta("ledger", "--check", FORM.parent, "--json", "out.json").ends(Exit.FAILED)
    (checked,) = json.loads((here / "out.json").read_text())["checked"]
    assert checked["file"] == str(FORM), "the typed tables of a folder are checked"
    assert {each["verdict"] for each in checked["findings"]} >= {"likely misread", "arithmetic error", "rounding"}


def test_runs_are_queried_by_sql(cuesta: Cuesta, here: Path) -> None:
    RunFolder(here / "runs" / "a", users=(2, 4), measure=3).write()
    RunFolder(here / "runs" / "b", measure=3, ended=None).write()
    query = "select step, users, transactions_per_s x from steps order by users, x, step limit 2"
    question = ["ledger", "runs", "--sql", query]
    ended = cuesta(*question).ends()
    assert ended.out.splitlines() == ["step  users  x", "   0      2  2", "   0      4  2", "2 rows"]
    assert ended.err == f"read only in part: {here}/runs/b: agent-0/agent.json: No such file or directory\n"
    assert cuesta(*question, "--csv").ends().out == "step,users,x\n0,2,2.0\n0,4,2.0\n"
    assert cuesta(*question, "--json", "-", "--database", "l.db").ends().json == {
        "columns": ["step", "users", "x"],
        "rows": [[0, 2, 2.0], [0, 4, 2.0]],
    }
    assert cuesta(*question, "--parquet", "x.parquet").ends().out == "x.parquet: 2 rows\n"
    raw = (here / "runs" / "a" / "run.json").read_bytes()
    cuesta(*question, "--parquet", "runs/a/run.json").ends(Exit.FAILED, "exists, and is not a Parquet file")
    assert (here / "runs" / "a" / "run.json").read_bytes() == raw
    infinite = cuesta("ledger", "runs", "--sql", "select 'nan'::double x, 'inf'::double y", "--json", "-").ends().out
    assert json.loads(infinite, parse_constant=pytest.fail)["rows"] == [[None, None]]
    assert (here / "l.db").exists()
    assert (here / "x.parquet").exists()


def test_an_unreadable_certification_is_left_out_and_reported(cuesta: Cuesta, here: Path, write: Write) -> None:
    (here / "half").mkdir()
    write("half/certification.json", '{"format": 1, "kind"')
    text = cuesta("ledger", "half").ends().out
    assert text.startswith("left out: half: half/certification.json: cannot be read")
    cuesta("ledger", "half", "--goal", "3").ends(Exit.USAGE, "--goal needs a file of goals")
    asked = cuesta("ledger", "half", "--sql", "select damage from certifications")
    asked.ends(Exit.GOOD, "half/certification.json: cannot be read")


def test_goals_for_own_systems(cuesta: Cuesta, write: Write) -> None:
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
    out = cuesta("ledger").ends().out
    assert "faster paging  summer             8.50          85.00  8.00 .. 9.00         20–40 % of 50 %" in out
    assert "goal 8.00 s: projected 8.50, 1.18 times as fast as 1.0: NOT MET\nchance to meet it 0.00" in out


NO_TIME = "expected a time of more than 0, without a unit, got "


@pytest.mark.parametrize(
    ("arguments", "exit_code", "text"),
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
        *(([f"--goal={goal}"], 2, f"{NO_TIME}'{goal}'") for goal in ("nan", "inf", "0", "-3", "x", "5s")),
    ],
)
def test_impossible_requests_are_refused(
    arguments: list[str], exit_code: int, text: str, cuesta: Cuesta, here: Path
) -> None:
    (here / "bad.toml").write_text('title = "only"')
    cuesta("ledger", *arguments).ends(exit_code, text)


def test_the_tables_are_listed(cuesta: Cuesta) -> None:
    assert "steps: a row for each load step of a run" in cuesta("ledger", "--tables").ends().out
    assert cuesta("ledger", "--tables", "--json", "-").ends().json["runs"]["columns"][0]["name"] == "folder"
