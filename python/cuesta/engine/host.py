"""The built-in host in a process of its own, so that its CPU time is its own."""

import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from cuesta.errors import CuestaError

PATIENCE = 30.0
"""Seconds that the host's process has to say its addresses."""


@dataclass(slots=True)
class Running:
    """The host's process. It is there at once, and listens a moment later."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    """What it says on standard error."""
    spec: Mapping[str, Any]

    def addresses(self) -> list[str]:
        """Wait until it listens; to be called once. Raises CuestaError if it ends, or says nothing for too long."""
        assert self.process.stdout is not None
        said = b""
        while said.count(b"\n") < len(self.spec["listen"]):
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            part = self.process.stdout.read1() if ready else b""  # type: ignore[attr-defined]
            if not part:
                self.process.kill()
                self.process.wait()
                self.errors.seek(0)
                why = self.errors.read().decode(errors="replace").strip()
                raise CuestaError(f"the built-in host did not start: {why}")
            said += part
        return said.decode().split()

    def end_rows_at(self, instants: Iterable[int]) -> None:
        """Have rows of its meters end at each instant (nanoseconds of the monotonic clock, in order)."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, which is said when the run has
            self.process.stdin.write("".join(f"{instant}\n" for instant in instants).encode())
            self.process.stdin.flush()


@contextmanager
def builtin_host(spec: Mapping[str, Any], command_prefix: Sequence[str] = ()) -> Iterator[Running]:
    """Run a host while the block runs; `command_prefix` are words before a command that have it run elsewhere."""
    command = [*command_prefix, sys.executable, "-m", "cuesta.engine.host_process", json.dumps(spec)]
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
        )
        try:
            yield Running(process, stderr, spec)
            if process.poll() is not None:
                how = f"killed by signal {-process.returncode}" if process.returncode < 0 else "by itself"
                print(f"cuesta: the built-in host ended during the run, {how}", file=sys.stderr)
        finally:
            _end(process)


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
