import pytest

from cuesta.engine.users import read_users
from cuesta.errors import InputError
from tests.conftest import Write


def test_users_are_read_by_column(write: Write) -> None:
    write("users.csv", '\n\ufeffuser,password\n\nu1,"a,b"\nu2,x\n')
    users = read_users("users.csv")
    assert users.columns == ("user", "password")
    assert users.rows == ({"user": "u1", "password": "a,b"}, {"user": "u2", "password": "x"})


def test_secrets_are_not_shown(write: Write) -> None:
    write("users.csv", "user,PassWord,api_key\nu1,hunter2,k3y\n")
    users = read_users("users.csv")
    assert users.shown == "1 users with user, PassWord (secret), api_key (secret)"
    assert "hunter2" not in repr(users)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "users.csv: no users in it"),
        ("user,password\n", "users.csv: no users in it"),
        ("user,pass word\nu1,x\n", "users.csv: row 1, column 2: expected a name"),
        ("user,\nu1,x\n", "users.csv: row 1, column 2: expected a name"),
        ("user,user\nu1,x\n", "users.csv: row 1, column 2: there are two columns `user`"),
        ("user,password\nu1,x\nu2\n", "users.csv: row 3, column `password`: it is missing"),
        ("user,password\nu1,x\n\nu2\n", "users.csv: row 4, column `password`: it is missing"),
        ("user,password\nu1,x,y\n", "users.csv: row 2, column 3: one cell too many"),
        ('user,password\nu1,"x\n', "users.csv: row 2: unexpected end of data"),
        ("user,password\nu1,x\x07y\n", "users.csv: row 2, column `password`: a control character"),
    ],
)
def test_errors_name_row_and_column(write: Write, text: str, said: str) -> None:
    write("users.csv", "").write_text(text)
    with pytest.raises(InputError) as raised:
        read_users("users.csv")
    assert str(raised.value).startswith(said)


def test_no_cell_is_in_a_message(write: Write) -> None:
    write("users.csv", "user,password\nu1,hunter2,hunter3\n")
    with pytest.raises(InputError) as raised:
        read_users("users.csv")
    assert "hunter" not in f"{raised.value}{raised.value.remedy}"


def test_a_missing_file_and_a_binary_file_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match=r"none.csv: cannot read the users: No such file"):
        read_users("none.csv")
    write("users.csv", "").write_bytes(b"user\n\xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_users("users.csv")
