"""A hop without TCP_NODELAY that writes echoes in pieces is found by the driver alone, and no other host is."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.enough import LIMIT, ended_when

TAPE = "Set KeyRate 5cps\nSet Echo timed\nForever\n  Type 'a'\n  Wait+Echo\nEnd\n"
USERS, KEYS = 32, 160
FOUND = "a hop writes in pieces and lacks TCP_NODELAY: it costs "


class Host:
    """Echoes each key in two pieces, over TCP."""

    def __init__(self, nodelay: bool, batch: float) -> None:
        self.nodelay, self.batch = nodelay, batch
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def target(self) -> str:
        return f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self.listener.accept()
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, self.nodelay)
                threading.Thread(target=self.echo, args=(line,), daemon=True).start()

    def echo(self, line: socket.socket) -> None:
        with suppress(OSError), line:
            while key := line.recv(1):
                time.sleep(self.batch)
                line.sendall(b"\x1b[m")
                line.sendall(key)


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    host = Host(*request.param)
    with closing(host.listener):
        yield host


def count_keys(out: Path) -> int:
    return sum(path.read_bytes().count(b",echo,") for path in out.glob("agent-*/followed.csv"))


@pytest.mark.parametrize(
    ("host", "is_held"),
    [((False, 0.0), True), ((True, 0.0), False), ((True, 0.04), False)],
    ids=["in pieces", "with TCP_NODELAY", "batches"],
    indirect=["host"],
)
def test_only_a_hop_that_lacks_nodelay_is_found(write: Write, cuesta: Cuesta, host: Host, is_held: bool) -> None:
    write("typed.tape", TAPE)
    times = f'measure = "{LIMIT}"\nsettle = "0s"\nstagger = "0s"\n'
    plan = f'tape = "typed.tape"\ntarget = "{host.target}"\nusers = {USERS}\npath = "1/1"\nmeters = "none"\n'
    write("plan.toml", f"{plan}{times}{BUSY}")
    with ended_when(lambda out: count_keys(out) >= KEYS):
        ran = cuesta("run", "plan.toml", "--out", "out")
    assert count_keys(Path("out")) >= KEYS
    assert (FOUND in ran.out) is is_held, ran.out
