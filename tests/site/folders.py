"""Folders with runs, a certification, a comparison and a recorded session, for pages."""

import json
from pathlib import Path

from tests.report import made_up
from tests.run_folder import RunFolder, change_run
from tests.test_old_folders import unpacked

HOSTILE = "<script>alert(1)</script>"
CAST = [
    {"version": 2, "width": 40, "height": 4, "title": "user 0 of interactive"},
    [0.2, "o", "\x1b[1;31mred\x1b[m and \x1b[48;2;1;2;3mblue\x1b[m\r\n"],
    [0.5, "m", "session 1"],
    [1.0, "o", f"{HOSTILE}\r\n"],
    [5.0, "o", "at five \N{CJK UNIFIED IDEOGRAPH-6F22}!"],
    [30.0, "o", "\x1b[2J\x1b[Hthe end"],
    [70.0, "o", "\r\nafter a minute"],
]


def write_cast(folder: Path, user: int = 0) -> Path:
    """Put a recorded session into a run folder."""
    file = folder / "agent-0" / f"user-{user}.cast"
    file.write_text("".join(json.dumps(row) + "\n" for row in CAST))
    return folder


def write_summary(folder: Path) -> Path:
    """Derive `summary.json`, as the end of a run does."""
    from cuesta.analysis.summary import summarise  # noqa: PLC0415

    (folder / "summary.json").write_text(json.dumps(summarise(folder).json()))
    return folder


def make_folders(top: Path) -> Path:
    """Some of everything, below one folder."""
    write_summary(write_cast(made_up.good(top / "good")))
    write_summary(made_up.sampled(top / "sampled"))
    write_summary(made_up.search(top / "search"))
    write_summary(made_up.sweep(top / "sweep"))
    write_summary(change_run(RunFolder(top / "same").write(), started="2026-11-22T10:00:00Z"))
    write_summary(change_run(RunFolder(top / "same-again").write(), started="2026-11-22T09:00:00Z"))
    name = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
    hostile = [(f"interactive/{name}/response", [0.1] * 99), (f"interactive/{name}/response_from_sent", [0.1] * 99)]
    write_cast(change_run(RunFolder(top / f"hostile {HOSTILE[:8]}", histograms=hostile).write(), name=HOSTILE))
    unpacked("certification", top)
    return top
