"""What there is below the folders: runs, certifications and comparisons, each with an id, and what a list says of it.

An address has the id of an entry, never a path: what is not in the list cannot be asked for. A folder that has a link
to what is outside of it is left out.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cuesta.errors import InputError
from cuesta.ledger.discover import discover
from cuesta.ledger.rows import JsonObject, read_object

Kind = Literal["run", "search", "certification", "comparison"]
State = Literal["goes on", "ended", "cut off"]
GOING_ON_SECONDS = 30.0
"""A run without its end whose files were written this long ago goes on, as far as can be seen."""
SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder."""

    id: str
    folder: Path
    kind: Kind
    about: Mapping[str, Any]
    """What it says of itself: `run.json`, `certification.json` or `versions.json`; empty if that cannot be read."""
    summary: Mapping[str, Any]
    """A run's `summary.json`; empty if there is none."""
    started: str
    """When, in UTC as written; of a comparison its first run; empty if that is not known."""
    name: str
    """What people call it: its folder, within what it is a part of."""
    part_of: str = ""
    """The id of the certification or comparison that it is a run of."""
    state: State = "ended"

    @property
    def address(self) -> str:
        """The path of its page."""
        return f"/{PAGES[self.kind]}/{self.id}"


PAGES: Mapping[Kind, str] = {
    "run": "run",
    "search": "run",
    "certification": "certification",
    "comparison": "comparison",
}


class Entries:
    """All entries of some folders, found anew when asked for."""

    def __init__(self, places: Sequence[Path]) -> None:
        self.places = [place.absolute() for place in places]
        self._read_before: dict[Path, tuple[tuple[int, int], JsonObject]] = {}

    def find(self) -> dict[str, Entry]:
        """The entries by id, the newest first. Raises InputError if a folder does not exist."""
        found = discover(self.places)
        groups = [*found.certifications, *found.comparisons]
        runs = [run for folder in found.runs if (run := self._read(folder, "run", groups))]
        others: list[tuple[Path, Kind]] = [
            *((folder, "certification") for folder in found.certifications),
            *((folder, "comparison") for folder in found.comparisons),
        ]
        made = [self._read(folder, kind, first=_first_of(folder, runs)) for folder, kind in others]
        own = [*runs, *(each for each in made if each)]
        return {each.id: each for each in sorted(own, key=lambda each: (each.started, each.name), reverse=True)}

    def _read(self, folder: Path, kind: Kind, groups: Sequence[Path] = (), first: str = "") -> Entry | None:
        """The entry of a folder; None if what it says of itself is not its own."""
        if not is_closed(folder, (ABOUT[kind], SUMMARY)):
            return None
        about = self._read_object(folder / ABOUT[kind])
        group = next((each for each in groups if each in folder.parents), None)
        summary = self._read_object(folder / SUMMARY) if kind == "run" else {}
        return Entry(
            id=name_entry(folder),
            folder=folder,
            kind="search" if kind == "run" and "search" in about else kind,
            about=about.get("given", about),
            summary=summary,
            started=str(about.get("started", first)),
            name=folder.relative_to(group).as_posix() if group else folder.name,
            part_of=name_entry(group) if group else "",
            state=find_state(folder, about) if kind == "run" and not summary else "ended",
        )

    def _read_object(self, path: Path) -> JsonObject:
        """A file of JSON, which is read again only if it has changed; empty if it cannot be read."""
        try:
            state = path.stat()
        except OSError:
            return {}
        as_it_is = (state.st_mtime_ns, state.st_size)
        before = self._read_before.get(path)
        if before is None or before[0] != as_it_is:
            before = self._read_before[path] = (as_it_is, read_object(path, []))
        return before[1]


ABOUT: Mapping[Kind, str] = {
    "run": "run.json",
    "search": "run.json",
    "certification": "certification.json",
    "comparison": "versions.json",
}
"""The file in which a folder says what it is."""


def name_entry(folder: Path) -> str:
    """The id of a folder: the same in every process, so that an address stays good."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", folder.name).strip("-")[:60]
    return f"{readable or 'folder'}-{hashlib.sha256(str(folder).encode(errors='surrogateescape')).hexdigest()[:8]}"


def list_files(folder: Path) -> Iterator[Path]:
    """The files below a folder. Raises InputError if one is a link to what is outside of it."""
    inside = folder.resolve()
    for place, below, files in os.walk(folder):
        below.sort()
        for name in (*below, *sorted(files)):
            path = Path(place, name)
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                raise InputError(f"{path}: a link to what is outside of the folder", "nothing of this folder is shown")
            if name not in below and path.is_file():
                yield path


def is_closed(folder: Path, names: Sequence[str]) -> bool:
    """Whether these files of a folder, as far as there are any, are its own and no links to others."""
    inside = folder.resolve()
    return all((folder / name).resolve().is_relative_to(inside) for name in names)


def find_state(folder: Path, about: Mapping[str, Any]) -> State:
    """The state of a run without a summary, as far as its files and their times tell."""
    segments = about.get("segments")
    if len({end.parent.parent for end in folder.glob("**/agent-*/agent.json")}) >= len(segments or [folder]):
        return "ended"
    newest = max((path.lstat().st_mtime for path in folder.glob("**/*.jsonl")), default=0.0)
    return "goes on" if time.time() - newest < GOING_ON_SECONDS else "cut off"  # files have the wall clock's time


def _first_of(folder: Path, runs: Sequence[Entry]) -> str:
    """When the first run in a folder was started."""
    return min((run.started for run in runs if folder in run.folder.parents), default="")
