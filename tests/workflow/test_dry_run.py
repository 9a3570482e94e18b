import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.cli import main
from cuesta.engine.job import prepare
from cuesta.errors import Exit
from cuesta.plan import RawOptions, load
from cuesta.workflow.measure import overview
from tests.conftest import Write

MAIN_JOB = ("run", "builtin:interactive")


def test_it_shows_the_whole_run_and_contacts_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert (
        main(
            [
                "run",
                "builtin:interactive",
                "--target",
                "telnet://no-such-host.invalid:23",
                "--measure",
                "10m",
                "--dry-run",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.split("\n", 1)[1] == snapshot
    assert list(here.iterdir()) == []


def test_it_is_available_as_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--users", "10", "--dry-run", "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["steps"] == [{"swept": {}, "begin": 0.0, "settled": 5.5, "end": 35.5, "segment": "."}]
    assert data["seconds"] == 37.5
    assert data["plan"]["group"][0]["users"] == 10


def test_secrets_are_not_shown(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("login.tape", 'Type "${user} ${password}"')
    write("users.csv", "user,password\nann,hunter2\n")
    assert main(["run", "login.tape", "--data", "users.csv", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "1 user with user, password (secret)" in said
    assert "hunter2" not in said


def test_ssh_settings_without_effect_are_listed(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    config = write("config", "Host bastion\n  HostName 127.0.0.1\n  LocalForward 9999 127.0.0.1:80\n")
    assert main([*MAIN_JOB, "--target", f"ssh://bastion?config={config}", "--dry-run"]) == 0
    assert "Cuesta ignores: bastion: localforward 9999" in capsys.readouterr().out


def test_it_names_the_traces_that_a_run_leaves(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            ["run", "builtin:interactive", "--target", "ssh://bastion?config=none&known_hosts=accept-new", "--dry-run"]
        )
        == 0
    )
    _, _, left = capsys.readouterr().out.partition("LEFT BEHIND\n")
    assert "a shell's history keeps what users type" in left
    assert "known_hosts: hosts that are not in it yet are added" in left


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("host:", "4 users at the built-in host (another: --target URL), tape interactive; about "),
        ("ssh://joe@bastion?identity=k&config=none", "4 users at ssh://joe@bastion, tape interactive; about "),
    ],
)
def test_the_first_row_of_a_run_names_users_and_target(here: Path, target: str, said: str) -> None:
    job = prepare(load(RawOptions(tape="builtin:interactive", flags={"users": "4", "target": target}), here))
    assert overview(job).startswith(said)


def test_a_folder_with_files_is_refused_before_anything_else(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write("notes.txt", "mine\n").parent
    for more in ([], ["--dry-run"]):
        assert main(["run", "--out", str(folder), *more]) == Exit.FAILED
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"cuesta: {folder}: the run folder is not empty\n")


def test_certify_and_compare_refuse_a_folder_with_files_too(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    plan = write("plan.toml", "users = 2\n")
    verbs = {
        ("certify", str(plan), "--dry-run"): (Exit.USAGE, "the folder is not empty"),
        ("compare", "--interleave", str(plan), str(plan)): (Exit.FAILED, "the run folder is not empty"),
    }
    for verb, (code, said) in verbs.items():
        assert main([*verb, "--out", str(plan.parent)]) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"cuesta: {plan.parent}: {said}\n")
