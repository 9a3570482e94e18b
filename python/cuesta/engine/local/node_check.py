"""Compares what a node must have (`node_needs`) with the machine on which this process runs. It loads no plan."""

import os
import resource
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from cuesta import _native
from cuesta.engine.local.control_groups import list_groups, read_number
from cuesta.engine.local.free_memory import check_memory
from cuesta.engine.local.free_ports import check_ports
from cuesta.engine.local.target_check import find_target_lacks, resolve
from cuesta.engine.node_needs import Lack, NodeNeeds, TargetNeeds
from cuesta.errors import CuestaError
from cuesta.target import BUILTIN_HOST

PTYS = Path("/proc/sys/kernel/pty")
"""The kernel's numbers of pseudo-terminals: `max`, and `nr` in use."""


def find_lacks(needs: NodeNeeds, here: Path = Path()) -> list[Lack]:
    """Find everything that this machine lacks. Programs start in `here`, as they will in the run.

    It raises this process's limit of descriptors if that is allowed, and opens a line to each target, with a login
    where there is one. Relative names of files count from this process's folder.
    """
    checks: list[Callable[[], None]] = [
        partial(raise_files, needs.descriptors, needs.wanted_descriptors),
        partial(check_ptys, needs.terminals),
        partial(check_processes, needs.programs),
        partial(check_memory, needs.memory, needs.users),
        *(partial(unlock, file, passphrase) for file, passphrase in needs.passphrases.items()),
        *(partial(check_ports, *crowd) for crowd in count_lines(needs.targets)),
    ]
    lacks = [lack for check in checks for lack in carry_out(check)]
    return [
        *lacks,
        *(lack for each in needs.targets for lack in find_target_lacks(each, here)),
    ]


def carry_out(check: Callable[[], None]) -> Iterator[Lack]:
    """Make a check that raises CuestaError, and yield what it raised."""
    try:
        check()
    except CuestaError as error:
        yield Lack(str(error), error.remedy)


def check_ptys(needed: int) -> None:
    """Raise CuestaError if too few pseudo-terminals are free. If /proc does not tell, the run itself will fail."""
    try:
        most, used = (int((PTYS / name).read_text()) for name in ("max", "nr"))
    except (OSError, ValueError):
        return
    if needed > most - used:
        raise CuestaError(
            f"this run needs {needed} pseudo-terminals, and {max(most - used, 0)} of {most} are free (kernel.pty.max)",
            f"raise it as root with `sysctl kernel.pty.max={used + needed}`",
        )


def check_processes(needed: int) -> None:
    """Raise CuestaError if this user may not start `needed` programs. The limit `ulimit -u` does not apply to root."""
    for group in list_groups("pids"):
        most, used = read_number(group / "pids.max"), read_number(group / "pids.current")
        if most is not None and used is not None and needed > most - used:
            raise CuestaError(
                f"this run starts {needed} programs, and its control group may have {most - used} more (pids.max)",
                "raise it where the group is made: --pids-limit of a container, TasksMax= of a service",
            )
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if os.geteuid() == 0 or limit == resource.RLIM_INFINITY:
        return
    if needed > limit:
        raise CuestaError(
            f"this run starts {needed} programs, and the limit of processes (ulimit -u) is {limit}",
            f"raise it with `ulimit -u {needed * 2}`, or with `nproc` in /etc/security/limits.conf",
        )


def raise_files(needed: int, wanted: int = 0) -> None:
    """Raise the soft limit of descriptors to `needed`, and to `wanted` as far as the hard limit lets it.

    Raises CuestaError if the hard limit is lower than `needed`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= max(needed, wanted):
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise CuestaError(
            f"this run needs {needed} file descriptors in one process, and the limit (ulimit -n) is {hard}",
            f"raise it as root with `ulimit -Hn {needed}`, or with `nofile` in /etc/security/limits.conf",
        )
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(needed, allowed, soft), hard))


def unlock(file: str, passphrase: str) -> None:
    """Unlock a key file for logins of this process. Raises CuestaError if it cannot be read, or stays locked."""
    remedy = "copy it to this machine, or load the key into an agent: ssh-add"
    try:
        is_right = _native.ssh_unlock(file, passphrase)
    except _native.RunError as error:
        raise CuestaError(str(error), remedy) from None
    if not is_right:
        raise CuestaError(f"{file}: the passphrase that was given does not open it", remedy)


def count_lines(targets: Sequence[TargetNeeds]) -> Iterator[tuple[int, str, frozenset[tuple[str, int]]]]:
    """How many lines are opened to an address, which target is there, and the addresses if its name has several."""
    lines: dict[frozenset[tuple[str, int]], list[TargetNeeds]] = defaultdict(list)
    for each in targets:
        with suppress(CuestaError):  # `find_target_lacks` finds it again
            if addresses := resolve(each.target, each.user):
                lines[addresses].append(each)
        if each.target == BUILTIN_HOST:
            lines[frozenset()].append(each)
    for addresses, sharing in lines.items():
        names = [each.target if each.target != BUILTIN_HOST else "the built-in host" for each in sharing]
        yield sum(each.lines for each in sharing), ", ".join(names), addresses
