"""The lines that lead to a host of this folder: each starts it for every connection, and gives a target to type at."""

import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from tests.daemons import busybox, sshd, telnetd

ROOT = Path(__file__).parents[2]


def host(name: str, log: Path) -> list[str]:
    """Give the command of a host, which logs to a file."""
    return ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", f"tests.hosts.{name}", "--log", str(log)]


@contextmanager
def over_pty(command: list[str], _folder: Path) -> Iterator[str]:
    """Have each user start the host on a terminal of its own."""
    yield f"pty:{shlex.join(command)}"


@contextmanager
def over_tcp(command: list[str], _folder: Path) -> Iterator[str]:
    """Listen; each connection is a host's standard input and output."""
    started: list[subprocess.Popen[bytes]] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    line, _ = listener.accept()
                    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    started.append(subprocess.Popen(command, stdin=line.fileno(), stdout=line.fileno()))
                    line.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for process in started:
                process.kill()
                process.wait()


@contextmanager
def over_telnet(command: list[str], folder: Path) -> Iterator[str]:
    """Start a telnet daemon, whose shell is the host."""
    with telnetd(busybox, folder, shell=f"#!/bin/sh\nexec {shlex.join(command)}\n") as port:
        yield f"telnet://127.0.0.1:{port}"


@contextmanager
def over_ssh(command: list[str], folder: Path) -> Iterator[str]:
    """Start sshd, which runs the host for whoever logs in."""
    with sshd(folder, f"ForceCommand exec {shlex.join(command)}", "MaxStartups 100") as daemon:
        yield daemon.target


Over = Callable[[list[str], Path], AbstractContextManager[str]]
LINES: dict[str, Over] = {"pty": over_pty, "tcp": over_tcp, "telnet": over_telnet, "ssh": over_ssh}
"""By kind of line."""
