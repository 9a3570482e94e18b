"""The tapes that ship with Cuesta, `tapes/WORD.tape`. Each is named by its word wherever a tape is named.

A plan calls one `builtin:WORD`. The first row of its comment says what is typed; a row `# Target: TARGET` says what at,
if that is not the built-in host.
"""

from dataclasses import dataclass
from pathlib import Path

from cuesta.target import BUILTIN_HOST

FOLDER = Path(__file__).parent / "tapes"
PREFIX = "builtin:"
TARGET = "Target: "
STREAM = "sessions/stream"
"""The tape of other sessions at a shell (`plan/sessions`). Nobody types it, so that it is in no list."""


@dataclass(frozen=True, slots=True)
class ShippedTape:
    """A tape that ships with Cuesta."""

    word: str
    purpose: str
    """What is typed, in a row."""
    target: str
    """What it is typed at."""
    text: str


def list_words() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.tape"))


def read_shipped_tape(word: str) -> ShippedTape:
    """Read the tape of a word, which must be one of `list_words()`."""
    text = (FOLDER / f"{word}.tape").read_text(encoding="utf-8")
    rows = [row.removeprefix("# ") for row in text.splitlines() if row.startswith("# ")]
    target = next((row.removeprefix(TARGET) for row in rows if row.startswith(TARGET)), BUILTIN_HOST)
    return ShippedTape(word, rows[0], target, text)


def locate_tape(name: str, folder: Path) -> str:
    """The tape that a name stands for: `builtin:WORD` if it is a word, else the path of a file, relative to `folder`.

    A name with a suffix or a slash is never a word.
    """
    if name.startswith(PREFIX):
        return name
    return f"{PREFIX}{name}" if name in list_words() else str(folder / name)


def word_of(where: str) -> str | None:
    """The word in `builtin:WORD`; None for a file."""
    return where.removeprefix(PREFIX) if where.startswith(PREFIX) else None
