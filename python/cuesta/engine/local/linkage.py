"""Counts the references that dynamic linkers bind by name in the programs that a run starts.

The GNU linker reports them if the environment has `LD_DEBUG=statistics`: when a program is ready to start, and again
when it ends. That costs each program some system calls and a descriptor, so it is done in an extra run, in which
nothing is timed. A tracer cannot count them: linkers as distributions ship them have no symbol for the resolver, and
many programs bind everything before they start.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuesta.engine.local.recorded_readings import record_readings
from cuesta.records.rows import LinkageRow

FILE = "linkage.jsonl"
BOUND = re.compile(r"^ *(\d+):\t *(final )?number of relocations: (\d+)$", re.MULTILINE)
"""A linker's report: the process, whether it is the final one, and the number of references bound by name."""


class Linkage:
    """Adds up the linkers' reports in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: dict[Path, tuple[int, list[int]]] = {}
        """For each file its size when it was read, and the references bound by each program in it."""

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make linkers report, each process to a file of its own."""
        return {"LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": str(self.folder / "process")}

    def read(self, at: int) -> LinkageRow:
        """Read the reports that there are now; `at` is the instant, in ns."""
        for file in self.folder.iterdir():
            size = file.stat().st_size
            if self.reports.get(file, (0, []))[0] != size:
                self.reports[file] = size, programs(file.read_text(errors="replace"), file.suffix[1:])
        symbols = [count for _, counts in self.reports.values() for count in counts]
        return LinkageRow(at=at, programs=len(symbols), symbols=sum(symbols))


def programs(report: str, process: str) -> list[int]:
    """References bound by each program of a process, which may execute one program after another.

    A forked process that executes no program reports into its parent's file. Its final report is left out, because it
    counts mostly what the parent had bound.
    """
    counts: list[int] = []
    for who, final, symbols in BOUND.findall(report):
        if who == process and not final:
            counts.append(int(symbols))
        elif who == process and counts:
            counts[-1] = max(counts[-1], int(symbols))
    return counts


@contextmanager
def record_linkage(folder: Path, every: float) -> Iterator[dict[str, str]]:
    """Take readings during the block, and write them into a folder, which exists when the block ends.

    Yields the environment in which the block must start its programs.
    """
    with tempfile.TemporaryDirectory(prefix="cuesta-linkage-") as reports:
        Path(reports).chmod(0o1777)  # for programs of other users: a linker that cannot write there writes to stdout
        links = Linkage(Path(reports))
        with record_readings(folder / FILE, every, links.read):
            yield links.environment
