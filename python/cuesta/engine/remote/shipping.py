"""The records of an agent on its way to the engine: pieces of files, in the order in which they were written.

A piece is `{"file": NAME, "at": OFFSET, "bytes": BASE64}`. Pieces of a file of rows end with a row, so that the copy
has whole rows whenever the node is lost. A file that was replaced begins anew.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cuesta.private_files import make_private, replace_private

LONGEST_PIECE = 1 << 18
"""Bytes."""
NAME = re.compile(r"\w[\w-]*(\.\w+)+", re.ASCII)
"""Names of records: none is hidden, a part of another, or elsewhere."""


class Shipping:
    """What is new in a folder since it was last asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sent: dict[str, tuple[int, int]] = {}
        """By name: the inode of the file, and how much of it was sent."""

    def new_pieces(self, *, is_complete: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what was recorded since the last call; `is_complete`: nothing more will be, a last row may be cut."""
        for path in sorted(self._folder.glob("*.*")):
            if NAME.fullmatch(path.name) and not path.name.endswith(".part"):
                yield from self._pieces_of(path, whole=is_complete or path.suffix == ".json")

    def _pieces_of(self, path: Path, *, whole: bool) -> Iterator[dict[str, Any]]:
        with path.open("rb") as file:
            inode = path.stat().st_ino
            known, at = self._sent.get(path.name, (inode, 0))
            at = at if known == inode else 0
            file.seek(at)
            while piece := file.read(LONGEST_PIECE):
                if not whole:
                    piece = piece[: piece.rfind(b"\n") + 1]
                    file.seek(at + len(piece))
                if not piece:
                    break
                yield {"file": path.name, "at": at, "bytes": b64encode(piece).decode()}
                at += len(piece)
                self._sent[path.name] = (inode, at)


def keep_piece(piece: Mapping[str, Any], folder: Path) -> None:
    """Write a piece into the copy of the folder. Raises ValueError for a name that no record has, and OSError."""
    name, content = str(piece["file"]), b64decode(piece["bytes"])
    if not NAME.fullmatch(name):
        raise ValueError(f"no name of a record: {name!r}")
    if piece["at"]:
        with (folder / name).open("r+b") as file:
            file.seek(piece["at"])
            file.write(content)
    else:
        make_private(folder)
        replace_private(folder / name, content)
