"""Programs that log which frame shows which key, beside what Cuesta says of each key.

They draw in batches, so that several keys share a frame. A frame is the program's own: where the frames before and
after it are far enough away that no reader takes two of them for one, the log decides.
"""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.enough import LIMIT, ended_after
from tests.logged_keys import LoggedKey, read_keys
from tests.test_frames import in_curses, ratatui
from tests.test_real_programs import bubbletea, ink, textual

ROWS = 2
BATCH = 0.12
"""Seconds between two frames."""
APART = 0.06
"""Seconds: of frames nearer to each other the log does not decide: a reader that waits for a CPU takes two for one."""
PLAN = (
    f"""
name = "logged"
tape = "rows.tape"
users = 1
settle = "0s"
measure = "{LIMIT}"
log_keys = true
"""
    + BUSY
)
RUN = ("run", "plan.toml", "--out", "out", "--quiet", "--json", "-")
# The keys of the first row share frames, those of the second have one each.
TYPING = """
Set Echo screen
Wait+Screen@30s /answer 0/
Sleep 500ms
Set TypingSpeed 30ms
Transaction "fast"
  Type "several of these share a frame"
  Sleep 500ms
  Enter
  Wait+Screen /answer 1/
End
Sleep 500ms
Set TypingSpeed 200ms
Transaction "slow"
  Type "one by one"
  Sleep 500ms
  Enter
  Wait+Screen /answer 2/
End
Sleep 300s
"""


@dataclass
class OwnFrame:
    """A frame as the program logs it."""

    since: int
    keys: int
    """How many keys it shows first."""
    bytes: int | None
    is_apart: bool = False
    """The log decides about it."""


@pytest.mark.parametrize(
    "program",
    [in_curses, textual, *(pytest.param(built, marks=pytest.mark.nightly) for built in (bubbletea, ink, ratatui))],
)
def test_each_key_has_the_frame_that_the_program_logs(
    program: Callable[[Path], list[str]], here: Path, write: Write, cuesta: Cuesta
) -> None:
    write("rows.tape", TYPING)
    write("plan.toml", PLAN)
    with ended_after(ROWS):
        target = f"pty:{shlex.join([*program(here), str(here / 'log'), str(BATCH)])}"
        summary = cuesta(*RUN, "--target", target).ends(Exit.INTERRUPTED).json
    assert (summary["errors"]["by_name"], summary["unfollowed"]) == ({}, 0)
    [keys] = read_keys(here / "out")
    frames = read_frames(here / "log")
    shown_by = [frame for frame in frames for _ in range(frame.keys)]
    assert len(keys) == len(shown_by) == summary["whole_frame"]["count"]
    decided = [(key, frame) for key, frame in zip(keys, shown_by, strict=True) if frame.is_apart]
    wrong = [(key, frame) for key, frame in decided if not is_of(key, frame, frames)]
    print(f"{program.__name__}: {len(keys)} keys, the log decides about {len(decided)}, {len(wrong)} wrong")
    assert wrong == []
    assert len(decided) > len(keys) * 0.8
    shared = sum(frame.keys for frame in frames if frame.keys > 1)
    assert shared > len(keys) / 3
    if len(decided) == len(keys):
        assert summary["frames"]["shared_keys"] == shared


def is_of(key: LoggedKey, frame: OwnFrame, frames: list[OwnFrame]) -> bool:
    """Whether Cuesta says that this frame shows the key."""
    behind = [other.since for other in frames if other.since > frame.since]
    is_then = frame.since <= key.shown <= key.whole and all(key.whole < since for since in behind)
    return is_then and key.frame_keys == frame.keys and frame.bytes in {None, key.frame_bytes}


def read_frames(log: Path) -> list[OwnFrame]:
    """The frames of a program's log."""
    rows = [json.loads(row) for row in log.read_text().splitlines()]
    before = [0, *(row["typed"] for row in rows[:-1])]
    frames = [
        OwnFrame(row["since"], row["typed"] - shown, row.get("bytes")) for row, shown in zip(rows, before, strict=True)
    ]
    for index, frame in enumerate(frames):
        near = frames[max(index - 1, 0) : index] + frames[index + 1 : index + 2]
        frame.is_apart = all(abs(other.since - frame.since) > APART * 1e9 for other in near)
    return frames
