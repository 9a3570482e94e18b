"""Child processes that live as long as their standard input: ends one, and reads what it printed about errors."""

import subprocess
from contextlib import suppress
from typing import IO

SSH_REMEDIES = {
    "host key verification failed": "log in there once by hand, or add its key to ~/.ssh/known_hosts",
    "permission denied": "ssh must get in there without a password: by a key or an agent",
}
"""Remedies by words in the errors of ssh."""


def end_child(process: subprocess.Popen[bytes], patience: float) -> None:
    """Close the process's pipes, at which it ends; kill it if it has not ended after `patience` seconds."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(BrokenPipeError):  # flushes what was written to a process that has ended
                pipe.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def read_errors(file: IO[bytes]) -> str:
    """What a child process has printed so far on standard error, which is a temporary file."""
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def in_one_line(message: str) -> str:
    """Join the lines of an error as a command prints it: what was wrong, then what to do."""
    parts = [line.strip() for line in message.splitlines() if line.strip()]
    return "; ".join(parts).removeprefix("cuesta: ")
