"""The engine's end of a neighbour: a command that runs on this machine while measuring (the plan's `beside`)."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cuesta.engine.local.child_processes import end_child
from cuesta.module_command import module_command
from cuesta.plan import Segment

ENDING = 10.0
"""Seconds within which the neighbour's supervisor must end; it gives the neighbour a second."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A process that runs the neighbours of a segment's steps, `neighbour_process`."""

    process: subprocess.Popen[bytes]
    commands: Sequence[str | None]
    """The command beside each step; None where a step has no neighbour."""

    def wait_until_ready(self) -> None:
        """Wait until it takes steps, or has died: it would begin late where steps have no time to settle."""
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def expect(self, number: int, settled: int, end: int) -> None:
        """Run a step's neighbour between two instants of the monotonic clock, in ns. Steps are given in order."""
        command = self.commands[number]
        if command is None:
            return
        order = {"step": number, "command": command, "settled": settled, "end": end}
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # the process has died: a doubt about the run says that nothing ran beside it
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()


@contextmanager
def run_neighbour(segment: Segment, folder: Path, here: Path, cpus: Sequence[int] | None) -> Iterator[Neighbour | None]:
    """Run the neighbours of a segment's steps during the block, in the folder `here`, on `cpus`; None: on any.

    None if no step has one. None of their processes is left after the block, nor after this process was killed.
    """
    commands = [step.settings.beside for step in segment.steps]
    if not any(commands):
        yield None
        return
    about = {"folder": str(folder.absolute()), "cpus": cpus}
    command = module_command("cuesta.engine.local.neighbour_process", json.dumps(about))
    # In a session of its own, so that Ctrl-C at the terminal reaches only the engine.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=here, start_new_session=True)
    try:
        yield Neighbour(process, commands)
    finally:
        end_child(process, ENDING)
