"""Connects a host of this folder by each kind of line: starts it for every connection, and yields its target."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.daemons import TCPSVD, busybox, free_port, listening, sshd

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Reached:
    """How a host is reached over a line."""

    target: str
    meters: str
    """The value of --meters for it: its programs are children of the driver or of a daemon."""


def host(name: str, log: Path) -> list[str]:
    """The command of a host, which logs to a file."""
    return [*module(name), "--log", str(log)]


def module(name: str) -> list[str]:
    """The command of a module of this folder."""
    return ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", f"tests.hosts.{name}"]


@contextmanager
def over_pty(command: list[str], _folder: Path, metered: bool = False) -> Iterator[Reached]:
    """Have each user start the host on a terminal of its own."""
    yield Reached(f"pty:{shlex.join(command)}", "auto")


@contextmanager
def over_tcp(command: list[str], folder: Path, metered: bool = False) -> Iterator[Reached]:
    """Start a TCP server; each connection is a host's standard input and output."""
    port = free_port()
    with listening([*TCPSVD, str(port), *command], port, folder, metered) as pid:
        yield Reached(f"tcp://127.0.0.1:{port}", f"pid:{pid}")


@contextmanager
def over_ws(command: list[str], folder: Path, metered: bool = False) -> Iterator[Reached]:
    """Start a WebSocket server; each connection is a host's standard input and output."""
    port = free_port()
    with listening([*module("websocket"), "--port", str(port), *command], port, folder, metered) as pid:
        yield Reached(f"ws://127.0.0.1:{port}/", f"pid:{pid}")


@contextmanager
def over_telnet(command: list[str], folder: Path, metered: bool = False) -> Iterator[Reached]:
    """Start a telnet daemon, whose shell is the host."""
    shell, port = folder / "shell", free_port()
    shell.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
    shell.chmod(0o755)
    with listening(busybox(shell, port, folder), port, folder, metered) as pid:
        yield Reached(f"telnet://127.0.0.1:{port}", f"pid:{pid}")


@contextmanager
def over_ssh(command: list[str], folder: Path, metered: bool = False) -> Iterator[Reached]:
    """Start sshd, which runs the host for each user who logs in."""
    more = (f"ForceCommand exec {shlex.join(command)}", "MaxStartups 100")
    with sshd(folder, *more, metered=metered) as daemon:
        yield Reached(daemon.target, f"pid:{daemon.pid}")


Over = Callable[[list[str], Path, bool], AbstractContextManager[Reached]]
LINES: dict[str, Over] = {"pty": over_pty, "tcp": over_tcp, "telnet": over_telnet, "ssh": over_ssh, "ws": over_ws}
"""The functions that open them, by kind of line; a host that is `metered` is in the first namespaces (`listening`)."""
