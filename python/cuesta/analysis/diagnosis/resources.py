"""What a host may run out of: processes, files, room on disks, memory, CPU time."""

from cuesta.analysis.diagnosis.observed import HostReadings, Observed
from cuesta.analysis.diagnosis.rule import Finding, cause
from cuesta.records.meter_figure import ABSENT
from cuesta.units import count, digits, many

NO_PROCESS = ("Resource temporarily unavailable", "fork: retry", "can't fork", "Cannot fork")
NO_FILE = ("Too many open files",)
NO_ROOM = ("No space left on device", "Disk quota exceeded")
KILLED = ("killed by signal 9", "exited with status 137", "Out of memory", "oom-kill")
LEAST_STOLEN = 5.0
"""Percent of CPU time taken by the hypervisor from which on users notice."""
LEAST_THROTTLED = 1.0
"""Percent of CPU time in which a quota kept the host from running from which on users notice."""


@cause(
    "nproc",
    setting="the user's limit of processes (`ulimit -u`, /etc/security/limits.conf, LimitNPROC), or `pids.max` of the "
    "control group (TasksMax)",
    outside="ssh: the login succeeds, a terminal is given, and the shell is refused; programs say "
    "`Resource temporarily unavailable`",
    host="`max` of `pids.events`",
    proved="OpenSSH 9.2 with a user of few processes",
)
def nproc(observed: Observed) -> Finding | None:
    refused = observed.failed("no-shell", "out-of-processes")
    counted = sum(host.total(lambda report: report.limits.pids_refused) for host in observed.hosts)
    if phrase := observed.said_any(*NO_PROCESS):
        return Finding(f'the host said "{phrase}"')
    if counted:
        return Finding(f"the control group refused to start a process {many(counted, 'time')} (pids.max)")
    if not refused:
        return None
    return Finding(f"{many(refused, 'line')} got a terminal and no shell: the host started no process", certain=False)


@cause(
    "file limit",
    setting="the service's limit of open files (`ulimit -n`, LimitNOFILE), or `sysctl fs.file-max`",
    outside="programs say `Too many open files`; connections are taken and not answered",
    host="`/proc/sys/fs/file-nr` at its limit",
    proved="a program of few files; the counters made by hand",
)
def file_limit(observed: Observed) -> Finding | None:
    if phrase := observed.said_any(*NO_FILE):
        return Finding(f'the host said "{phrase}"')
    return next(filter(None, map(describe_files, observed.hosts)), None)


def describe_files(host: HostReadings) -> Finding | None:
    """How many files a host had open, if it was all that it may."""
    used = host.highest(lambda report: report.limits.files)
    most = host.highest(lambda report: report.limits.file_limit)
    if used is None or most is None or used < most:
        return None
    return Finding(f"{count(used)} of {count(most)} files were open{host.where}")


@cause(
    "disk full",
    setting="make room on the host's disks, or raise the quota: df, quota, journalctl --vacuum-size",
    outside="programs say `No space left on device`",
    proved="a shell on a full tmpfs",
)
def disk_full(observed: Observed) -> Finding | None:
    phrase = observed.said_any(*NO_ROOM)
    if not phrase or observed.said_any("openpty", "pty:"):
        return None
    return Finding(f'the host said "{phrase}"')


@cause(
    "CPU quota",
    setting="cpu.max of its control group: CPUQuota of the service, --cpus or resources.limits.cpu of the container",
    outside="stalls of some 10 to 100 ms, in all programs of the group at once",
    host="`throttled_usec` of `cpu.stat`",
    proved="a control group with a quota",
)
def cpu_quota(observed: Observed) -> Finding | None:
    for host in observed.hosts:
        throttled = host.mean(lambda report: report.idle.throttled)
        if throttled is not None and throttled >= LEAST_THROTTLED:
            quota = host.highest(lambda report: report.idle.quota)
            of = f" of {digits(quota)} CPUs" if quota is not None else ""
            share = f"{digits(throttled)} % of the CPU time"
            return Finding(f"its quota{of} kept the host from running for {share}{host.where}")
    return None


@cause(
    "memory.high",
    setting="memory.high of its control group (MemoryHigh of the service), or programs that use less",
    outside="stalls of some 100 ms, in all programs of the group at once",
    host="`high` of `memory.events`; stalls in `memory.pressure`",
    proved="counters made by hand: this machine's memory controller is of version 1, which has no such limit",
)
def memory_high(observed: Observed) -> Finding | None:
    for host in observed.hosts:
        if times := host.total(lambda report: report.limits.memory_high):
            stalled = host.mean(lambda report: report.pressure.get("memory_some", ABSENT))
            share = f", and for {digits(stalled)} % of the time tasks waited for memory" if stalled else ""
            return Finding(f"the control group was over memory.high {many(times, 'time')}{host.where}{share}")
    return None


@cause(
    "OOM kill",
    setting="memory.max of the control group (MemoryMax, --memory, resources.limits.memory), or more memory; the "
    "log of the kernel names who was killed",
    outside="programs end by signal 9",
    host="`oom_kill` of `memory.events` or `/proc/vmstat`",
    proved="a control group of little memory",
)
def oom_kill(observed: Observed) -> Finding | None:
    killed, phrase = count_killed(observed), observed.said_any(*KILLED)
    if killed:
        said = f', and a program was "{phrase}"' if phrase else ""
        processes = "a process" if killed == 1 else f"{count(killed)} processes"
        return Finding(f"the kernel killed {processes} for want of memory{said}")
    return Finding(f'a program was "{phrase}"', certain=False) if phrase else None


def count_killed(observed: Observed) -> int:
    """Killed processes; those of a whole machine only where something failed: others may have been killed."""
    hosts = [host for host in observed.hosts if observed.failures or not host.is_machine]
    return sum(host.total(lambda report: report.limits.oom_kills) for host in hosts)


@cause(
    "cloud steal",
    setting="another size or kind of machine, or one that is not shared (dedicated CPUs)",
    outside="all programs of the host are slow at once",
    host="`steal` of `/proc/stat`",
    proved="counters made by hand: no hypervisor takes time of this machine",
)
def cloud_steal(observed: Observed) -> Finding | None:
    for host in observed.hosts:
        stolen = host.mean(lambda report: report.cpu.steal)
        if stolen is not None and stolen >= LEAST_STOLEN:
            return Finding(f"the hypervisor took {digits(stolen)} % of the host's CPU time{host.where}")
    return None
