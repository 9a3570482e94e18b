"""Runs that play a cast, with both timings, and casts that a run writes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.cli.test_record import PLAN, SHELL, events, of_kind
from tests.cli.test_run import running
from tests.conftest import Cuesta, Write

QUICK = PLAN.replace('data = "users.csv"\n', "").replace("users = 2", "users = 1")

SESSION = r"""
{"version": 2, "width": 80, "height": 24, "command": "bash --norc --noprofile"}
[0.02, "o", "$ "]
[0.60, "i", "l"]
[0.60, "o", "l"]
[0.70, "i", "s"]
[0.70, "o", "s"]
[0.80, "i", "\r"]
[0.81, "o", "\r\nfile\r\n$ "]
[1.50, "i", "exit\r"]
[1.51, "o", "exit\r\nexit\r\n"]
"""


@pytest.mark.parametrize(
    ("load", "written", "absent"),
    [
        ("closed", ["Wait+Prompt", "Think 590ms", 'Transaction "ls"'], "Type@"),
        ("paced:2s", ["Type@600ms", "Type@100ms", "Enter@100ms", "Wait+Disconnect"], "Think"),
    ],
)
def test_a_cast_is_played_both_ways(
    here: Path,
    write: Write,
    cuesta: Cuesta,
    monkeypatch: pytest.MonkeyPatch,
    load: str,
    written: list[str],
    absent: str,
) -> None:
    monkeypatch.setenv("PS1", "$ ")
    write("ls.cast", SESSION)
    write("ls.toml", QUICK.format(tape="ls.cast", shell=SHELL))
    summary = cuesta("run", "ls.toml", "--load", load, "--quiet", "--json", "-", "--out", "out").ends().json
    assert summary["errors"]["count"] == 0
    assert summary["transactions"]["count"] > 0
    assert summary["echo"]["count"] > 0
    played = (here / "out" / "tapes" / "ls.tape").read_text(encoding="utf-8")
    assert [text for text in written if text not in played] == []
    assert absent not in played


def test_a_cast_is_checked_like_its_tape(write: Write, cuesta: Cuesta) -> None:
    write("ls.cast", SESSION)
    shown = cuesta("check", "ls.cast").ends().out
    assert 'Transaction "ls"' in shown
    assert "transactions: ls, exit" in shown


def test_a_cast_is_not_played_at_the_builtin_host(write: Write, cuesta: Cuesta) -> None:
    write("ls.cast", SESSION)
    cuesta("run", "ls.cast").ends(Exit.BAD_INPUT, "the built-in host does not behave like the recorded host")


GREETING = "\x1b[1mhéllo \x1b[m▽\r\n"
ANSWER = "ok «»\r\n> "


@contextmanager
def host() -> Iterator[tuple[str, list[bytes]]]:
    """Answer every row in pieces that split characters; yields the target and what was sent to each line."""
    listener = socket.create_server(("127.0.0.1", 0))
    sent: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            sent.append(b"")
            threading.Thread(target=answer, args=(line, len(sent) - 1), daemon=True).start()

    def answer(line: socket.socket, number: int) -> None:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def say(text: str) -> None:
            data = text.encode()
            for begin in range(0, len(data), 3):
                sent[number] += data[begin : begin + 3]
                line.sendall(data[begin : begin + 3])

        with line, suppress(OSError):  # the user has left
            say(GREETING)
            while keys := line.recv(100):
                for _ in range(keys.count(b"\r")):
                    say(ANSWER)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}", sent
    finally:
        listener.close()


TAPE = r'Type "s3cret" Enter Wait+Line /^> $/ Sleep 50ms'


def test_a_run_writes_what_a_user_saw(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("rows.tape", TAPE)
    with host() as (target, sent):
        flags = ["--settle", "0s", "--measure", "1s", "--users", "2", "--cast", "1", "--quiet", "--out", "out"]
        ended = cuesta("run", "rows.tape", "--target", target, *flags)
    assert ended.code in (Exit.GOOD, Exit.INVALID)
    cast = here / "out" / "agent-0" / "user-1.cast"
    assert "user 1 can be watched: asciinema play out/agent-0/user-1.cast" in ended.out
    assert of_kind(cast, "i") == ""
    shown = of_kind(cast, "o")
    assert shown.startswith(GREETING + ANSWER)
    assert shown.encode() in sent
    assert not (here / "out" / "agent-0" / "user-0.cast").exists()


def test_a_run_that_is_interrupted_keeps_its_cast(here: Path, write: Write) -> None:
    write("rows.tape", TAPE)
    with host() as (target, sent):
        flags = ["--settle", "0s", "--measure", "1m", "--cast", "--out", str(here / "out")]
        with running(str(here / "rows.tape"), "--target", target, *flags) as process:
            process.terminate()
            process.communicate(timeout=30)
        assert process.returncode == Exit.INTERRUPTED
    shown = of_kind(here / "out" / "agent-0" / "user-0.cast", "o")
    assert shown.startswith(GREETING)
    # The interrupt may cut the cast within a character.
    assert any(line.startswith(shown.rstrip("\ufffd").encode()) for line in sent)
    assert events(here / "out" / "agent-0" / "user-0.cast")[0][1:] == ["m", "session 1"]


def test_a_cast_of_an_unknown_user_is_refused(write: Write, cuesta: Cuesta) -> None:
    write("rows.tape", TAPE)
    refused = cuesta("run", "rows.tape", "--target", "tcp://127.0.0.1:1", "--users", "3", "--cast", "3")
    refused.ends(Exit.BAD_INPUT, "there is no user 3 to make a cast of")
