"""What a run that was killed may have left at web terminals; the next run in the same folder says it."""

import time
from collections.abc import Iterator
from pathlib import Path

from cuesta.ledger.rows import read_object
from cuesta.line_kinds import row_of, without_settings

STILL = 5.0
"""Seconds without a new row after which a run counts as cut off: its agents write one each second."""


def warn_of_leftovers(folder: Path) -> Iterator[str]:
    """One sentence for each target of the last run in the same place as `folder`, if that run was cut off."""
    last = _last_run_beside(folder)
    if not last or not _was_cut_off(last):
        return
    for target in read_object(last / "run.json", []).get("host", {}).get("targets", []):
        if left := row_of(target)["left_behind"]:
            yield f"{last} was cut off, and may have left something at {without_settings(target)}: {left}"


def _last_run_beside(folder: Path) -> Path | None:
    runs = folder.parent.glob("*/run.json")
    others = ((file.stat().st_mtime, file.parent) for file in runs if file.parent != folder)
    return max(others, default=(0.0, None))[1]


def _was_cut_off(run: Path) -> bool:
    """Whether an agent neither wrote how it ended nor is writing."""
    agents = [path for path in run.glob("**/agent-*") if path.is_dir() and not (path / "agent.json").exists()]
    written = [file.stat().st_mtime for agent in agents for file in agent.iterdir()]
    return bool(agents) and max(written, default=0.0) < time.time() - STILL
