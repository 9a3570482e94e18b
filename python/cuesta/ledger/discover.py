"""Finds runs, certifications, comparisons and files of goals below folders, by file names alone."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cuesta.errors import InputError
from cuesta.ledger.certification import is_certification
from cuesta.ledger.experiment import INDEX
from cuesta.ledger.versions import is_versions

GOALS = "goals.toml"


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders and files, each once, in order of their names."""

    runs: list[Path]
    certifications: list[Path]
    goals: list[Path]
    comparisons: list[Path]
    """Of two versions, or of pairs."""


def discover(places: Sequence[Path]) -> Folders:
    """Search folders; a file is taken as it is. Raises InputError if a place does not exist."""
    runs, certifications, goals, comparisons = set[Path](), set[Path](), set[Path](), set[Path]()
    for place in places:
        if place.is_file():
            goals.add(place)
        elif place.is_dir():
            for folder, files in _walk(place):
                runs |= {folder} if "run.json" in files else set()
                certifications |= {folder} if is_certification(folder) else set()
                comparisons |= {folder} if is_versions(folder) or INDEX in files else set()
                goals |= {folder / GOALS} if GOALS in files else set()
        else:
            raise InputError(f"{place}: there is no such file or folder")
    return Folders(sorted(runs), sorted(certifications), sorted(goals), sorted(comparisons))


def _walk(place: Path) -> Iterator[tuple[Path, list[str]]]:
    """The folders below a place and their files, without hidden folders and the inside of run folders."""
    for folder, below, files in os.walk(place):
        below[:] = [] if "run.json" in files else sorted(each for each in below if not each.startswith("."))
        yield Path(folder), files


def fingerprint(folder: Path) -> str:
    """A hash of the names, sizes and times of all files in a folder."""
    digest = hashlib.sha256()
    for place, below, files in os.walk(folder):
        below.sort()
        for name in sorted(files):
            with suppress(OSError):  # a run that goes on replaces files
                about = os.stat(os.path.join(place, name))
                digest.update(f"{place}/{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()
