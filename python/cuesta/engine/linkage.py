"""Counts the references that dynamic linkers bind by name in the programs that a run starts.

The GNU linker reports them if the environment asks for it (`LD_DEBUG=statistics`): when a program is ready to start,
and when it ends, with what it bound meanwhile. That costs each program some system calls and a descriptor, so it has a
run of its own, in which nothing is timed. A tracer cannot count them: a shipped linker has no symbol for its resolver,
and many programs bind everything before they start.
"""

import json
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuesta import _native

FILE = "linkage.jsonl"
BOUND = re.compile(r"^ *(\d+):\t *(final )?number of relocations: (\d+)$", re.MULTILINE)
"""Who, whether at its end, and how many; not those that needed no name, nor those of a cache."""


class Linkage:
    """Reads what the linkers wrote, at intervals; a row has the instant and all that was reported until then."""

    def __init__(self, folder: Path, every: float) -> None:
        self.folder = folder
        self.every = every
        self.said: dict[Path, tuple[int, list[int]]] = {}
        """Of each file: its size when it was read, and the programs in it."""
        self.rows: list[str] = []
        self.ending = threading.Event()

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make linkers report; each process writes a file of its own."""
        return {"LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": str(self.folder / "process")}

    def look(self) -> None:
        at = _native.now()
        for file in self.folder.iterdir():
            size = file.stat().st_size
            if self.said.get(file, (0, []))[0] != size:
                self.said[file] = size, programs(file.read_text(errors="replace"), file.suffix[1:])
        bound = [symbols for _, each in self.said.values() for symbols in each]
        self.rows.append(json.dumps({"at": at, "programs": len(bound), "symbols": sum(bound)}))

    def keep_looking(self) -> None:
        """Take readings until told to end, and a last one then."""
        self.look()
        while not self.ending.wait(self.every):
            self.look()
        self.look()


def programs(said: str, process: str) -> list[int]:
    """References bound by each program of a process, which may load one program after another.

    A process that was forked and loaded nothing writes into its parent's file: what it reports at its end is mostly
    what its parent had bound, and is left out.
    """
    found: list[int] = []
    for who, final, symbols in BOUND.findall(said):
        if who == process and not final:
            found.append(int(symbols))
        elif who == process and found:
            found[-1] = max(found[-1], int(symbols))
    return found


@contextmanager
def linkage(folder: Path, every: float) -> Iterator[dict[str, str]]:
    """Take readings while the block runs, which starts programs in the environment that it is given.

    The readings are written into the run folder that the block makes.
    """
    with tempfile.TemporaryDirectory(prefix="cuesta-linkage-") as said:
        Path(said).chmod(0o1777)  # a linker that cannot write there writes to standard output
        links = Linkage(Path(said), every)
        looking = threading.Thread(target=links.keep_looking, daemon=True)
        looking.start()
        try:
            yield links.environment
        finally:
            links.ending.set()
            looking.join()
            if folder.is_dir():
                (folder / FILE).write_text("\n".join(links.rows) + "\n", encoding="utf-8")
