"""What a comparison of two versions was made of: `versions.json` in the folder of its pairs."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from cuesta.errors import InputError
from cuesta.foreign_files import TooLongError, read_text

FILE = "versions.json"
FORMAT = 1
Compared = Literal["versions", "neighbours"]
Ending = Literal["decided", "budget", "interrupted", "obstacle"]


class VersionsRecord(BaseModel):
    """The terms of a comparison of two versions, and how it ended."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: int = FORMAT
    compared: Compared = "versions"
    """What the sides differ in: `neighbours` are what runs beside the users of the new side."""
    names: tuple[str, str]
    """Those of the base version and of the new one."""
    targets: tuple[str, str]
    """Without passwords."""
    commits: tuple[str, str] | None = None
    """If they are revisions of git."""
    tape: str
    is_default_tape: bool = False
    """Whether the tape is the built-in one, because the user named none."""
    figures: tuple[str, ...]
    """The figures that are judged."""
    guards: tuple[str, ...]
    """The figures that can only make the verdict worse."""
    margin_share: float | None = None
    margin_difference: float | None = None
    """In the unit of the figure: seconds."""
    budget: float
    """Seconds."""
    planned: tuple[int, ...] = ()
    """After which pairs a look is taken."""
    measure: float = 0.0
    """Seconds that each run measures."""
    seconds_per_pair: float = 0.0
    """How long a pair takes, as planned."""
    key_rate: float | None = None
    """Keys a second, if the program is too slow for those of the tape."""
    despite: str | None = None
    ended: Ending | None = None
    """Why no more pairs are made; None while some are made, or if that was cut off."""
    spoilt: tuple[str, ...] = ()
    """Runs that do not count, a sentence each; their pairs were repeated."""
    why: tuple[str, ...] = ()
    """What is in the way of any measurement, a sentence each."""

    @property
    def is_cut_short(self) -> bool:
        """Whether no more pairs are made, although those made could not tell."""
        return self.ended in ("budget", "interrupted")


def is_versions(folder: Path) -> bool:
    return (folder / FILE).is_file()


def read_versions_record(folder: Path) -> VersionsRecord:
    """Read the terms. Raises InputError."""
    file = folder / FILE
    try:
        record = VersionsRecord.model_validate_json(read_text(file))
    except (OSError, TooLongError, UnicodeDecodeError, ValidationError) as error:
        why = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{file}: cannot be read: {why}", "make the comparison again") from None
    if record.format > FORMAT:
        raise InputError(f"{file}: format {record.format}, which is newer than this Cuesta reads", "use a newer Cuesta")
    return record
