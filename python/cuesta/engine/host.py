"""The built-in host in a process of its own, so that its CPU time is its own."""

import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from cuesta.errors import CuestaError

PATIENCE = 30.0
"""Seconds that the host's process has to say its addresses."""


@dataclass(frozen=True, slots=True)
class Running:
    """A host that runs."""

    addresses: list[str]
    process: int
    input: IO[bytes]

    def end_rows_at(self, instants: Iterable[int]) -> None:
        """Have rows of its meters end at each instant (nanoseconds of the monotonic clock, in order)."""
        with suppress(BrokenPipeError):  # it has ended, which is said when the run has
            self.input.write("".join(f"{instant}\n" for instant in instants).encode())
            self.input.flush()


@contextmanager
def builtin_host(spec: Mapping[str, object], command_prefix: Sequence[str] = ()) -> Iterator[Running]:
    """Run a host while the block runs; `command_prefix` are words before a command that have it run elsewhere."""
    command = [*command_prefix, sys.executable, "-m", "cuesta.engine.host_process", json.dumps(spec)]
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
        )
        try:
            addresses = _addresses(process, len(spec["listen"]))  # type: ignore[arg-type]
            if addresses is None:
                stderr.seek(0)
                raise CuestaError(f"the built-in host did not start: {stderr.read().decode(errors='replace').strip()}")
            assert process.stdin is not None
            yield Running(addresses, process.pid, process.stdin)
            if process.poll() is not None:
                how = f"killed by signal {-process.returncode}" if process.returncode < 0 else "by itself"
                print(f"cuesta: the built-in host ended during the run, {how}", file=sys.stderr)
        finally:
            _end(process)


def _addresses(process: subprocess.Popen[bytes], count: int) -> list[str] | None:
    """Read the addresses; None if the process ended or said nothing for too long."""
    assert process.stdout is not None
    said = b""
    while said.count(b"\n") < count:
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        part = process.stdout.read1() if ready else b""  # type: ignore[attr-defined]
        if not part:
            process.kill()
            process.wait()
            return None
        said += part
    return said.decode().split()


def _end(process: subprocess.Popen[bytes]) -> None:
    """An attached host ends when its input does."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(BrokenPipeError):  # what was told to one that has ended
                pipe.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
