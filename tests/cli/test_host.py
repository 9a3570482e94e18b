"""`cuesta host`: the built-in host in a process of its own."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from cuesta import _native
from cuesta.errors import Exit
from tests.conftest import Cuesta


@contextmanager
def hosting(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run `cuesta host` until the end of the block; standard output is read up to its first address."""
    command = [sys.executable, "-m", "cuesta", "host", *arguments]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command, **streams, text=True)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def row(stream: IO[str] | None) -> str:
    assert stream
    return stream.readline().strip()


def type_keys(address: str, echoes: dict[bytes, bytes]) -> None:
    """Type keys at a host and assert what each is echoed as."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), 10) as line:
        for key, echo in echoes.items():
            line.sendall(key)
            assert line.recv(10) == echo


def test_it_says_its_addresses_first_and_answers() -> None:
    listen = ["--listen", "tcp://127.0.0.1:0", "--listen", "telnet://127.0.0.1:0"]
    with hosting(*listen, "--service", "echo", "--echo-map", "a0", "--tty-meters") as process:
        first, second = row(process.stdout), row(process.stdout)
        assert (first.startswith("tcp://127.0.0.1:"), second.startswith("telnet://127.0.0.1:")) == (True, True)
        type_keys(first, {b"a": b"0", b"b": b"b"})
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    # The second answer shows that the first is counted; the second may not be counted completely yet.
    assert re.search(r"[12] chars output \([12] raw\), [12] messages", out), out


def test_it_ends_with_three_figures() -> None:
    with hosting("--listen", "tcp://127.0.0.1:0", "--service", "echo") as process:
        type_keys(row(process.stdout), {b"a": b"a"})
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert re.fullmatch(r".* terminals on average for .*; messages: .* taken, .* answered.*--tty-meters\n", out), out


def test_attached_it_ends_with_its_input() -> None:
    with hosting("--attached") as process:
        assert row(process.stdout).startswith("telnet://127.0.0.1:")
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")


def test_rows_of_an_attached_host_end_at_given_instants(tmp_path: Path) -> None:
    with hosting("--attached", "--meters", str(tmp_path)) as process:
        row(process.stdout)
        instants = [_native.now() + delay for delay in (120_000_000, 250_000_000, 250_000_001)]
        assert process.stdin
        process.stdin.write("".join(f"{instant}\n" for instant in instants))
        process.stdin.flush()
        ends: list[int] = []
        while not ends or ends[-1] < instants[-1]:
            ends = [json.loads(each)["at"] for each in (tmp_path / "series.jsonl").read_text().splitlines()]
            assert process.poll() is None
    for instant in instants:
        assert any(0 <= end - instant < 500_000_000 for end in ends), (instants, ends)


def test_the_start_message_names_who_can_reach_it() -> None:
    with hosting("--listen", "tcp://0.0.0.0:0", "--allow", "127.0.0.1", "--service", "shell cat") as process:
        assert row(process.stdout).startswith("tcp://0.0.0.0:")
        assert re.search(r"gives `cat` as user \d+ to 127.0.0.1: no password is asked", row(process.stderr))


def test_a_shell_for_everybody_is_refused(cuesta: Cuesta) -> None:
    ended = cuesta("host", "--listen", "tcp://0.0.0.0:0", "--service", "shell cat").ends(Exit.FAILED, "--allow")
    assert ended.out == ""
