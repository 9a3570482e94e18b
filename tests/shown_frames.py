"""Judges by another terminal emulator which frame shows which key, when it ends, and how many bytes it takes.

It reads what `tests.hosts.passes_on` has logged. A frame ends at its mark (mode 2026), else before a pause of 2 ms.
Where a pause is only some ms long, the log does not decide, because a reader that waits for a CPU may see a longer or a
shorter one. So a log is judged twice: with a frame for each write, and with frames that end by a longer pause. What a
reader sees lies between, and is certain where both agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hosts.log import Log
from tests.typed_rows import Ends, Typist

END_MARK = b"\x1b[?2026l"
UNDECIDED = (0.0, 0.03)
"""Seconds: a longer pause ends a frame for every reader."""


@dataclass
class Frame:
    """A frame of a user; instants are in ns."""

    begun: int
    last: int
    """When its last write began."""
    bytes: int = 0
    is_marked: bool = False
    keys: list[int] = field(default_factory=list)
    """When the keys came that it shows."""


@dataclass(frozen=True)
class Judged:
    """The frames that show keys."""

    users: list[list[Frame]]

    @property
    def frames(self) -> list[Frame]:
        return [frame for user in self.users for frame in user]

    @property
    def keys(self) -> int:
        return sum(len(frame.keys) for frame in self.frames)

    @property
    def shared(self) -> int:
        return sum(len(frame.keys) for frame in self.frames if len(frame.keys) > 1)

    @property
    def bytes(self) -> int:
        return sum(frame.bytes for frame in self.frames)


def judge_frames(log: Path, ends: Ends, pause: float) -> Judged:
    """The frames that show keys, of all users of a log; a longer pause than this ends a frame without a mark."""
    users = Log.read(log).by_connection("read", "wrote")
    return Judged([[frame for frame in draw_frames(rows, Typist(ends, None), pause) if frame.keys] for rows in users])


def draw_frames(rows: list[dict[str, Any]], typist: Typist, pause: float) -> Iterator[Frame]:
    """The frames of one user, in order."""
    last = None
    for piece in split_at_marks(rows):
        waiting, was_in_frame = typist.waiting, typist.screen.in_frame
        typist.sees(piece)
        if piece["did"] != "wrote":
            continue
        shown = waiting[: len(waiting) - len(typist.waiting)]
        data = piece["bytes"].encode("latin-1")
        is_marked = data.endswith(END_MARK) or (was_in_frame and not typist.screen.in_frame)
        begins_marked = is_marked or typist.screen.in_frame
        if last is None or not (was_in_frame or continues(last, piece["since"], shown, begins_marked, pause)):
            if last:
                yield last
            last = Frame(piece["since"], piece["since"])
        last.bytes += len(data)
        last.keys += shown
        if not last.is_marked:
            last.last, last.is_marked = piece["since"], is_marked
    if last:
        yield last


def continues(frame: Frame, at: int, shown: list[int], is_marked: bool, pause: float) -> bool:
    """Whether what is written at an instant belongs to the last frame."""
    if (at - frame.last) / 1e9 > pause:
        return False
    # A key that comes just before the write may have come to the program after it was drawn.
    if pause < max(UNDECIDED) and any(key > frame.last for key in shown):
        return False
    return not (frame.is_marked and (is_marked or shown))


def split_at_marks(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a log, with writes ended behind each mark of a frame's end."""
    for row in rows:
        rest = row["bytes"]
        mark = END_MARK.decode()
        while row["did"] == "wrote" and mark in rest[:-1] and (end := rest.index(mark) + len(mark)) < len(rest):
            yield row | {"bytes": rest[:end]}
            rest = rest[end:]
        yield row | {"bytes": rest}
