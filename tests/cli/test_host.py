import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from cuesta import _native
from cuesta.errors import Exit


@contextmanager
def hosting(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "cuesta", "host", *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_says_its_addresses_first_and_answers() -> None:
    listen = ["--listen", "tcp://127.0.0.1:0", "--listen", "telnet://127.0.0.1:0"]
    with hosting(*listen, "--service", "echo", "--echo-map", "a0", "--tty-meters") as process:
        assert process.stdout is not None
        first, second = process.stdout.readline().strip(), process.stdout.readline().strip()
        assert (first.startswith("tcp://127.0.0.1:"), second.startswith("telnet://127.0.0.1:")) == (True, True)
        address = urlsplit(first)
        with socket.create_connection((address.hostname, address.port), 10) as line:
            for key, echo in ((b"a", b"0"), (b"b", b"b")):
                line.sendall(key)
                assert line.recv(10) == echo
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    # The second answer shows that the first is counted; the second may not be counted completely yet.
    assert re.search(r"[12] chars output \([12] raw\), [12] messages", out), out


def test_it_ends_with_three_figures() -> None:
    with hosting("--listen", "tcp://127.0.0.1:0", "--service", "echo") as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        with socket.create_connection((address.hostname, address.port), 10) as line:
            line.sendall(b"a")
            assert line.recv(10) == b"a"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert re.fullmatch(r".* terminals on average for .*; messages: .* taken, .* answered.*--tty-meters\n", out), out


def test_attached_it_ends_with_its_input() -> None:
    with hosting("--attached") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("telnet://127.0.0.1:")
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")


def test_rows_of_an_attached_host_end_at_given_instants(tmp_path: Path) -> None:
    with hosting("--attached", "--meters", str(tmp_path)) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        told = [_native.now() + after for after in (120_000_000, 250_000_000, 250_000_001)]
        process.stdin.write("".join(f"{instant}\n" for instant in told))
        process.stdin.flush()
        ends: list[int] = []
        while not ends or ends[-1] < told[-1]:
            rows = (tmp_path / "series.jsonl").read_text().splitlines()
            ends = [json.loads(row)["at"] for row in rows]
            assert process.poll() is None
    for instant in told:
        assert any(0 <= end - instant < 500_000_000 for end in ends), (told, ends)


def test_the_start_message_names_who_can_reach_it() -> None:
    with hosting("--listen", "tcp://0.0.0.0:0", "--allow", "127.0.0.1", "--service", "shell cat") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("tcp://0.0.0.0:")
        assert re.search(r"gives `cat` as user \d+ to 127.0.0.1: no password is asked", process.stderr.readline())


def test_a_shell_for_everybody_is_refused() -> None:
    with hosting("--listen", "tcp://0.0.0.0:0", "--service", "shell cat") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (Exit.FAILED, "")
    assert "--allow" in err
