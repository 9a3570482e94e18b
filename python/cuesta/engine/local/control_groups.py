"""The control groups of this process, whose limits may be lower than the machine's: of version 2 and of version 1."""

from collections.abc import Iterator
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")


def list_groups(controller: str, proc: Path = PROC, cgroups: Path = CGROUPS) -> Iterator[Path]:
    """The folders of a controller's groups that this process is in, from its own upwards, as far as visible."""
    try:
        rows = (proc / "self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for _, controllers, path in (row.split(":", 2) for row in rows):
        if controllers and controller not in controllers.split(","):
            continue
        root = cgroups / controllers if controllers else cgroups
        own = root / path.removeprefix("/")
        yield from (group for group in (own, *own.parents) if group.is_relative_to(root) and group.is_dir())


def read_number(file: Path) -> int | None:
    """The number in a file; None if it has another text, such as `max`, or is not there."""
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def read_rows(file: Path) -> dict[str, int]:
    """The rows of a file that each have a name and a number; empty if it is not there."""
    try:
        rows = [row.split() for row in file.read_text(encoding="ascii").splitlines()]
    except OSError:
        return {}
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
