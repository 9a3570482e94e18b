"""What following keys costs a host, for `following.rs`: people type at sshd; keys are followed, and are not, in turn.

The job is JSON, and so is the outcome. It begins in the checkout: sshd is started as the tests start it.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, os.getcwd())

from cuesta import _native
from tests.daemons import AT_A_SHELL, Host, descendants, sshd

JOB: dict[str, Any] = json.loads(sys.argv[1])
TAPE = 'Wait+Ready\nSet Echo timed\nForever\n  Type "abcdefghij abcdefghij abcdefghij"\n  Ctrl+U\nEnd\n'
READ_EVERY = 0.25
"""Seconds between two looks at what was followed, as the meters' process has them."""
SETTLE = 1.0
"""Seconds before a turn is measured: loading and unloading the tracer has the kernel's workers free memory."""
WORKERS = "kworker/u"
"""The kernel's workers that pass on what is written to terminals."""


@contextmanager
def typists(host: Host, folder: Path) -> Iterator[None]:
    """People who type until the end of the block, which begins when all do."""
    (folder / "keys.tape").write_text(TAPE)
    command = [sys.executable, "-m", "cuesta", "run", "--tape", "keys.tape", "--target", host.target, "--quiet"]
    command += ["--users", str(JOB["users"]), "--key-rate", "5", "--path", JOB["path"], "--meters", "none"]
    command += ["--stagger", "50ms", "--measure", "1h", "--json-lines", "--out", "out"]
    on_cpu = ["taskset", "-c", str(JOB["drivers"])]
    run = subprocess.Popen([*on_cpu, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert run.stdout
    try:
        for row in map(json.loads, run.stdout):
            if row.get("phase") == "measure":
                break
        threading.Thread(target=run.stdout.read, daemon=True).start()
        yield
    finally:
        run.terminate()
        run.wait()


@contextmanager
def following(is_on: bool) -> Iterator[None]:
    """Follow keys during the block, if it is on."""
    follower, ended = _native.Follower.start(terminals=False) if is_on else None, threading.Event()

    def read() -> None:
        while follower and not ended.wait(READ_EVERY):
            follower.read_rows()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def read_cpu(pids: list[int]) -> int:
    """CPU time of some processes and of the workers so far, in ns."""
    workers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and is_worker(entry)]
    return sum(read_schedstat(pid) for pid in [*pids, *workers])


def is_worker(process: Path) -> bool:
    with suppress(OSError):
        return (process / "comm").read_text().startswith(WORKERS)
    return False


def read_schedstat(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return 0


def main() -> None:
    """Print the CPU time of the host in each turn, in s; odd turns are followed."""
    folder = Path(tempfile.mkdtemp(prefix="cuesta-following-"))
    os.environ.setdefault("XDG_CACHE_HOME", str(folder))
    os.sched_setaffinity(0, {JOB["hosts"]})  # sshd and all that it starts stay there
    with sshd(folder, AT_A_SHELL, "MaxStartups 1000", metered=True) as host:
        os.sched_setaffinity(0, {JOB["drivers"]})
        with typists(host, folder):
            pids = [host.pid, *descendants(host.pid)]
            turns = []
            for turn in range(2 * JOB["pairs"]):
                with following(turn % 2 == 1 and JOB["is_followed"]):
                    threading.Event().wait(SETTLE)
                    begin = read_cpu(pids)
                    threading.Event().wait(JOB["seconds"])
                    turns.append((read_cpu(pids) - begin) / 1e9)
    print(json.dumps(turns))


main()
