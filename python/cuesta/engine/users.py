"""Reads users from a CSV file: a header row, then a row for each user. No cell is ever shown or recorded.

A file without a header has a user in its first row: no message repeats that row, either.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuesta import _native
from cuesta.engine.tapes import show_path
from cuesta.errors import InputError
from cuesta.foreign_files import TooLongError, read_bytes
from cuesta.units import many

LOGS_IN = ("cookie",)
"""Columns that log in at web terminals, and that are not named like secrets."""
LONGEST = 256 << 20
"""Bytes; ten million users fit."""


@dataclass(frozen=True, slots=True)
class Users:
    """A table of users: what each types for `${column}` of the tape."""

    columns: tuple[str, ...]
    cells: Sequence[str] = field(repr=False)
    """Row by row."""
    named: tuple[str, ...] = ()
    """Columns that the plan names as secret."""

    def __len__(self) -> int:
        return len(self.cells) // max(len(self.columns), 1)

    def first(self, count: int) -> list[dict[str, str]]:
        """The rows of the first users."""
        width = len(self.columns)
        starts = range(0, min(count, len(self)) * width, width or 1)
        return [dict(zip(self.columns, self.cells[at : at + width], strict=True)) for at in starts]

    @property
    def secret(self) -> list[str]:
        known = (*self.named, *LOGS_IN)
        return [name for name in self.columns if name in known or _native.names_secret(name)]

    def find_empty(self, column: str, count: int) -> int | None:
        """The first of a number of users, from 0, whose cell in a column is empty; None if all are filled."""
        cells = self.cells[self.columns.index(column) :: len(self.columns)][:count]
        return next((user for user, cell in enumerate(cells) if not cell), None)

    def describe(self, typed: Iterable[str]) -> str:
        """The number of users, and the columns that a tape types, secret ones marked."""
        known = [name for name in self.columns if name in typed]
        marked = ", ".join(f"{name} (secret)" if name in self.secret else name for name in known)
        return f"{many(len(self), 'user')} {f'with {marked}' if known else '(the tape types no column of theirs)'}"


def read_users(where: str, named: tuple[str, ...] = ()) -> Users:
    """Read the file; `named`: its secret columns by the plan. Raises InputError with the row and column of an error."""
    path = Path(where)
    file = show_path(path)
    try:
        table = io.StringIO(read_bytes(path, LONGEST).decode("utf-8-sig"), newline="")
    except OSError as error:
        raise InputError(f"{file}: cannot read the users: {error.strerror}") from None
    except TooLongError as error:
        raise InputError(f"{file}: {error}: too large for a table of users") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: it is not UTF-8 (at byte {error.start})", "save the file as UTF-8") from None
    rows = _number_rows(csv.reader(table, strict=True), file)
    columns = _header(next(rows, (1, []))[1], file)
    cells: list[str] = []
    for number, row in rows:
        if len(row) != len(columns) or not "".join(row).isprintable():
            _check_row(columns, row, f"{file}: row {number}")
        cells += row
    if not cells:
        raise InputError(f"{file}: no users in it", "write a header row (user,password), then a row for each")
    return Users(columns, cells, named)


def _number_rows(reader: Iterator[list[str]], path: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with its number in the file."""
    number = 1
    try:
        for number, cells in enumerate(reader, start=1):
            if any(cells):
                yield number, cells
    except csv.Error as error:
        raise InputError(
            f"{path}: row {number + 1}: {error}", "a cell with a comma or quotes stands in quotes"
        ) from None


def _header(names: list[str], path: str) -> tuple[str, ...]:
    columns = tuple(name.strip() for name in names)
    for number, name in enumerate(columns, start=1):
        if not name.isidentifier():
            wanted = "expected a name of letters, digits and `_`"
            remedy = "the first row names the columns (user,password), and the users begin in the second"
            raise InputError(f"{path}: row 1, column {number}: {wanted}", remedy)
        if name in columns[: number - 1]:
            first = columns.index(name) + 1
            raise InputError(f"{path}: row 1, column {number}: it has the name of column {first}")
    return columns


def _check_row(columns: tuple[str, ...], cells: list[str], place: str) -> None:
    """Raise InputError if a row lacks cells, or a cell has a character that a key is for."""
    if len(cells) < len(columns):
        what = f"{place}, column {len(cells) + 1}: it is missing"
        raise InputError(what, f"{len(columns)} cells in every row")
    if len(cells) > len(columns):
        extra = f"{place}, column {len(columns) + 1}: one cell too many"
        raise InputError(extra, f"the first row has {len(columns)}; a cell with a comma stands in quotes")
    for number, cell in enumerate(cells, start=1):
        if any(ord(character) < 32 and character != "\t" for character in cell):
            what = f"{place}, column {number}: a control character in it"
            raise InputError(what, "keys such as Enter go into the tape")
