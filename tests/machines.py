"""Machines for tests: each has a network, a monotonic clock, processes and files (/tmp) of its own. As root.

A machine is a process that holds its namespaces, the first of its process namespace: when it ends, all others in it do.
All machines are on one bridge, which stands in a network namespace of the test.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.own_network import own_network

NETWORK = "10.77.0"
HOLD = """
mount -t tmpfs none /mnt || exit
for path; do case "$path" in /tmp/*) mkdir -p "/mnt$path" && mount --bind "$path" "/mnt$path" || exit; esac; done
mount -t tmpfs none /tmp || exit
for path; do case "$path" in /tmp/*) mkdir -p "$path" && mount --move "/mnt$path" "$path" || exit; esac; done
ip link set lo up && echo made && exec cat
"""
"""Has an empty /tmp, but for the folders that all machines share."""
CHECKOUT = str(Path(__file__).parents[1])
NAMESPACES = ["net", "mount", "pid", "time"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, named by its address."""

    address: str
    link: str
    """The bridge's end of its wire."""
    first: int
    """Its first process, as this machine numbers it."""
    ahead: int
    """Seconds by which its clock is ahead of this machine's."""

    @property
    def command_prefix(self) -> list[str]:
        namespaces = (f"--{name}" for name in NAMESPACES)
        return ["nsenter", "--target", str(self.first), *namespaces]

    def start(self, command: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
        """Start a command there."""
        return subprocess.Popen([*self.command_prefix, *command], text=True, start_new_session=True, **options)

    def run(self, command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a command there to its end."""
        return subprocess.run([*self.command_prefix, *command], text=True, capture_output=True, check=False, **options)

    def processes(self) -> dict[int, str]:
        """The commands of the processes that run there, zombies and the first one left out, by this machine's pids."""
        namespace = Path(f"/proc/{self.first}/ns/pid").stat().st_ino
        found = dict[int, str]()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
                if words[0] and (path / "ns" / "pid").stat().st_ino == namespace:
                    found[int(path.name)] = b" ".join(words).decode(errors="replace").strip()
            except OSError:
                continue  # it has ended
        return {pid: command for pid, command in found.items() if pid != self.first}

    def end(self) -> None:
        """End all its processes."""
        os.kill(self.first, signal.SIGKILL)

    def cut(self) -> None:
        """Cut its link."""
        subprocess.run(["ip", "link", "set", self.link, "down"], check=True)

    def mend(self) -> None:
        """Mend the link that was cut."""
        subprocess.run(["ip", "link", "set", self.link, "up"], check=True)


@contextmanager
def machines(clocks: Sequence[int], shared: Path) -> Iterator[list[Machine]]:
    """Have machines during the block; `clocks`: the seconds by which each clock is ahead. All see one folder."""
    with own_network(), ExitStack() as stack:
        for command in (
            ["ip", "link", "add", "bridge", "type", "bridge"],
            ["ip", "link", "set", "bridge", "up"],
        ):
            subprocess.run(command, check=True)
        yield [stack.enter_context(machine(number, ahead, shared)) for number, ahead in enumerate(clocks, 1)]


@contextmanager
def machine(number: int, ahead: int, shared: Path) -> Iterator[Machine]:
    clock = ["--time", "--monotonic", str(ahead), "--boottime", str(ahead)]
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", *clock]
    with subprocess.Popen(
        [*unshare, "sh", "-c", HOLD, "sh", CHECKOUT, shared],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        try:
            assert holder.stdout.readline() == b"made\n"
            first = int(Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()[0])
            made = Machine(f"{NETWORK}.{number}", f"to-{number}", first, ahead)
            join(made)
            yield made
        finally:
            holder.stdin.close()


def join(made: Machine) -> None:
    """Lead a wire from the bridge to a machine."""
    inside = ["nsenter", "--target", str(made.first), "--net"]
    for command in (
        ["ip", "link", "add", made.link, "type", "veth", "peer", "name", "wire", "netns", str(made.first)],
        ["ip", "link", "set", made.link, "master", "bridge", "up"],
        [*inside, "ip", "address", "add", f"{made.address}/24", "dev", "wire"],
        [*inside, "ip", "link", "set", "wire", "up"],
    ):
        subprocess.run(command, check=True)


RAY = str(Path(sys.executable).with_name("ray"))


@contextmanager
def ray_cluster(head: Machine, nodes: Sequence[Machine]) -> Iterator[str]:
    """A Ray cluster: a head without CPUs for actors, and nodes with one each; yields its address.

    Its processes end with the machines.
    """
    address = f"{head.address}:6399"
    common = ["--object-store-memory", "100000000", "--temp-dir", "/tmp/ray", "--disable-usage-stats"]
    own = ["--head", "--port", "6399", "--num-cpus", "0", "--include-dashboard=false"]
    asked = [
        (head, [*own, *common]),
        *((node, ["--address", address, "--num-cpus", "1", *common[:2]]) for node in nodes),
    ]
    for each, options in asked:
        done = each.run([RAY, "start", "--node-ip-address", each.address, *options], env=environment())
        assert done.returncode == 0, done.stdout + done.stderr
    yield address


def environment() -> dict[str, str]:
    """Ray's parts are Python programs, which compile their modules once for all tests if they may."""
    own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "200"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own
