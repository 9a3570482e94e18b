import csv
import time

import pytest

from cuesta.cli import main
from cuesta.engine.users import read_users
from cuesta.errors import Exit, InputError
from tests.conftest import Write


def test_users_are_read_by_column(write: Write) -> None:
    write("users.csv", '\n\ufeffuser,password\n\nu1,"a,b"\nu2,x\n')
    users = read_users("users.csv")
    assert users.columns == ("user", "password")
    assert users.first(9) == [{"user": "u1", "password": "a,b"}, {"user": "u2", "password": "x"}]
    assert users.first(1) == [{"user": "u1", "password": "a,b"}]
    assert len(users) == 2


def test_secrets_are_not_shown(write: Write) -> None:
    write("users.csv", "user,PassWord,api_key,badge\nu1,hunter2,k3y,77\n")
    users = read_users("users.csv", named=("badge",))
    assert users.describe(["user", "badge", "api_key"]) == "1 user with user, api_key (secret), badge (secret)"
    assert users.secret == ["PassWord", "api_key", "badge"]
    assert "hunter2" not in repr(users)


def test_what_logs_in_at_web_terminals_is_secret(write: Write) -> None:
    write("users.csv", "user,token,cookie,password\nu1,a,b,c\n")
    assert read_users("users.csv").secret == ["token", "cookie", "password"]


def test_the_first_user_with_an_empty_cell_is_found(write: Write) -> None:
    write("users.csv", "user,token\nu1,a\nu2,b\nu3,\n")
    users = read_users("users.csv")
    assert [users.find_empty("token", count) for count in (2, 3, 9)] == [None, 2, 2]
    assert users.find_empty("user", 9) is None


@pytest.mark.parametrize(
    "name",
    [
        "pin",
        "user_pin",
        "userPin",
        "otp",
        "PUK",
        "mdp",
        "Kennwort",
        "contraseña",
        "senha",
        "apiKey",
        "passphrase",
        "pwd",
    ],
)
def test_names_of_secrets_in_several_languages_are_known(write: Write, name: str) -> None:
    write("users.csv", f"user,{name}\nu1,4711\n")
    assert read_users("users.csv").secret == [name]


@pytest.mark.parametrize("name", ["user", "spinning", "city", "opinion", "keyboard", "compass"])
def test_other_names_are_no_secrets(write: Write, name: str) -> None:
    write("users.csv", f"{name}\nu1\n")
    assert read_users("users.csv").secret == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "users.csv: no users in it"),
        ("user,password\n", "users.csv: no users in it"),
        ("user,pass word\nu1,x\n", "users.csv: row 1, column 2: expected a name"),
        ("user,\nu1,x\n", "users.csv: row 1, column 2: expected a name"),
        ("user,user\nu1,x\n", "users.csv: row 1, column 2: it has the name of column 1"),
        ("user,password\nu1,x\nu2\n", "users.csv: row 3, column 2: it is missing"),
        ("user,password\nu1,x\n\nu2\n", "users.csv: row 4, column 2: it is missing"),
        ("user,password\nu1,x,y\n", "users.csv: row 2, column 3: one cell too many"),
        ('user,password\nu1,"x\n', "users.csv: row 2: unexpected end of data"),
        ("user,password\nu1,x\x07y\n", "users.csv: row 2, column 2: a control character"),
    ],
)
def test_errors_name_row_and_column(write: Write, text: str, said: str) -> None:
    write("users.csv", "").write_text(text)
    with pytest.raises(InputError) as raised:
        read_users("users.csv")
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "user,password\nu1,hunter2,hunter3\n",
        "ann,hunter-2\nbob,hunter3\n",
        "hunter2,hunter2\nann,hunter3\n",
        "ann,hunter2\nhunter3\n",
        "ann,hunter2\nbob,hunter\x07\n",
    ],
)
def test_no_cell_is_in_a_message_even_if_the_header_is_missing(write: Write, text: str) -> None:
    write("users.csv", text)
    with pytest.raises(InputError) as raised:
        read_users("users.csv")
    assert "hunter" not in f"{raised.value}{raised.value.remedy}"


def test_a_table_without_a_header_is_not_shown(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("users.csv", "ann,hunter2\nbob,hunter3\n")
    write("login.tape", 'Type "${user}" Enter\nType "${password}" Enter\n')
    write("idle.tape", 'Type "ls" Enter\n')
    with_users = ("--data", "users.csv", "--target", "tcp://127.0.0.1:9", "--dry-run")
    assert main(["run", "login.tape", *with_users]) == Exit.BAD_INPUT
    assert main(["run", "idle.tape", *with_users]) == Exit.GOOD
    said = capsys.readouterr()
    assert "users.csv: no column `" in said.err
    assert "1 user (the tape types no column of theirs)" in said.out
    assert "hunter" not in said.err + said.out


def test_a_secret_column_that_no_table_has_is_refused(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("users.csv", "user,badge\nann,77\n")
    write("login.tape", 'Type "${user}" Enter\nType "${badge}" Enter\n')
    words = ["run", "login.tape", "--data", "users.csv", "--target", "tcp://127.0.0.1:9", "--dry-run", "--secret"]
    assert main([*words, "badge"]) == Exit.GOOD
    assert "badge (secret)" in capsys.readouterr().out
    assert main([*words, "bagde"]) == Exit.BAD_INPUT
    assert "no users' table has a column `bagde`" in capsys.readouterr().err


def test_many_users_are_read_quickly(write: Write) -> None:
    """As quickly as `csv` reads them, within a factor: nothing is made of a user who does not type."""
    text = "user,password\n" + "".join(f"u{number},p{number}\n" for number in range(300_000))
    path = write("users.csv", text)
    with path.open(newline="") as file:
        begun = time.process_time()
        rows = list(csv.reader(file))
        alone = time.process_time() - begun
    begun = time.process_time()
    users = read_users("users.csv")
    assert time.process_time() - begun < 5 * alone
    assert len(users) == len(rows) - 1


def test_a_missing_file_and_a_binary_file_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match=r"none.csv: cannot read the users: No such file"):
        read_users("none.csv")
    write("users.csv", "").write_bytes(b"user\n\xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_users("users.csv")
