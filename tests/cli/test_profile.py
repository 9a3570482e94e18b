"""`cuesta meters profile` on a process with one activity."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

CUESTA = [sys.executable, "-m", "cuesta"]


def test_a_profile_names_what_a_process_does(tmp_path: Path) -> None:
    flame, folded = tmp_path / "flame.svg", tmp_path / "stacks"
    with subprocess.Popen([sys.executable, "-c", "while True: sum(range(9999))"]) as busy:
        try:
            words = ["meters", "profile", "2s", "--pid", str(busy.pid), "--flame", str(flame), "--folded", str(folded)]
            done = subprocess.run([*CUESTA, *words, "--json", "-"], capture_output=True, text=True, check=True)
        finally:
            busy.kill()
    document = json.loads(done.stdout)
    assert document["samples"] > 0
    assert document["covered"] >= 0.9
    assert "python" in document["modules"][0]["module"]
    assert document["sheet"]["by_cause"]["value"]["causes"]["user"]["seconds"]["value"] > 0
    assert flame.read_text().startswith("<svg ")
    assert sum(int(row.rpartition(" ")[2]) for row in folded.read_text().splitlines()) == document["samples"]


@contextmanager
def busy_host() -> Iterator[int]:
    """Start a built-in host that echoes as many keys as it can; yields its process number."""
    words = ["host", "--listen", "tcp://127.0.0.1:0", "--service", "echo"]
    with subprocess.Popen([*CUESTA, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as host:
        assert host.stdout is not None
        address, done = urlsplit(host.stdout.readline().strip()), Event()

        def types() -> None:
            with socket.create_connection((address.hostname, address.port), 10) as line:
                while not done.is_set():
                    line.sendall(b"a" * 1000)
                    missing = 1000
                    while missing:
                        echoed = len(line.recv(missing))
                        if not echoed:
                            return
                        missing -= echoed

        typist = Thread(target=types)
        typist.start()
        try:
            yield host.pid
            assert typist.is_alive(), "the line was lost"
        finally:
            done.set()
            typist.join()
            host.terminate()


OURS = "_native.abi3.so"


def test_the_built_in_host_is_shown_by_its_functions_and_their_callers(tmp_path: Path) -> None:
    folded = tmp_path / "stacks"
    with busy_host() as pid:
        words = ["meters", "profile", "3s", "--pid", str(pid), "--fraction", "1", "--folded", str(folded)]
        done = subprocess.run([*CUESTA, *words, "--json", "-"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    rows = [row for row in document["locations"] if row["module"] == OURS]
    named = sum(row["samples"] for row in rows if not row["function"].startswith("+0x"))
    every = sum(row["samples"] for row in rows)
    assert every > 0, document
    assert named >= 0.95 * every, rows[:10]
    stacks = [row.rpartition(" ")[::2] for row in folded.read_text().splitlines() if OURS in row]
    deep = sum(int(samples) for stack, samples in stacks if stack.count(OURS) >= 4)
    assert deep >= 0.5 * sum(int(samples) for _, samples in stacks), "the callers must be listed too"
