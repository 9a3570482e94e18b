"""Sessions recorded over the network: a simulated person, and real daemons."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.cli.test_record import of_kind
from tests.daemons import AT_A_SHELL, busybox, sshd, tcpsvd, telnetd
from tests.person import Person


@contextmanager
def inetutils(folder: Path) -> Iterator[str]:
    with telnetd(tcpsvd, folder) as port:
        yield f"telnet://127.0.0.1:{port}"


@contextmanager
def busybox_telnetd(folder: Path) -> Iterator[str]:
    with telnetd(busybox, folder) as port:
        yield f"telnet://127.0.0.1:{port}"


@contextmanager
def openssh(folder: Path) -> Iterator[str]:
    with sshd(folder, AT_A_SHELL) as host:
        yield host.target


@pytest.mark.parametrize("serve", [inetutils, busybox_telnetd, openssh])
def test_a_session_over_the_network(
    here: Path, tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AbstractContextManager[str]]
) -> None:
    with serve(tmp_path_factory.mktemp("host")) as target:
        person = Person(here, "record", "-o", "session", "--target", target)
        person.sees("$ ")
        person.types("stty size\r")
        person.sees("30 100\r\n")
        person.sees("$ ")
        person.wants_window(90, 40)
        for _ in range(100):  # the new size is sent apart from the keys, and may arrive after them
            person.types("stty size\r")
            if person.sees_one_of("30 100\r\n", "40 90\r\n") == "40 90\r\n":
                break
            person.sees("$ ")
        person.sees("$ ")
        person.types("read -s -p 'Password: ' x\r")
        person.sees("\rPassword: ")
        person.types("hunter2\r", shown=False)
        person.sees("$ ")
        person.types("exit\r")
        assert person.sees_the_end() == Exit.GOOD
    files = [path for path in here.iterdir() if path.is_file()]
    assert {path.name for path in files} == {"session.tape", "session.cast"}
    assert [path for path in files if b"hunter" in path.read_bytes()] == []
    cast = here / "session.cast"
    assert of_kind(cast, "i").endswith("read -s -p 'Password: ' x\r\rexit\r")
    assert (of_kind(cast, "m"), of_kind(cast, "r")) == ("${password}", "90x40")
    tape = (here / "session.tape").read_text(encoding="utf-8")
    assert tape.count('Type "${password}"') == 1
    assert "40 90" in of_kind(cast, "o")
