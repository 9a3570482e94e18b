"""Finds in /proc the process that listens at a port of this machine."""

from pathlib import Path

LISTEN = "0A"
"""The state of a socket that listens, in `/proc/net/tcp`."""


def listener(port: int, proc: Path = Path("/proc")) -> int | None:
    """The process that listens at a port; the topmost one if workers share it; None if this user may not see it."""
    inodes = set(listening(port, proc))
    links = {f"socket:[{inode}]" for inode in inodes}
    pids = [int(path.name) for path in proc.glob("[0-9]*") if links and holds(path, links)]
    tops = [pid for pid in pids if parent(pid, proc) not in pids]
    return tops[0] if len(tops) == 1 else None


def listening(port: int, proc: Path) -> list[str]:
    """The inodes of sockets that listen at a port."""
    inodes = list[str]()
    for table in ("net/tcp", "net/tcp6"):
        try:
            rows = (proc / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        rows_of_port = (row for row in map(str.split, rows) if int(row[1].rpartition(":")[2], 16) == port)
        inodes += [row[9] for row in rows_of_port if row[3] == LISTEN]
    return inodes


def holds(process: Path, links: set[str]) -> bool:
    try:
        return any(str(fd.readlink()) in links for fd in (process / "fd").iterdir())
    except OSError:
        return False


def parent(pid: int, proc: Path) -> int:
    """The parent of a process; 0 if the process has ended."""
    try:
        return int((proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0
