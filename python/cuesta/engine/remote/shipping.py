"""The records of an agent on its way to the engine: pieces of files, in the order in which they were written.

A piece is `{"file": NAME, "at": OFFSET, "bytes": BASE64}`. What is sent at once of a file of rows ends with a row, so
that the copy has whole rows when the node is lost.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cuesta.private_files import make_private, private, replace_private

LONGEST_PIECE = 1 << 18
"""Bytes."""
NAME = re.compile(r"\w[\w-]*(\.\w+)+", re.ASCII)
"""Names of records: none is hidden, a part of another, or elsewhere."""


class Shipping:
    """What is new in a folder since it was last asked. Files of rows grow, files of JSON are replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sent: dict[str, int] = {}
        """How much was sent of files that grow."""
        self._known: dict[str, bytes] = {}
        """Files as they were sent."""

    def new_pieces(self, *, is_complete: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what is new. `is_complete`: nothing more will be recorded, and a last row may be cut."""
        for path in sorted(self._folder.glob("*.*")):
            if NAME.fullmatch(path.name) and path.suffix != ".part":
                pieces = self._replaced(path) if path.suffix == ".json" else self._grown(path, whole=is_complete)
                yield from pieces

    def _replaced(self, path: Path) -> Iterator[dict[str, Any]]:
        content = path.read_bytes()
        if content != self._known.get(path.name):
            self._known[path.name] = content
            yield piece(path.name, 0, content)

    def _grown(self, path: Path, *, whole: bool) -> Iterator[dict[str, Any]]:
        begin = self._sent.get(path.name, 0)
        with path.open("rb") as file:
            file.seek(begin)
            content = file.read()
        end = len(content) if whole else content.rfind(b"\n") + 1
        if path.name not in self._sent:
            yield piece(path.name, 0, b"")
        for at in range(0, end, LONGEST_PIECE):
            yield piece(path.name, begin + at, content[at : min(at + LONGEST_PIECE, end)])
        self._sent[path.name] = begin + end


def piece(name: str, at: int, content: bytes) -> dict[str, Any]:
    return {"file": name, "at": at, "bytes": b64encode(content).decode()}


def write_piece(sent: Mapping[str, Any], folder: Path) -> None:
    """Write a piece into the copy of the folder. Raises ValueError for one that no record has there, and OSError."""
    name, at, content = str(sent["file"]), sent["at"], b64decode(sent["bytes"], validate=True)
    if not NAME.fullmatch(name):
        raise ValueError(f"no name of a record: {name!r}")
    make_private(folder)
    if name.endswith(".json"):
        replace_private(folder / name, content)
        return
    with open(folder / name, "ab", opener=private) as file:
        if at != file.tell():
            raise ValueError(f"{name}: a piece from {at} on, and {file.tell()} bytes are there")
        file.write(content)
