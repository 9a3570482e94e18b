"""A host in a network of its own, which a wire joins to that of the test."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.daemons import SHELL, Host, free_port, listening, sshd
from tests.own_network import inside, own_network

NETWORK = "198.18.9"
NEAR, FAR = "near", "far"
"""The ends of the wire: ours, and the host's."""


@dataclass(frozen=True)
class FarHost:
    """A telnet daemon and an sshd, each of which starts a shell."""

    namespace: Path
    address: str
    port: int
    """Of the telnet daemon."""
    ssh: Host

    @property
    def telnet(self) -> str:
        return f"telnet://{self.address}:{self.port}"

    @property
    def meters(self) -> str:
        """Meters over ssh, without their command."""
        known = self.ssh.home / ".ssh/known_hosts"
        return f"ssh://root@{self.address}:{self.ssh.port}?identity={self.ssh.folder}/client&known_hosts={known}"


@contextmanager
def far_host(folder: Path) -> Iterator[FarHost]:
    """Start the host; the block is at the near end of the wire."""
    shell, port = folder / "shell", free_port()
    shell.write_text(SHELL)
    shell.chmod(0o755)
    telnetd = ["busybox", "telnetd", "-F", "-p", str(port), "-l", str(shell)]
    with own_network(), wire() as (namespace, address), ExitStack() as daemons:
        with inside(namespace):
            daemons.enter_context(listening(telnetd, port, folder))
            there = daemons.enter_context(sshd(folder, f"ListenAddress {address}"))
        known = there.home / ".ssh/known_hosts"
        known.write_text(known.read_text().replace("127.0.0.1", address))
        yield FarHost(namespace, address, port, there)


@contextmanager
def wire() -> Iterator[tuple[Path, str]]:
    """Join this network to a new one; yields the new one's namespace and its address there."""
    name = f"beyond-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        link = ["ip", "link", "add", NEAR, "type", "veth", "peer", "name", FAR, "netns", name]
        subprocess.run(link, check=True)
        for device, number, place in ((NEAR, 1, []), (FAR, 2, ["-n", name])):
            address = ["addr", "add", f"{NETWORK}.{number}/24", "dev", device]
            subprocess.run(["ip", *place, *address], check=True)
            for each in (device, "lo"):
                subprocess.run(["ip", *place, "link", "set", each, "up"], check=True)
        yield Path("/run/netns") / name, f"{NETWORK}.2"
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
