"""Debian's Hercules: a System/370 without an operating system, whose storage is set from here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

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
    """Start it with devices (rows of its configuration) and a program in its storage; yields the port of its console.

    `storage` has the contents by address, in hexadecimal digits and blanks; the PSW at 0 is where the program begins.
    It is ready when it listens there, or at the port of its `line`.
    """
    port, configuration, commands = free_port(), folder / "hercules.cnf", folder / "hercules.rc"
    configuration.write_text(CONFIGURATION.format(port=port) + "\n".join(devices) + "\n")
    stored = [f"r {address:x}={content.replace(' ', '')}" for address, content in storage.items()]
    commands.write_text("\n".join([*stored, "restart"]) + "\n")
    command = ["env", f"HERCULES_RC={commands}", "hercules", "-d", "-f", str(configuration)]
    with listening(command, line or port, folder):
        yield port
