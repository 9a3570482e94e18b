"""Ends a child process that lives as long as its standard input."""

import subprocess
from contextlib import suppress


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
