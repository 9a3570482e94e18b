"""Tapes: found, read and parsed. Built-in ones are called `builtin:NAME`."""

from dataclasses import dataclass
from pathlib import Path

from cuesta import _native
from cuesta.errors import InputError

BUILTIN = Path(__file__).parent.parent / "tapes"
LONGEST = 16 << 20
"""Bytes; nobody types more."""


@dataclass(frozen=True, slots=True)
class Tape:
    """A tape that parses."""

    name: str
    """How records and transactions without a name call it."""
    text: str
    folder: Path
    """Where the tape's own files are."""
    script: _native.Script


def read_tape(where: str) -> Tape:
    """Read `builtin:NAME` or a file."""
    path = BUILTIN / f"{where.removeprefix('builtin:')}.tape" if where.startswith("builtin:") else Path(where)
    text = _text(path, where)
    try:
        script = _native.Script.parse(text, shown(path), str(path.parent))
    except _native.TapeError as error:
        raise InputError(str(error)) from None
    return Tape(path.stem, text, path.parent, script)


def shown(path: Path) -> str:
    """Name a file from here, if it is below here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _text(path: Path, where: str) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1)
        if len(text) > LONGEST:
            raise InputError(f"{where}: over {LONGEST >> 20} MiB: that is no tape")
        return text.decode("utf-8")
    except OSError as error:
        near = ", ".join(sorted(tape.name for tape in path.parent.glob("*.tape"))[:8])
        remedy = f"tapes in that folder: {near}" if near else "give the name of a tape, or none for the built-in one"
        raise InputError(f"{shown(path)}: cannot read the tape: {error.strerror}", remedy) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: it is not UTF-8 (at byte {error.start})", "save the tape as UTF-8") from None
