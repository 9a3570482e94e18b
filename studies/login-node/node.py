#!/usr/bin/env python3
"""Starts a login node on loopback for the study: `studies/login-node/node.py sshd -- cuesta run PLAN`.

    node.py sshd|none [--cpus LIST] [-- COMMAND …]

The command gets the node's target in CUESTA_TARGET, so that `cuesta run` types there. The node ends with the command;
without one, with Ctrl+C. It is OpenSSH's server with one unprivileged account, `typist`, which exists only in the mount
namespace of the server. `none` is the same account without ssh. It takes root.

The account has the programs of the study's folder `home/` there. `limited LIMIT COMMAND …` runs a command in one of the
control groups that this script makes, as an administrator's `systemctl set-property user-1000.slice CPUQuota=20%` has
all of a user's sessions run in one: `quota`, `weight`, `idle` and `memory`, see `LIMITS`.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from studies.serving import ACCOUNT, Server, fail, main, own_home
from studies.sshd import serve_openssh, target_over_ssh

PROGRAMS = Path(__file__).resolve().parent / "home"
MOUNTS = Path("/sys/fs/cgroup")
OWN = "cuesta-login-node"
"""The name of our groups, before the number of this process."""
PROCESSES = "cgroup.procs"
PLACER = """\
mkfifo -m 622 {fifo}
while :; do
    while read -r pid limit answer; do
        group=$(grep "^$limit " {table}) && echo "$pid" >"${{group#* }}/cgroup.procs" && said=placed || said="not here"
        echo "$said" >"$answer"
    done <{fifo}
done &
exec "$@"
"""
"""Root's part of `limited`: puts processes of the account into the groups that they ask for, and says so.

Version 2 lets an account move no process into a group of another's. The table has rows `LIMIT FOLDER`.
"""


@dataclass(frozen=True)
class Limit:
    """A control group with a limit."""

    controller: str
    version_2: Mapping[str, str]
    version_1: Mapping[str, str]
    """The same where the controller is mounted by itself, as far as it can be had."""


LIMITS = {
    "quota": Limit("cpu", {"cpu.max": "20000 100000"}, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"}),
    "short-quota": Limit("cpu", {"cpu.max": "2000 10000"}, {"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "2000"}),
    "weight": Limit("cpu", {"cpu.weight": "1"}, {"cpu.shares": "10"}),
    "idle": Limit("cpu", {"cpu.idle": "1"}, {"cpu.idle": "1"}),
    "memory": Limit("memory", {"memory.high": "128M"}, {"memory.limit_in_bytes": "128M"}),
}
"""A fifth of a CPU in each 100 ms (systemd's CPUQuota=20%), and in each 10 ms; the smallest weight, 1 where others have
100; only what others leave; 128 MB. Version 1 has no `memory.high`, which slows a group down: its limit is one at which
the kernel ends a process."""


@contextmanager
def limits_made() -> Iterator[Mapping[str, Path]]:
    """Make a control group for each limit that can be had here; remove them when their processes have ended."""
    groups = dict[str, Path]()
    try:
        for name, limit in LIMITS.items():
            with suppress(OSError):
                groups[name] = make_group(name, limit)
        yield groups
    finally:
        for name, limit in LIMITS.items():
            with suppress(OSError):
                place_group(name, limit).rmdir()


def place_group(name: str, limit: Limit) -> Path:
    own = MOUNTS / limit.controller
    return (own if (own / PROCESSES).exists() else MOUNTS) / f"{OWN}-{os.getpid()}-{name}"


def make_group(name: str, limit: Limit) -> Path:
    """Make a limit's group, by version 1 if its controller is mounted by itself."""
    group = place_group(name, limit)
    is_version_2 = group.parent == MOUNTS
    if is_version_2:
        (MOUNTS / "cgroup.subtree_control").write_text(f"+{limit.controller}")
    group.mkdir()
    for file, value in (limit.version_2 if is_version_2 else limit.version_1).items():
        (group / file).write_text(value)
    return group


def serve_node(groups: Mapping[str, Path], folder: Path, port: int) -> list[str]:
    """OpenSSH's server, beside a process of root that places those who ask for it into control groups."""
    server = serve_openssh(folder, port)
    home = folder / "homes" / ACCOUNT
    shutil.copytree(PROGRAMS, home, dirs_exist_ok=True)
    own_home(home)
    for file in PROGRAMS.iterdir():
        (home / file.name).chmod(0o700)
    (folder / "limits").write_text("".join(f"{name} {group}\n" for name, group in groups.items()))
    return ["sh", "-c", PLACER.format(fifo="/srv/limits", table=folder / "limits"), "sh", *server]


def make_server(groups: Mapping[str, Path]) -> Server:
    return Server(partial(serve_node, groups), target_over_ssh, "Accepted publickey for")


def start(groups: Mapping[str, Path]) -> int:
    if missing := [name for name in LIMITS if name not in groups]:
        print(f"not possible here: {', '.join(missing)}", flush=True)
    return main({"sshd": make_server(groups)}, __doc__)


if __name__ == "__main__":
    if os.geteuid() != 0:
        fail("run it as root: the node needs an account and control groups of its own")
    with limits_made() as made:
        code = start(made)
    sys.exit(code)
