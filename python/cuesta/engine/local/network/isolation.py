"""Driver and built-in host in network namespaces of their own, joined by a wire (a veth pair): `--isolate`.

Over loopback the kernel receives in the sender's context, so that either side's CPU does the other's network work. Here
each end of the wire has its packets received on its own side's CPUs (receive packet steering), and everything else that
a run starts keeps off the host's CPUs: what a CPU did is then its side's. What a *process* did is not: packets are
received in the process that has the CPU at that moment.

The namespaces are named by the engine's process number. A process of their own deletes them when the engine ends, even
if the engine was killed; if that process was killed too, the next run deletes them.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cuesta.engine.job import Job
from cuesta.errors import CuestaError, UsageError
from cuesta.target import BUILTIN_HOST

NAMESPACES = Path("/run/netns")
"""The folder of iproute2's namespaces."""
WIRE = "wire"
"""Name of the veth pair's ends, in their namespaces."""
ADDRESSES = ("198.18.0.1", "198.18.0.2")
"""Addresses of the driver's and the host's end, in a network reserved for tests (RFC 2544) and visible only to them."""
PROGRAMS = {"ip": "iproute2", "nsenter": "util-linux", "taskset": "util-linux"}
"""Required programs and their Debian packages."""
REMEDY = "this kernel or container may not allow namespaces: leave --isolate out"
DEFERRAL_PROGRAMS = {"ethtool": "ethtool"}
PRIVILEGES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""Required capabilities, as bits of `CapEff`."""


@dataclass(frozen=True, slots=True)
class NetNs:
    """One end of the wire."""

    namespace: str
    address: str
    cpus: Sequence[int]
    """CPUs that receive its packets."""
    command_prefix: Sequence[str]
    """The prefix that runs a command there."""


@dataclass(frozen=True, slots=True)
class NetNsPair:
    """Both ends."""

    driver: NetNs
    host: NetNs


def check(job: Job) -> None:
    """Raise CuestaError before the start if isolation would fail."""
    targets = {group.target for step in job.plan.steps for group in step.settings.group}
    if elsewhere := sorted(targets - {BUILTIN_HOST}):
        what = f"--isolate: only the built-in host can be put into a network of its own, not {elsewhere[0]}"
        raise UsageError(what, "leave --isolate out, or leave --target out")
    check_privileges()
    check_programs("--isolate", PROGRAMS)
    if any(step.settings.defer is not None for step in job.plan.steps):
        check_programs("defer", DEFERRAL_PROGRAMS)


def check_programs(what: str, programs: Mapping[str, str]) -> None:
    """Raise CuestaError if one of `what`'s programs, given with their Debian packages, is not installed."""
    for program, package in programs.items():
        if not shutil.which(program):
            raise CuestaError(f"{what} needs `{program}`", f"apt-get install {package}")


def check_privileges(status: Path = Path("/proc/self/status")) -> None:
    """Raise CuestaError if this user may not make namespaces."""
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", status.read_text(encoding="ascii", errors="replace"), re.MULTILINE)
    held = int(match[1], 16) if match else 0
    missing = [name for name, bit in PRIVILEGES.items() if not held >> bit & 1]
    if missing:
        what = f"--isolate makes network namespaces, which this user may not ({' and '.join(missing)} missing)"
        raise CuestaError(what, "run it as root; or --pin alone, which keeps the CPUs apart but not the network")


@contextmanager
def link_namespaces(driver_cpus: Sequence[int], host_cpus: Sequence[int]) -> Iterator[NetNsPair]:
    """Join two namespaces while the block runs; keep this process and what it starts off the host's CPUs."""
    clear_stale()
    sides = NetNsPair(_side("driver", driver_cpus), _side("host", host_cpus))
    before = os.sched_getaffinity(0)
    with _delete_at_end(sides):
        _make(sides)
        os.sched_setaffinity(0, before - set(host_cpus))
        try:
            yield sides
        finally:
            os.sched_setaffinity(0, before)


def run_inside(side: NetNs, script: str, remedy: str) -> None:
    """Run a shell's script on a side; it sees the namespace's own devices in /sys. Raises CuestaError if it fails."""
    _ip("netns", "exec", side.namespace, "sh", "-c", script, remedy=remedy)


@contextmanager
def _delete_at_end(sides: NetNsPair) -> Iterator[None]:
    """Delete the namespaces at the end of the block: by a process that outlives this one, when its input ends."""
    deletions = [f"ip netns delete {side.namespace}" for side in (sides.driver, sides.host)]
    command = ["sh", "-c", "; ".join(["cat", *deletions])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as supervisor:
        assert supervisor.stdin is not None
        try:
            yield
        finally:
            supervisor.stdin.close()


def clear_stale() -> None:
    """Delete the namespaces of engines that were killed."""
    for path in NAMESPACES.glob("cuesta-*"):
        number = path.name.split("-")[1]
        if number.isdigit() and not Path("/proc", number).exists():
            _remove(path.name)


def mask(cpus: Sequence[int]) -> str:
    """Write CPUs as the kernel's files do: hexadecimal, 32 to a word, commas between the words."""
    bits = sum(1 << cpu for cpu in cpus)
    words = [f"{bits >> shift & 0xFFFF_FFFF:08x}" for shift in range(0, bits.bit_length(), 32)]
    return ",".join(reversed(words))


def _side(which: str, cpus: Sequence[int]) -> NetNs:
    namespace = f"cuesta-{os.getpid()}-{which}"
    command_prefix = ["nsenter", f"--net={NAMESPACES / namespace}"]
    if which == "host":  # the rest of a run inherits our own CPUs
        command_prefix += ["taskset", "--cpu-list", ",".join(map(str, cpus))]
    return NetNs(namespace, ADDRESSES[which == "host"], cpus, command_prefix)


def _make(sides: NetNsPair) -> None:
    driver, host = sides.driver, sides.host
    for side in (driver, host):
        _ip("netns", "add", side.namespace)
    _ip("link", "add", WIRE, "netns", driver.namespace, "type", "veth", "peer", "name", WIRE, "netns", host.namespace)
    for side in (driver, host):
        _ip("-n", side.namespace, "address", "add", f"{side.address}/30", "dev", WIRE)
        for device in ("lo", WIRE):
            _ip("-n", side.namespace, "link", "set", device, "up")
        _steer(side)


def _steer(side: NetNs) -> None:
    """Make the side's CPUs receive its packets."""
    queues = f"/sys/class/net/{WIRE}/queues/rx-*/rps_cpus"
    run_inside(side, f"for queue in {queues}; do echo {mask(side.cpus)} >$queue || exit; done", REMEDY)


def _ip(*words: str, remedy: str = REMEDY) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip().partition("\n")[0]
        raise CuestaError(f"--isolate: `ip {' '.join(words)}` failed: {why}", remedy)


def _remove(namespace: str) -> None:
    with suppress(CuestaError):  # it was never made, or somebody else has deleted it
        _ip("netns", "delete", namespace)
