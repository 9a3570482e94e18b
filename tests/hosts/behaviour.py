"""The common part of the hosts in this folder: a raw terminal, bytes in and out, and a log of actions with instants.

A host is a program of known behaviour that reads its line from standard input and writes to standard output, so that
the same file serves behind a terminal, a TCP port, telnetd and sshd. It is started as
`env PYTHONPATH=CHECKOUT python -m tests.hosts.NAME --log FILE`. Each row of the log is one JSON object:
`{"at": nanoseconds of CLOCK_MONOTONIC, "pid": …, "did": "read" | "wrote" | any other word, "bytes": text, …}`.
The clock is the driver's own, so a test compares Cuesta's figures with this log directly.
"""

import argparse
import json
import os
import socket
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PROMPT = b"$ "


class Behaviour:
    """One connection of a host: its line and its log."""

    def __init__(self, log: Path) -> None:
        self.folder = log.parent
        """The test's folder."""
        # One write per row and O_APPEND, because many connections share the file.
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        with suppress(termios.error):
            tty.setraw(0)
        with suppress(OSError), socket.socket(fileno=os.dup(0)) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def note(self, did: str, data: bytes = b"", **more: object) -> None:
        """Add a row to the log."""
        row = {"at": time.monotonic_ns(), "pid": os.getpid(), "did": did, "bytes": data.decode("latin-1"), **more}
        os.write(self._log, json.dumps(row).encode() + b"\n")

    def reads(self) -> Iterator[bytes]:
        """Yield input as it arrives, until the line ends."""
        while True:
            try:
                data = os.read(0, 4096)
            except OSError:
                return
            if not data:
                return
            self.note("read", data)
            yield data

    def typed(self) -> Iterator[bytes]:
        """Yield input one character at a time; LF becomes CR."""
        for data in self.reads():
            for key in data.replace(b"\r\n", b"\r").replace(b"\r\x00", b"\r").replace(b"\n", b"\r"):
                yield bytes([key])

    def rows(self, show: Callable[[bytes], None], prompt: bytes = PROMPT) -> Iterator[bytes]:
        """Write a prompt, and yield each row when its Return arrives; `show` gets all other keys."""
        self.write(prompt, "prompt")
        row = b""
        for key in self.typed():
            if key == b"\r":
                yield row
                row = b""
            else:
                show(key)
                row += key

    def echo(self, key: bytes) -> None:
        self.write(key, "echo")

    def write(self, data: bytes, did: str = "wrote", **more: object) -> None:
        """Write immediately, then log the instant before the write."""
        at = time.monotonic_ns()
        try:
            os.write(1, data)
        except OSError:
            raise SystemExit from None  # the other end is closed
        self.note(did, data, since=at, **more)

    def pause(self, seconds: float) -> None:
        """Wait for the host's delay."""
        time.sleep(seconds)


def started() -> Behaviour:
    """Begin a connection with the settings of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    return Behaviour(parser.parse_args().log)
