"""Checks, before a run starts or writes anything, that this machine and the target have what it needs."""

import os
from dataclasses import replace

from cuesta.engine.count_needs import HOST_LINE, count_host_files, count_needs, most_lines, with_added_users
from cuesta.engine.job import Job
from cuesta.engine.local.network import isolation
from cuesta.engine.local.node_check import find_lacks, raise_files
from cuesta.engine.node_needs import HERE, NodeNeeds, refuse
from cuesta.errors import UsageError
from cuesta.target import BUILTIN_HOST


def check(job: Job) -> None:
    """Raise CuestaError if the run would fail on this machine, with everything that is lacking."""
    if job.plan.settings.isolate:
        isolation.check(job)
    refuse({HERE: find_lacks(add_host(count_needs(job), job), job.plan.here)})


def check_host(job: Job) -> None:
    """Raise CuestaError if this machine cannot have the built-in host of a run whose agents are elsewhere."""
    files = count_host_files(job)
    raise_files(files, with_added_users(job, files))


def add_host(needs: NodeNeeds, job: Job) -> NodeNeeds:
    """What a machine needs that has agents and the built-in host."""
    files = count_host_files(job)
    if not files:
        return needs
    targets = [each for each in needs.targets if not (job.plan.settings.isolate and each.target == BUILTIN_HOST)]
    memory = needs.memory + HOST_LINE * most_lines(job)
    descriptors = max(needs.descriptors, files)
    wanted = with_added_users(job, descriptors)
    return replace(needs, descriptors=descriptors, wanted_descriptors=wanted, memory=memory, targets=targets)


def divide_cpus(threads: int, host_threads: int) -> tuple[list[int], list[int]]:
    """Divide the CPUs between the driver and the built-in host, which gets the last ones."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        what = "--pin and --isolate need two CPUs, and this process may use one"
        raise UsageError(what, "leave them out")
    for_host = cpus[-max(1, min(host_threads, len(cpus) - 1)) :]
    for_driver = cpus[: len(cpus) - len(for_host)]
    return for_driver[: max(1, threads)], for_host
