"""Programs that want a CPU all the time."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def busy_loops(number: int, shell: Sequence[str | Path] = ("sh",)) -> Iterator[None]:
    """Have this many of them run in a shell until the end of the block."""
    started = [subprocess.Popen([*shell, "-c", "while :; do :; done"]) for _ in range(number)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()
