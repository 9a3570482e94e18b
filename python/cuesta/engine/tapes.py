"""Reads and parses tapes: files, and those that ship with Cuesta (`builtin:WORD`). A cast is made a tape first."""

from dataclasses import dataclass
from pathlib import Path

from cuesta import _native
from cuesta.errors import InputError
from cuesta.foreign_files import LONGEST_TEXT, TooLongError, read_bytes
from cuesta.shipped_tapes import FOLDER, STREAM, list_words, word_of
from cuesta.validation import suggest

CAST = ".cast"
LONGEST_CAST = 64 << 20
"""Bytes of a cast, which is mostly output."""
CUT = "the cast ends within a row, as when its recorder was killed: the tape has what stands before that"


@dataclass(frozen=True, slots=True)
class TapeFile:
    """A tape that parses, with where it comes from."""

    name: str
    """Its name in records; also that of transactions without a name of their own."""
    text: str
    content: _native.Tape
    notes: tuple[str, ...]
    """Notes on parts that were left out, or read in another way than they are written."""

    @property
    def times_echo(self) -> bool:
        """Whether any key is timed to its echo."""
        return self.content.times_echoes()

    @property
    def classes(self) -> list[str]:
        """What it times answers of: its transactions, and itself if it waits for answers outside of them."""
        return [*self.content.transactions(), *([self.name] if self.content.answers_outside() else [])]


def read_tape(where: str, closed: bool = True) -> TapeFile:
    """Read `builtin:WORD` or a file. A cast's tape has think times if `closed`, else the recorded instants."""
    word = word_of(where)
    if word is not None and word not in (*list_words(), STREAM):
        raise InputError(f"{where}: no such tape ships with Cuesta{suggest(word, list_words())}", "see `cuesta tapes`")
    path = FOLDER / f"{word}.tape" if word else Path(where)
    text, notes = _of_cast(path, where, closed) if is_cast(where) else (_text(path, where), ())
    try:
        content = _native.Tape.parse(text, show_path(path), str(path.parent))
    except _native.TapeError as error:
        raise InputError(str(error)) from None
    return TapeFile(path.stem, text, content, (*notes, *content.notes()))


def is_cast(where: str) -> bool:
    return where.endswith(CAST)


def read_cast(path: Path, where: str) -> _native.Cast:
    """Read a cast of asciinema."""
    try:
        return _native.Cast.read(_bytes(path, where, "cast", LONGEST_CAST))
    except ValueError as error:
        raise InputError(f"{show_path(path)}: {error}") from None


def notes_on(cast: _native.Cast) -> tuple[str, ...]:
    return (CUT,) if cast.is_cut else ()


def _of_cast(path: Path, where: str, closed: bool) -> tuple[str, tuple[str, ...]]:
    timing = "its think times" if closed else "the recorded instants"
    cast = read_cast(path, where)
    notes = notes_on(cast)
    try:
        return cast.tape(closed, "\n".join([f"Made of {path.name}, with {timing}", *notes])), notes
    except ValueError as error:
        raise InputError(f"{show_path(path)}: {error}") from None


def show_path(path: Path) -> str:
    """A file's name, relative if it is below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _text(path: Path, where: str) -> str:
    try:
        return _bytes(path, where, "tape", LONGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: it is not UTF-8 (at byte {error.start})", "save the tape as UTF-8") from None


def _bytes(path: Path, where: str, what: str, longest: int) -> bytes:
    try:
        return read_bytes(path, longest)
    except OSError as error:
        raise InputError(f"{show_path(path)}: cannot read the {what}: {error.strerror}", _near(path, what)) from None
    except TooLongError as error:
        raise InputError(f"{where}: {error}: too large for a {what}") from None


def _near(path: Path, what: str) -> str:
    others = sorted(other.name for other in path.parent.glob(f"*.{what}"))[:8]
    in_folder = f"{what}s in that folder: {', '.join(others)}" if others else f"there is no {what} in that folder"
    if what == "cast":
        return in_folder if others else f"{in_folder}: give a file of asciinema's or of cuesta record's"
    by_word = "a word without a suffix or a slash names a tape that ships with Cuesta"
    return f"{in_folder}\n  {by_word}{suggest(path.stem, list_words())}"
