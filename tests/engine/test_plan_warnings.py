"""What is said before a run: users who would write the same file, and a `settle` shorter than what users do first."""

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.conftest import Write

SESSION = """
Set KeyRate 5cps
Wait+Prompt
Type "{row}" Enter
Sleep 3s
Think exp 2s
Forever
  Think exp 5s
  Type "date" Enter
  Wait+Prompt
End
"""


def list_warnings(write: Write, capsys: pytest.CaptureFixture[str], row: str, *words: str) -> str:
    write("session.tape", SESSION.format(row=row))
    assert main(["run", "session.tape", "--target", "pty:sh", "--users", "9", "--dry-run", *words]) == Exit.GOOD
    _, _, rest = capsys.readouterr().out.partition("WARNINGS\n")
    return rest


@pytest.mark.parametrize(
    ("row", "file"),
    [
        ("echo hello > notes.txt", "notes.txt"),
        ("vim -n notes.txt", "notes.txt"),
        ("date >>log; ls", "log"),
        ("cp -r one two", "two"),
        ("sort -o sorted data", "sorted"),
        (":w mine", "mine"),
        ("touch 'a.b'", "a.b"),
    ],
)
def test_a_file_that_all_users_write_is_named(
    write: Write, capsys: pytest.CaptureFixture[str], row: str, file: str
) -> None:
    assert f"9 users at one account write the same file, `{file}`" in list_warnings(write, capsys, row)
    assert "one account" not in list_warnings(write, capsys, row, "--users", "1")


@pytest.mark.parametrize(
    "row", ["vim notes-$$", "ls -l > /dev/null", "make 2>&1", "grep x <data", "cat a.b", "if [ 1 -gt 0 ]; then ls; fi"]
)
def test_other_rows_are_not_suspected(write: Write, capsys: pytest.CaptureFixture[str], row: str) -> None:
    assert "one account" not in list_warnings(write, capsys, row)


def test_users_with_accounts_of_their_own_share_no_file(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("users.csv", "user,password\nann,x\nbob,y\n")
    shared = ("--target", "ssh://joe@host.invalid?config=none")
    own = ("--target", "ssh://host.invalid?config=none", "--data", "users.csv")
    assert "one account" in list_warnings(write, capsys, "vim notes", *shared)
    assert "one account" not in list_warnings(write, capsys, "vim notes", *own)


def test_a_settle_shorter_than_the_first_part_is_said(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty keys at 5 a second, 3 s and 2 s."""
    row = "x" * 19
    assert "take at least 9 s, and settle is 5s" in list_warnings(write, capsys, row)
    assert "at least" not in list_warnings(write, capsys, row, "--settle", "10s")
    assert "at least" not in list_warnings(write, capsys, row, "--key-rate", "0")
