"""Frames of real programs that show keys: what Cuesta says of them, beside what another terminal emulator sees.

`tests.hosts.passes_on` logs each write, and cuts what the program says into pieces, or holds keys back now and then so
that a frame shows several. `tests.shown_frames` judges the log. `scripts/setup --nightly` installs the programs.
"""

import math
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.enough import LIMIT, ended_after, measured_rows
from tests.hosts.lines import host
from tests.logged_keys import LoggedKey, read_keys
from tests.shown_frames import UNDECIDED, Frame, judge_frames
from tests.test_real_programs import PROGRAMS, bubbletea, emacs, fish, ink, textual, vim
from tests.typed_rows import Ends, at_caret, at_cursor

USERS = 2
ROWS = 2
MARGIN = 0.06
"""Seconds after the last write of a frame within which Cuesta has read most: a busy machine delays it."""
GRAIN = 0.002
"""A histogram's value may differ by this share from what was put in."""
PLAN = (
    f"""
name = "frames"
tape = "rows.tape"
users = {USERS}
settle = "0s"
measure = "{LIMIT}"
log_keys = true
"""
    + BUSY
)
RUN = ("run", "plan.toml", "--out", "out", "--quiet", "--json", "-")
# Each user types some rows, and then nothing: all that is counted is in the log.
TYPING = """
Set TypingSpeed 80ms
Set Echo screen
Wait+Screen@30s /{begun}/
Sleep 500ms
"""
ROW = """
Transaction "row"
  Type "{text}"
  {end}
End
Sleep 300ms
{after}
"""
IN_A_FIELD = TYPING.format(begun="answer 0") + "".join(
    ROW.format(text="plain words of a row", end=f"Sleep 900ms\n  Enter\n  Wait+Screen /answer {row}/", after="")
    for row in range(1, ROWS + 1)
)
IN_AN_EDITOR = "".join(
    ROW.format(text=f"plain words of row {row}", end=f"Wait+Screen /row {row}/", after="Enter") for row in range(ROWS)
)
AT_A_SHELL = TYPING.format(begun=r"\$ $") + "".join(
    ROW.format(text=f"echo plain words of row {row}", end="Sleep 900ms\n  Enter\n  Wait+Screen /\\$ $/", after="")
    for row in range(ROWS)
)


def in_curses(folder: Path) -> list[str]:
    return [sys.executable, str(PROGRAMS / "field_curses.py")]


def ratatui(folder: Path) -> list[str]:
    made = PROGRAMS.parents[1] / "target" / "ratatui"  # built once for all tests
    command = ["cargo", "build", "--quiet", "--locked", "--target-dir", str(made)]
    subprocess.run(command, cwd=PROGRAMS / "ratatui", check=True)
    return [str(made / "debug" / "field")]


COALESCED = ("--hold-every", "7", "--hold-for", "0.4")
IN_PIECES = ("--pieces", "3")


@dataclass(frozen=True)
class Program:
    """How a program is started, what is typed at it, what the judge looks at, and what the relay does."""

    command: Callable[[Path], list[str]]
    typed: str
    ends: Ends
    relays: tuple[tuple[str, ...], ...] = (COALESCED, IN_PIECES)
    marks_frames: bool = False


QUICK = {
    "curses": Program(in_curses, IN_A_FIELD, at_cursor, (COALESCED,)),
    "textual": Program(textual, IN_A_FIELD, at_caret, (COALESCED,), marks_frames=True),
}
NIGHTLY = {
    "curses": Program(in_curses, IN_A_FIELD, at_cursor, (IN_PIECES,)),
    "textual": Program(textual, IN_A_FIELD, at_caret, (IN_PIECES,), marks_frames=True),
    "vim": Program(vim, TYPING.format(begun="INSERT") + IN_AN_EDITOR, at_cursor),
    "emacs": Program(emacs, TYPING.format(begun="All") + IN_AN_EDITOR, at_cursor),
    "fish": Program(fish, AT_A_SHELL, at_cursor),
    # It takes what comes at once for one key, and may lose one of two.
    "ink": Program(ink, IN_A_FIELD.replace("80ms", "200ms"), at_caret, (IN_PIECES,), marks_frames=True),
    "bubbletea": Program(bubbletea, IN_A_FIELD, at_caret),
    "ratatui": Program(ratatui, IN_A_FIELD, at_cursor),
}


def cases(programs: dict[str, Program], *marks: pytest.MarkDecorator) -> list[ParameterSet]:
    """Each program with what the relay does to it."""
    words = {COALESCED: "coalesced", IN_PIECES: "in pieces"}
    return [
        pytest.param(program, relay, id=f"{name}, {words[relay]}", marks=marks)
        for name, program in programs.items()
        for relay in program.relays
    ]


@pytest.mark.parametrize(("program", "relay"), [*cases(QUICK), *cases(NIGHTLY, pytest.mark.nightly)])
def test_frames_are_those_of_another_emulator(
    program: Program, relay: tuple[str, ...], here: Path, write: Write, cuesta: Cuesta
) -> None:
    write("rows.tape", program.typed + "\nSleep 300s\n")
    write("plan.toml", PLAN)
    command = [*host("passes_on", here / "log"), *relay, "--", *program.command(here)]
    with ended_after(USERS * ROWS):
        summary = cuesta(*RUN, "--target", f"pty:{shlex.join(command)}").ends(Exit.INTERRUPTED).json
    assert summary["invalid_because"] == []
    assert summary["unfollowed"] == 0, "a key that is shown has a frame"
    split, joined = (judge_frames(here / "log", program.ends, pause) for pause in UNDECIDED)
    counted = count_frames(here / "out")
    assert counted["keys"] == split.keys == joined.keys == summary["whole_frame"]["count"]
    assert len(joined.frames) <= counted["count"] <= len(split.frames)
    assert split.shared <= counted["shared"] == summary["frames"]["shared_keys"] <= joined.shared
    assert split.bytes <= counted["bytes"] <= joined.bytes
    if relay == COALESCED:
        assert counted["shared"] >= USERS * ROWS
    if program.marks_frames:
        assert all(frame.is_marked for frame in split.frames)
    keys = list(pair_keys(read_keys(here / "out"), split.users, joined.users))
    decided = [(key, least, most) for key, least, most in keys if least.keys == most.keys]
    wrong = [pair for pair in decided if not is_between(*pair)]
    print(f"{len(keys)} keys, the log decides about {len(decided)}, {len(wrong)} wrong")
    assert wrong == []
    assert statistics.median(key.whole - most.last for key, _, most in keys) < MARGIN * 1e9
    agrees(summary["whole_frame"], [(key.whole - key.due) / 1e9 for key, _, _ in keys])


def count_frames(out: Path) -> dict[str, int]:
    """Add up the counters of frames of a run."""
    rows = [row["frames"] for row in measured_rows(out) if row.get("frames")]
    return {name: sum(row[name] for row in rows) for name in rows[0]}


def pair_keys(
    keys: list[list[LoggedKey]], split: list[list[Frame]], joined: list[list[Frame]]
) -> Iterator[tuple[LoggedKey, Frame, Frame]]:
    """Each key with the frame that shows it, by both judgements.

    Which log is whose is known by when keys came, of all users together: two may type at nearly the same instants.
    """
    orders = permutations(zip(split, joined, strict=True))
    nearest = min(
        orders, key=lambda order: sum(differ(own, frames) for own, (frames, _) in zip(keys, order, strict=True))
    )
    for own, judged in zip(keys, nearest, strict=True):
        yield from zip(own, *(each_key(frames) for frames in judged), strict=True)


def each_key(frames: list[Frame]) -> list[Frame]:
    """The frame of each key."""
    return [frame for frame in frames for _ in frame.keys]


def differ(keys: list[LoggedKey], frames: list[Frame]) -> int:
    """How far instants at which keys were sent and came are apart, as the sum of squares: least at the right logs,
    where all keys take about as long to come.
    """
    came = [at for frame in frames for at in frame.keys]
    return sum((at - key.sent) ** 2 for key, at in zip(keys, came, strict=False))


def is_between(key: LoggedKey, least: Frame, most: Frame) -> bool:
    """Whether the frame that Cuesta says shows a key is the one that both judgements say.

    It may have been read much later than it was written: single keys have no upper bound.
    """
    return most.begun <= key.shown <= key.whole and key.frame_keys == len(least.keys)


def agrees(told: dict[str, Any], times: list[float]) -> None:
    """Assert that a figure is that of the times of single keys."""
    times.sort()
    for name, share in {"min": 0.0, "p50": 0.5, "p90": 0.9, "p95": 0.95, "max": 1.0}.items():
        assert told[name] == pytest.approx(times[max(math.ceil(len(times) * share) - 1, 0)], rel=GRAIN), name
