"""`--dry-run`: what a run would do, without contacting anything; and what is checked before any run."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.engine.job import prepare
from cuesta.errors import Exit
from cuesta.plan import RawOptions, load
from cuesta.workflow.measure import overview
from tests.conftest import Cuesta, Write

MAIN_JOB = ("run", "builtin:interactive", "--dry-run", "--target")


def test_it_shows_the_whole_run_and_contacts_nothing(here: Path, cuesta: Cuesta, snapshot: SnapshotAssertion) -> None:
    text = cuesta(*MAIN_JOB, "telnet://no-such-host.invalid:23", "--measure", "10m").ends().out
    assert text.split("\n", 1)[1] == snapshot
    assert list(here.iterdir()) == []


def test_it_is_available_as_json(cuesta: Cuesta) -> None:
    data = cuesta("run", "--users", "10", "--dry-run", "--json", "-").ends().json
    assert data["steps"] == [{"swept": {}, "begin": 0.0, "settled": 5.5, "end": 35.5, "segment": "."}]
    assert data["seconds"] == 37.5
    assert data["plan"]["group"][0]["users"] == 10


def test_machines_that_ssh_reaches_are_counted(cuesta: Cuesta) -> None:
    text = cuesta("run", "--users", "4", "--dry-run", "--engine", "ssh:me@driver1,me@driver2").ends().out
    assert "engine = ssh:me@driver1,me@driver2\n  nodes = 2\n" in text


def test_secrets_are_not_shown(write: Write, cuesta: Cuesta) -> None:
    write("login.tape", 'Type "${user} ${password}"')
    write("users.csv", "user,password\nann,hunter2\n")
    text = cuesta("run", "login.tape", "--data", "users.csv", "--dry-run").ends().out
    assert "1 user with user, password (secret)" in text
    assert "hunter2" not in text


def test_ssh_settings_without_effect_are_listed(write: Write, cuesta: Cuesta) -> None:
    config = write("config", "Host bastion\n  HostName 127.0.0.1\n  LocalForward 9999 127.0.0.1:80\n")
    text = cuesta(*MAIN_JOB, f"ssh://bastion?config={config}").ends().out
    assert "Cuesta ignores: bastion: localforward 9999" in text


def test_it_names_the_traces_that_a_run_leaves(cuesta: Cuesta) -> None:
    text = cuesta(*MAIN_JOB, "ssh://bastion?config=none&known_hosts=accept-new").ends().out
    _, _, left = text.partition("LEFT BEHIND\n")
    assert "a shell's history keeps what users type" in left
    assert "known_hosts: hosts that are not in it yet are added" in left
    assert "LEFT BEHIND" not in cuesta("run", "bash", "--target", "ssh://bastion?config=none", "--dry-run").ends().out


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("host:", "4 users at the built-in host (another: --target URL), tape interactive; about "),
        ("ssh://joe@bastion?identity=k&config=none", "4 users at ssh://joe@bastion, tape interactive; about "),
    ],
)
def test_the_first_row_of_a_run_names_users_and_target(here: Path, target: str, text: str) -> None:
    job = prepare(load(RawOptions(tape="builtin:interactive", flags={"users": "4", "target": target}), here))
    assert overview(job).startswith(text)


@pytest.mark.parametrize(
    ("verb", "code", "text"),
    [
        ("run", Exit.FAILED, "the run folder is not empty"),
        ("run --dry-run", Exit.FAILED, "the run folder is not empty"),
        ("certify plan.toml --dry-run", Exit.USAGE, "the folder is not empty"),
        ("compare --interleave plan.toml plan.toml", Exit.FAILED, "the run folder is not empty"),
    ],
)
def test_a_folder_with_files_is_refused_before_anything_else(
    write: Write, cuesta: Cuesta, verb: str, code: Exit, text: str
) -> None:
    folder = write("plan.toml", "users = 2\n").parent
    ended = cuesta(*verb.split(), "--out", folder).ends(code)
    assert ended.out == ""
    assert ended.err.startswith(f"cuesta: {folder}: {text}\n")
