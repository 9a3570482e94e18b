"""Runs the built-in host in a separate process, so that its CPU time can be told from the driver's."""

import json
import select
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cuesta.engine.local.child_processes import end_child, read_errors
from cuesta.errors import CuestaError
from cuesta.module_command import module_command

PATIENCE = 30.0
"""Seconds within which the host's process must print its addresses."""
ENDING = 10.0
"""Seconds within which it must end."""


@dataclass(slots=True)
class HostProcess:
    """The host's process. It exists at once, and listens a moment later."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    """Its standard error."""
    spec: Mapping[str, Any]
    row_ends: set[int] = field(default_factory=set)
    """Instants at which a row must end."""

    def addresses(self) -> list[str]:
        """Wait until the host listens. Call it once. Raises CuestaError if the process ends or takes over PATIENCE."""
        assert self.process.stdout is not None
        output = b""
        while output.count(b"\n") < len(self.spec["listen"]):
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            part = self.process.stdout.read1() if ready else b""  # type: ignore[attr-defined]
            if not part:
                self.process.kill()
                self.process.wait()
                raise CuestaError(f"the built-in host did not start: {read_errors(self.errors)}")
            output += part
        return output.decode().split()

    def how_it_ended(self) -> str | None:
        """How the process ended, such as `was killed by signal 9`; None while it runs."""
        code = self.process.poll()
        if code is None:
            return None
        return f"was killed by signal {-code}" if code < 0 else "ended by itself"

    def notes(self) -> list[str]:
        """The rows that the host printed about its start, such as a setting that has no effect on this machine."""
        return read_errors(self.errors).splitlines()

    def end_rows_at(self, instants: Iterable[int]) -> None:
        """Make rows of the host's meters end at each instant (nanoseconds of the monotonic clock).

        Two steps may share a bound; no row is made of nothing.
        """
        assert self.process.stdin is not None
        instants = [each for each in dict.fromkeys(instants) if each not in self.row_ends]
        self.row_ends.update(instants)
        with suppress(BrokenPipeError):  # the host has ended: `builtin_host` reports it after the run
            self.process.stdin.write("".join(f"{instant}\n" for instant in instants).encode())
            self.process.stdin.flush()


@contextmanager
def run_host(spec: Mapping[str, Any], here: Path, command_prefix: Sequence[str] = ()) -> Iterator[HostProcess]:
    """Run a host during the block; its programs start in `here`.

    `command_prefix` runs it elsewhere, such as `ip netns exec …`.
    """
    command = [*command_prefix, *module_command("cuesta.engine.local.host_process", json.dumps(spec))]
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, cwd=here, start_new_session=True
        )
        try:
            yield HostProcess(process, stderr, spec)
        finally:
            end_child(process, ENDING)
