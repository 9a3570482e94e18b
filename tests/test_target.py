"""What a target is: Python's knowledge of kinds beside the Rust half's."""

import re

import pytest

from cuesta import _native
from cuesta.target import BUILTIN_HOST, FILES, OWN_PROGRAMS, PORTS, SYNTAX, kind_of, port_of

KINDS = {kind_of(spelling) for spelling in re.findall("`([^`]+)`", SYNTAX)}


def test_the_kinds_are_those_that_the_rust_half_opens() -> None:
    with pytest.raises(ValueError, match="no kind of line: expected") as raised:
        _native.target("nothing://")
    assert set(re.findall(r"([a-z]+):", str(raised.value).partition("expected")[2])) == KINDS
    assert kind_of(BUILTIN_HOST) in KINDS
    assert {*OWN_PROGRAMS, *FILES, *PORTS} <= KINDS


def test_a_port_is_the_addresss_own_or_the_usual_one() -> None:
    targets = ("telnet://127.0.0.1:2323", "telnet://[::1]", "ssh://ann@host.invalid", "pty:bash")
    assert [port_of(target) for target in targets] == [2323, 23, 22, 0]
    assert str(port_of("telnet://host.invalid")) in _native.target("telnet://host.invalid")
