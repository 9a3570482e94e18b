"""Checks, before a run starts or writes anything, that this machine and the target have what it needs."""

import os
import re
import resource
import shlex
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from cuesta import _native
from cuesta.engine.job import Job, most_users, most_users_at, most_users_of_an_agent
from cuesta.engine.local.network import isolation
from cuesta.errors import CuestaError, UsageError
from cuesta.line_kinds import OWN_PROGRAMS, port_of, row_of, settings_of
from cuesta.target import BUILTIN_HOST, kind_of

OWN_FILES = 64
"""Descriptors that a process needs besides its lines: records, timers, libraries."""
PATIENCE = 5.0
"""Seconds within which a target must accept a line."""
PTYS = Path("/proc/sys/kernel/pty")
"""The kernel's numbers of pseudo-terminals: `max`, and `nr` in use."""
BEFORE_A_PROGRAM = re.compile(r"exec|env|\w+=.*", re.DOTALL)
"""Words of a command that may precede the program's name."""


def check(job: Job) -> None:
    """Raise CuestaError if the run would fail."""
    if job.plan.settings.isolate:
        isolation.check(job)
    raise_files(count_files(job))
    check_ptys(most_users_at(job, "pty"))
    check_processes(most_users_at(job, *OWN_PROGRAMS))
    groups = {group.target: group for step in job.plan.steps for group in step.settings.group}
    for target, group in groups.items():
        users = job.users_of(group).first(most_users_at(job, kind_of(target)))
        if target != BUILTIN_HOST:
            probe(target, next(iter(users), {}), job.plan.here)


def count_files(job: Job) -> int:
    """The descriptors that the process with most lines needs, which is an agent or the built-in host."""
    lines = max(most_users(segment) for segment in job.plan.segments())
    groups = [(step, group) for step in job.plan.steps for group in step.settings.group]
    hosted = [step for step, group in groups if group.target == BUILTIN_HOST]
    if not hosted:
        each = max(row_of(group.target)["descriptors"] for _, group in groups)
        return most_users_of_an_agent(job) * each + OWN_FILES
    programs = any(job.service(step).name in ("shell", "socket") for step in hosted)
    return lines * (3 if programs else 1) + OWN_FILES


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
    """Raise CuestaError if this user may not start `needed` programs. The limit does not apply to root."""
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if os.geteuid() == 0 or limit == resource.RLIM_INFINITY:
        return
    if needed > limit:
        raise CuestaError(
            f"this run starts {needed} programs, and the limit of processes (ulimit -u) is {limit}",
            f"raise it with `ulimit -u {needed * 2}`, or with `nproc` in /etc/security/limits.conf",
        )


def raise_files(needed: int) -> None:
    """Raise the soft limit of descriptors to `needed`. Raises CuestaError if the hard limit is lower."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise CuestaError(
            f"this run needs {needed} file descriptors in one process, and the limit (ulimit -n) is {hard}",
            f"raise it as root with `ulimit -Hn {needed}`, or with `nofile` in /etc/security/limits.conf",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def probe(target: str, user: Mapping[str, str], here: Path = Path()) -> None:
    """Raise CuestaError if the target cannot be reached. A line that needs a login is opened as `user`.

    A one-time code or a 3270's logical unit is not spent on it: the first user needs them.
    """
    kind, settings = row_of(target), settings_of(target)
    if kind["name"] == "ssh" and ("code" in settings or user.get("code") or user.get("totp")):
        return
    names_unit = kind["terminal"] == "block" and ("lu" in settings or user.get("lu"))
    if kind["only_connects"] or names_unit:
        connect(target)
    elif kind["starts_program"]:
        find_program(target, here)
    else:
        try:
            _native.probe(target, dict(user))
        except _native.RunError as error:
            raise CuestaError(f"{target}: {error}") from None


def find_program(target: str, here: Path = Path()) -> None:
    """Raise CuestaError if a command's program does not exist. Commands that only a shell can read are not checked."""
    try:
        words = shlex.split(target.partition(":")[2])
    except ValueError:
        return
    word = next((word for word in words if not BEFORE_A_PROGRAM.fullmatch(word)), "")
    if not re.fullmatch(r"[\w./+][\w./+-]*", word):  # an option of `env` or `exec`, or something only the shell reads
        return
    command = ["/bin/sh", "-c", 'command -v "$0"', word]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False, cwd=here).returncode:
        remedy = f"install `{word}` on this machine, or type at another host: --target URL"
        raise CuestaError(f"{kind_of(target)}: there is no program `{word}` here", remedy)


def connect(target: str) -> None:
    """Open one line to a network address and close it."""
    try:
        socket.create_connection((urlsplit(target).hostname, port_of(target)), PATIENCE).close()
    except OSError as error:
        why = "no answer within 5 s" if isinstance(error, TimeoutError) else (error.strerror or str(error)).lower()
        remedy = "check its address and that it is running, or leave --target out for the built-in host"
        raise CuestaError(f"{target}: cannot be reached: {why}", remedy) from None


def divide_cpus(threads: int, host_threads: int) -> tuple[list[int], list[int]]:
    """Divide the CPUs between the driver and the built-in host, which gets the last ones."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        what = "--pin and --isolate need two CPUs, and this process may use one"
        raise UsageError(what, "leave them out")
    for_host = cpus[-max(1, min(host_threads, len(cpus) - 1)) :]
    for_driver = cpus[: len(cpus) - len(for_host)]
    return for_driver[: max(1, threads)], for_host
