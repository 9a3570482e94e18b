"""What targets say of terminals, and what hosts say that then hang or hang up, over real lines."""

import json
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.daemons import tcpsvd, telnetd
from tests.enough import counted, ended_after, ended_when
from tests.own_network import own_network

PLAN = f'name = "lines"\ntape = "t.tape"\nusers = 2\nsettle = "100ms"\nmeasure = "25s"\n{BUSY}'
TAPE = 'Set KeyRate 30cps\n{begin}\nForever\n  Type "{keys}"\n  Enter\n  {wait}\n  Think 100ms\nEnd\n'


def played(capsys: pytest.CaptureFixture[str], target: str, *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-", *more])
    return code, json.loads(capsys.readouterr().out)


def is_good(result: tuple[int, dict[str, Any]]) -> None:
    code, summary = result
    assert (code, summary["invalid_because"], summary["errors"]["by_name"]) == (Exit.INTERRUPTED, [], {})


@contextmanager
def serves(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """Listen on a port; talk on each connection, in a thread of its own, and close it."""
    with own_network(), closing(socket.create_server(("127.0.0.1", 0))) as server:

        def talk_and_close(line: socket.socket) -> None:
            with closing(line), suppress(OSError):
                talk(line)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=talk_and_close, args=[server.accept()[0]], daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def row_from(line: socket.socket) -> bytes:
    """What comes up to a carriage return; nothing at the end of the connection."""
    row = b""
    while not row.endswith((b"\r", b"\r\0")) and (came := line.recv(1)):
        row += came
    return row


@pytest.mark.parametrize("kind", ["tcp", "telnet"])
def test_what_a_host_says_before_it_hangs_up_is_quoted_without_secrets(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    def refuse(line: socket.socket) -> None:
        line.sendall(b"password: ")
        row_from(line)
        if kind == "telnet":
            line.recv(1)  # the NUL behind Enter: a host that leaves something unread resets the line
        line.sendall(b"\r\nhunter2 is wrong\r\n\x1b[1mToo many users\x1b[m\r\n")

    write("users.csv", "password\nhunter2\n")
    write(
        "t.tape",
        TAPE.format(begin='Wait /: $/\nType "${password}"\nEnter\nWait /ready/', keys="x", wait="Wait+Screen /y/"),
    )
    write("plan.toml", PLAN)
    with serves(refuse) as port, ended_when(lambda out: counted(out, "closed") > 1):
        _, summary = played(capsys, f"{kind}://127.0.0.1:{port}", "--data", "users.csv")
    said = summary["errors"]["said"]["closed"]
    assert said == f"{kind}://127.0.0.1:{port} closed the line; it said last: password: | (hidden) | Too many users"


LOGIN = r"""
Set KeyRate 30cps
Set WaitTimeout 500ms
Wait /login: $/
Type "joe"
Enter
Wait /Password: $/
Forever
  Enter
  Wait+Bytes 1
  Think 1s
End
"""
ABSURD_WINDOW = b"\xff\xfd\x1f\xff\xfa\x1f" + b"\xfe" * 5000 + b"\xff\xf0"


@pytest.mark.parametrize(
    ("kind", "greeting", "names"),
    [
        ("tcp", b"login: ", {"timeout", "no-login"}),
        ("telnet", ABSURD_WINDOW + b"login: ", {"timeout", "no-login", "dropped-sequence"}),
    ],
)
def test_a_host_that_hangs_in_login_is_counted_and_left(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], kind: str, greeting: bytes, names: set[str]
) -> None:
    def greet(line: socket.socket) -> None:
        line.sendall(greeting)
        while line.recv(100):
            pass

    write("t.tape", LOGIN)
    write("plan.toml", PLAN.replace("[validity]", "[validity]\nlost_users = 1"))
    with serves(greet) as port, ended_when(lambda out: all(counted(out, name) for name in names)):
        _, summary = played(capsys, f"{kind}://127.0.0.1:{port}")
    assert (set(summary["errors"]["by_name"]), summary["transactions"]["count"]) == (names, 0), summary["errors"]
    assert summary["connect"]["count"] > 0
    assert summary["negotiation"]["count"] == (summary["connect"]["count"] if kind == "telnet" else 0)


def test_a_host_with_a_character_set_of_eight_bits(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(line: socket.socket) -> None:
        while row := row_from(line):
            line.sendall(b"\r\n\xc9\xcd\xbb" if row == b"caf\x82\r" else b"\r\nwhat?")

    write("t.tape", TAPE.format(begin="", keys="café", wait="Wait /╔═╗/"))
    write("plan.toml", PLAN)
    with serves(answer) as port:
        target = f"tcp://127.0.0.1:{port}?charset=cp437"
        with ended_after(4):
            result = played(capsys, target)
        is_good(result)
        assert result[1]["undecoded"] == 0
        write("t.tape", TAPE.format(begin="", keys="5 €", wait="Wait+Bytes 1"))
        assert main(["run", "plan.toml", "--target", target, "--out", "out-2", "--quiet"]) == Exit.BAD_INPUT
    assert "the host's character set, cp437, has no €" in capsys.readouterr().err


def test_bytes_that_are_no_utf_8_are_counted_and_said(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(line: socket.socket) -> None:
        while row_from(line):
            line.sendall(b"\r\n\xe4\xf6\xfc ready")

    write("t.tape", TAPE.format(begin="", keys="x", wait="Wait /ready/"))
    write("plan.toml", PLAN)
    with serves(answer) as port, ended_after(4):
        main(["run", "plan.toml", "--target", f"tcp://127.0.0.1:{port}", "--out", "out", "--json", "s.json"])
    summary = json.loads(Path("s.json").read_text())
    assert summary["undecoded"] > 0 == summary["undecoded"] % 3
    assert "received bytes no character of UTF-8" in capsys.readouterr().out


def test_the_terminals_name_is_told_by_every_line(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("t.tape", TAPE.format(begin="Wait /TERM=vt220 ready/", keys="x", wait="Wait+Screen /y/"))
    write("plan.toml", PLAN)
    shell = "#!/bin/sh\nprintf 'TERM=%s ready' $TERM\nexec sed -u s/x/y/\n"
    write("shell", shell).chmod(0o755)
    with ended_after(2):
        is_good(played(capsys, f"pty:{here}/shell?terminal=vt220"))
    with telnetd(tcpsvd, here, shell) as port, ended_after(2):
        is_good(played(capsys, f"telnet://127.0.0.1:{port}?terminal=vt220", "--out", "out-2"))
    begin = 'Env TERM "vt220"\nWait /TERM=vt220 ready/'
    write("t.tape", TAPE.format(begin=begin, keys="x", wait="Wait+Screen /y/"))
    with ended_after(2):
        is_good(played(capsys, f"pty:{here}/shell", "--out", "out-3"))


ASKS = r"""
import os, sys, tty
tty.setraw(0)
def ask(query, last):
    os.write(1, query)
    answer = b""
    while not answer.endswith(last):
        answer += os.read(0, 1)
    return answer
kind = ask(b"\x1b[c", b"c")
size = ask(b"\x1b[999;999H\x1b[6n", b"R")
if (kind, size) != (b"\x1b[?6c", b"\x1b[24;80R"):
    sys.exit(3)
os.write(1, 99 * b".")
while key := os.read(0, 100):
    os.write(1, key)
"""


def test_a_terminal_without_a_screen_says_what_it_is_and_where_its_cursor_is(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    asks = write("asks.py", ASKS)
    write("t.tape", TAPE.format(begin="Wait+Bytes 99", keys="x", wait="Wait+Bytes 1"))
    write("plan.toml", PLAN)
    with ended_after(2):
        is_good(played(capsys, f"pty:{shlex.join([sys.executable, str(asks)])}"))
