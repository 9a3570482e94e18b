"""Lists the tapes that ship with Cuesta: what each types, and what at.

`python -m cuesta.workflow.list_tapes docs/tapes.md` writes the table of that document.
"""

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cuesta.columns import wrap_text
from cuesta.errors import UsageError
from cuesta.marked_tables import renew
from cuesta.shipped_tapes import ShippedTape, list_words, read_shipped_tape
from cuesta.validation import suggest

USE = """cuesta run --tape WORD --target TARGET    plays one
cuesta tapes WORD > my.tape               makes one of your own, to be changed"""


@dataclass(frozen=True, slots=True)
class TapeList:
    """The tapes that ship with Cuesta, by their words."""

    tapes: Sequence[ShippedTape]

    def text(self) -> str:
        """What each is for, and below it the target, in rows of at most 80 columns."""
        width = max(len(tape.word) for tape in self.tapes)
        return "\n".join([*(row for tape in self.tapes for row in _rows(tape, width)), "", USE])

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {"tapes": [asdict(tape) for tape in self.tapes]}

    def markdown(self) -> str:
        """A table for documents."""
        rows = (f"| `{tape.word}` | {tape.purpose} | `{tape.target}` |" for tape in self.tapes)
        return "\n".join(["| word | what is typed | target |", "|---|---|---|", *rows])


def list_tapes() -> TapeList:
    return TapeList([read_shipped_tape(word) for word in list_words()])


def show_tape(word: str) -> ShippedTape:
    """The tape of a word. Raises UsageError if there is none."""
    if word not in list_words():
        raise UsageError(f"no tape `{word}` ships with Cuesta{suggest(word, list_words())}", "see `cuesta tapes`")
    return read_shipped_tape(word)


def _rows(tape: ShippedTape, width: int) -> Iterator[str]:
    beside = " " * (width + 2)
    yield from wrap_text(tape.purpose, 80, f"{tape.word:{width}}  ", beside)
    yield f"{beside}--target {shlex.quote(tape.target)}"


def renew_document(text: str) -> str:
    """The text of docs/tapes.md with its table written anew."""
    return renew(text, {"tapes": list_tapes().markdown()})


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renew_document(file.read_text(encoding="utf-8")), encoding="utf-8")
