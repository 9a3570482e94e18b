"""What a run needs of this machine and of its target, asked before anything is started or written."""

import os
import resource
import socket
from urllib.parse import urlsplit

from cuesta.engine.job import Job, most_users
from cuesta.errors import CuestaError, UsageError
from cuesta.plan import BUILTIN_HOST

OWN_FILES = 64
"""Descriptors that a process needs beside its lines: records, timers, libraries."""
PATIENCE = 5.0
"""Seconds that a target has to accept a line."""
TELNET_PORT = 23


def check(job: Job) -> None:
    """Raise what would make the run fail."""
    raise_files(needed_files(job))
    for target in dict.fromkeys(group.target for step in job.plan.steps for group in step.settings.group):
        if target != BUILTIN_HOST:
            probe(target)


def needed_files(job: Job) -> int:
    """Count the descriptors that the process with most lines needs: an agent, or the built-in host."""
    lines = max(most_users(segment) for segment in job.plan.segments())
    groups = [(step, group) for step in job.plan.steps for group in step.settings.group]
    hosted = [step for step, group in groups if group.target == BUILTIN_HOST]
    if not hosted:
        return -(-lines // job.plan.settings.agents) + OWN_FILES
    shell = any(job.service(step).name == "shell" for step in hosted)
    return lines * (3 if shell else 1) + OWN_FILES


def raise_files(needed: int) -> None:
    """Raise the soft limit of descriptors as far as it is needed and may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise CuestaError(
            f"this run needs {needed} file descriptors in one process, and the limit (ulimit -n) is {hard}",
            f"raise it as root with `ulimit -Hn {needed}`, or with `nofile` in /etc/security/limits.conf",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def probe(target: str) -> None:
    """Open one line to the target and close it."""
    address = urlsplit(target)
    try:
        socket.create_connection((address.hostname, address.port or TELNET_PORT), PATIENCE).close()
    except OSError as error:
        why = "no answer within 5 s" if isinstance(error, TimeoutError) else (error.strerror or str(error)).lower()
        remedy = "check its address and that it is running, or leave --target out for the built-in host"
        raise CuestaError(f"{target}: cannot be reached: {why}", remedy) from None


def divide_cpus(threads: int, host_threads: int) -> tuple[list[int], list[int]]:
    """Give the driver and the built-in host CPUs of their own: the host the last ones."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise UsageError("--pin needs two CPUs, and this process may use one", "leave --pin out")
    for_host = cpus[-max(1, min(host_threads, len(cpus) - 1)) :]
    for_driver = cpus[: len(cpus) - len(for_host)]
    return for_driver[: max(1, threads)], for_host
