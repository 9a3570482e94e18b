"""The kinds of lines in Python: the table of the Rust half."""

import pytest

from cuesta import _native
from cuesta.line_kinds import (
    KINDS,
    OWN_PROGRAMS,
    SYNTAX,
    Kind,
    columns_of,
    port_of,
    row_of,
    settings_of,
    trusts_any_host,
    without_settings,
)
from cuesta.target import BUILTIN_HOST, kind_of


def test_an_unknown_kind_of_target_is_refused_with_a_list_of_kinds() -> None:
    with pytest.raises(ValueError, match="no kind of line: expected") as raised:
        _native.target("nothing://")
    listed = str(raised.value)
    assert all((name.partition("+")[0] if "+" in name else kind["syntax"]) in listed for name, kind in KINDS.items())
    assert all("+" in name or kind["syntax"] in SYNTAX for name, kind in KINDS.items())
    assert kind_of(BUILTIN_HOST) in KINDS
    assert OWN_PROGRAMS == ("pty", "pipe")
    assert all(kind.keys() == Kind.__annotations__.keys() for kind in KINDS.values())


def test_the_port_is_given_by_the_target_or_its_kind() -> None:
    targets = ("telnet://127.0.0.1:2323", "telnet://[::1]", "ssh://ann@host.invalid", "pty:bash")
    assert [port_of(target) for target in targets] == [2323, 23, 22, 0]
    assert str(port_of("telnet://host.invalid")) in _native.target("telnet://host.invalid")
    assert [row_of(target)["descriptors"] for target in targets] == [1, 1, 1, 2]


def test_settings_stand_behind_a_question_mark_but_not_in_commands() -> None:
    serial = "serial:/dev/ttyUSB0?baud=1200&parity=even"
    assert settings_of(serial) == {"baud": "1200", "parity": "even"}
    assert without_settings(serial) == "serial:/dev/ttyUSB0"
    assert settings_of("serial:/dev/ttyUSB0") == settings_of("pty:ls ?a=b") == {}
    assert without_settings("pty:grep -E 'a?b' notes.txt") == "pty:grep -E 'a?b' notes.txt"


def test_targets_of_web_terminals_name_columns() -> None:
    assert columns_of("ws://host.invalid:80/{ns}/{pod}?token={token}#subprotocol={ns}") == ["ns", "pod", "token"]
    assert columns_of(_native.target("ttyd+wss://host.invalid/{user}/?arg=%7Bname%7D&origin=%7Bx%7D")) == [
        "user",
        "name",
    ]
    assert columns_of("pty:echo {user}") == columns_of("tcp://host.invalid:7") == []


@pytest.mark.parametrize(
    ("target", "trusts"),
    [
        ("ttyd+wss://host.invalid/?arg=x&insecure", True),
        ("wss://host.invalid/?insecure", False),
        ("wss://host.invalid/?x#insecure&ping=5s", True),
        ("telnets://host.invalid?verify=no", True),
        ("tn3270s://host.invalid?verify=yes", False),
        ("pty:insecure?insecure", False),
    ],
)
def test_a_host_whose_certificate_is_not_checked_is_known(target: str, trusts: bool) -> None:
    assert trusts_any_host(_native.target(target)) is trusts
