"""Debian's Hercules: a System/370 without an operating system, whose storage is set from here."""

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from tests.daemons import free_port, listening

CONFIGURATION = """\
CPUMODEL 3033
MAINSIZE 2
MAXCPU 1
NUMCPU 1
ARCHMODE S/370
CNSLPORT 127.0.0.1:{port}
"""


@contextmanager
def hercules(
    folder: Path, devices: Sequence[str], storage: Mapping[int, str], line: int | None = None
) -> Iterator[int]:
    """Start it with devices (rows of its configuration) and a program in its storage; yields a port to its console.

    `storage` has the contents by address, in hexadecimal digits and blanks; the PSW at 0 is where the program begins.
    It is ready when it listens there, or at the port of its `line`.
    """
    port, configuration, commands = free_port(), folder / "hercules.cnf", folder / "hercules.rc"
    configuration.write_text(CONFIGURATION.format(port=port) + "\n".join(devices) + "\n")
    stored = [f"r {address:x}={content.replace(' ', '')}" for address, content in storage.items()]
    commands.write_text("\n".join([*stored, "restart"]) + "\n")
    command = ["env", f"HERCULES_RC={commands}", "hercules", "-d", "-f", str(configuration)]
    with listening(command, line or port, folder), one_at_a_time(port) as entrance:
        yield entrance


@contextmanager
def one_at_a_time(port: int) -> Iterator[int]:
    """Yield a port that leads to the console, and connects each user there when it has greeted the one before.

    Hercules passes each connection to a thread of its own in one variable that all share. If the next one comes before
    that thread has read it, two threads serve one user: one takes the other's input, and closes the user's socket.
    From then on `select` fails, and the console answers nobody.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connecting = Thread(target=connect_each_user, args=(listener, port), daemon=True)
        connecting.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            connecting.join()


def connect_each_user(listener: socket.socket, port: int) -> None:
    """Connect users to the console until nothing listens any more."""
    with suppress(OSError):
        while True:
            user, _ = listener.accept()
            console = socket.create_connection(("127.0.0.1", port))
            console.recv(1, socket.MSG_PEEK)  # its thread writes only when it has read the variable
            Thread(target=pass_on, args=(user, console), daemon=True).start()
            Thread(target=pass_on, args=(console, user), daemon=True).start()


def pass_on(source: socket.socket, sink: socket.socket) -> None:
    """Send what arrives from one socket to the other until either closes."""
    with suppress(OSError), source:
        while arrived := source.recv(65536):
            sink.sendall(arrived)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
