"""Reads users from a CSV file: a header row, then a row for each user. No cell is ever shown or recorded."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cuesta.engine.tapes import shown
from cuesta.errors import InputError
from cuesta.plan import SECRET

LONGEST = 64 << 20
"""Bytes; a million users fit."""


@dataclass(frozen=True, slots=True)
class Users:
    """A table of users: what each types for `${column}` of the tape."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...] = field(repr=False)

    @property
    def secret(self) -> list[str]:
        return [name for name in self.columns if SECRET.search(name)]

    @property
    def shown(self) -> str:
        """The columns, secret ones marked, and the number of users."""
        marked = (f"{name} (secret)" if name in self.secret else name for name in self.columns)
        return f"{len(self.rows)} users with {', '.join(marked)}"


def read_users(where: str) -> Users:
    """Read the file. Raises InputError with the row and column of an error."""
    path = Path(where)
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1)
        if len(text) > LONGEST:
            raise InputError(f"{shown(path)}: over {LONGEST >> 20} MiB: too large for a table of users")
        table = io.StringIO(text.decode("utf-8-sig"), newline="")
        numbered = list(_numbered(csv.reader(table, strict=True), shown(path)))
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot read the users: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{shown(path)}: it is not UTF-8 (at byte {error.start})", "save the file as UTF-8") from None
    if len(numbered) < 2:
        raise InputError(f"{shown(path)}: no users in it", "write a header row (user,password), then a row for each")
    columns = _header(numbered[0][1], shown(path))
    rows = tuple(_row(columns, cells, f"{shown(path)}: row {number}") for number, cells in numbered[1:])
    return Users(columns, rows)


def _numbered(reader: Iterator[list[str]], path: str) -> Iterator[tuple[int, list[str]]]:
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
            raise InputError(
                f"{path}: row 1, column {number}: {wanted}, got {name!r}", "the first row names the columns"
            )
        if name in columns[: number - 1]:
            raise InputError(f"{path}: row 1, column {number}: there are two columns `{name}`")
    return columns


def _row(columns: tuple[str, ...], cells: list[str], place: str) -> dict[str, str]:
    if len(cells) < len(columns):
        raise InputError(
            f"{place}, column `{columns[len(cells)]}`: it is missing", f"{len(columns)} cells in every row"
        )
    if len(cells) > len(columns):
        extra = f"{place}, column {len(columns) + 1}: one cell too many"
        raise InputError(extra, f"the header has {len(columns)}; a cell with a comma stands in quotes")
    for name, cell in zip(columns, cells, strict=True):
        if any(ord(character) < 32 and character != "\t" for character in cell):
            raise InputError(
                f"{place}, column `{name}`: a control character in it", "keys such as Enter go into the tape"
            )
    return dict(zip(columns, cells, strict=True))
