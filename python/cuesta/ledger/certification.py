"""Opens a certification folder: `certification.json` and `run-1` … `run-N` are raw, `record.json` is derived.

`cuesta.analysis.certify.record` derives the record anew whenever a certification is read; `record.json` has the one
that was derived first.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cuesta.errors import InputError
from cuesta.json_text import json_file_text
from cuesta.ledger.record import FORMAT, CertificationSetup
from cuesta.ledger.rows import insist_on_known_format, why_unreadable
from cuesta.ledger.run_folder import raw_files

GIVEN = "certification.json"
RECORD = "record.json"
SIGNATURE = "record.json.sig"
SERVICE_PROFILE = "service.profile"
PAGE = "record.html"
DERIVED_FILES = (RECORD, SIGNATURE, PAGE)
"""Files of a certification folder that can be derived again."""
EXCLUDED = "excluded"
SETTLING = "settling"
TRACED, LINKAGE, CONTROL = "traced", "linkage", "control"
EXTRA_FOLDERS = (TRACED, LINKAGE, CONTROL)
"""Folders of the extra runs."""


class SpoiltError(InputError):
    """`certification.json` or `record.json` is damaged."""


@dataclass(frozen=True, slots=True)
class Certification:
    folder: Path
    given: CertificationSetup
    runs: list[Path]
    """The timed runs (`run-N`), in order; `analysis.certify` decides which of them count."""
    excluded: list[Path]
    settling: list[Path]
    record: dict[str, Any] | None
    """The content of `record.json`; None if it was not written yet."""
    extra_runs: dict[str, list[Path]] = field(default_factory=dict)
    """The extra runs, by folder in `EXTRA_FOLDERS`."""

    @property
    def all_runs(self) -> list[Path]:
        extra = [run for runs in self.extra_runs.values() for run in runs]
        return [*self.runs, *self.excluded, *self.settling, *extra]


def is_certification(folder: Path) -> bool:
    return (folder / GIVEN).is_file()


def open_certification(folder: Path | str) -> Certification:
    """Raises InputError if there is no certification, or a damaged one, or one of a newer cuesta."""
    folder = Path(folder)
    given = read_object(folder / GIVEN)
    record = read_object(folder / RECORD) if (folder / RECORD).exists() else None
    try:
        known = CertificationSetup.model_validate(given)
    except ValidationError as error:
        raise SpoiltError(f"{folder / GIVEN}: {first_error(error)}") from None
    extra = {name: runs_in(folder / name) for name in EXTRA_FOLDERS}
    excluded, settling = runs_in(folder / EXCLUDED), runs_in(folder / SETTLING)
    return Certification(folder, known, runs_in(folder), excluded, settling, record, extra)


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON file of the folder. Raises SpoiltError, and InputError if its format is newer than ours."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        version = content["format"]
    except FileNotFoundError:
        raise InputError(f"{path.parent}: no certification: there is no {path.name} in it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpoiltError(f"{path}: cannot be read: {why_unreadable(error)}") from None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SpoiltError(f"{path}: is of format {version}, which there is not")
    writer = content.get("cuesta") or content.get("given", {}).get("cuesta")
    insist_on_known_format(path, version, FORMAT, writer, "; the run folders in it can be read by themselves")
    return content


def text_hash(record: dict[str, Any]) -> str:
    """SHA-256 of the text of `record.json` without the hash itself: any change of the file shows."""
    rest = {name: value for name, value in record.items() if name != "sha256"}
    return hashlib.sha256(json_file_text(rest).encode()).hexdigest()


def first_error(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"


def runs_in(folder: Path) -> list[Path]:
    """The run folders in a folder, in order of their numbers."""
    runs = [path for path in folder.glob("run-*") if (path / "run.json").is_file()]
    return sorted(runs, key=lambda path: (len(path.name), path.name))


def hashes(certification: Certification) -> dict[str, str]:
    """SHA-256 of every raw file, by its name within the folder."""
    runs = certification.all_runs
    own = [certification.folder / GIVEN, certification.folder / SERVICE_PROFILE]
    files = [*(path for path in own if path.exists()), *(path for run in runs for path in raw_files(run))]
    return {path.relative_to(certification.folder).as_posix(): sha256(path) for path in sorted(files)}


def unknown_files(certification: Certification) -> list[str]:
    """Names of files in the folder that are neither raw nor derived."""
    folder = certification.folder
    runs = certification.all_runs
    own = {folder / name for name in (GIVEN, SERVICE_PROFILE, *DERIVED_FILES)}
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    others = (path for path in files if path not in own and not any(path.is_relative_to(run) for run in runs))
    return sorted(path.relative_to(folder).as_posix() for path in others)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
