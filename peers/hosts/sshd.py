"""OpenSSH's sshd on a port of loopback, with keys made for it and one program for everyone who logs in."""

import getpass
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from peers.control_group import HOST_CPU, ControlGroup, until
from peers.hosts.host import ANSWER, Mark, Work

PROGRAMS = {
    Work.KEYS: "stty raw -echo\nprintf '> '\nexec cat\n",
    Work.TRANSACTIONS: f"stty -echo\nprintf '> '\nwhile read -r line; do printf '%0{ANSWER - 2}d> ' 0; done\n",
    Work.LOGINS: f"read -r line\nprintf '%0{ANSWER - 2}d> ' 0\n",
}
WRITTEN = {Work.KEYS: 1, Work.TRANSACTIONS: ANSWER}
"""Characters that the program writes for each operation."""
SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/client.pub
StrictModes no
PermitRootLogin yes
UsePAM no
PasswordAuthentication no
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 1000
KexAlgorithms curve25519-sha256
SetEnv HOME={folder}
LogLevel VERBOSE
ForceCommand exec {folder}/answer
"""
CLIENT = """\
Host peer
HostName 127.0.0.1
Port {port}
User {user}
IdentityFile {folder}/client
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
BatchMode yes
"""


@dataclass
class Sshd:
    group: ControlGroup
    target: str
    way: tuple[str, str]
    work: Work
    log: Path

    def users(self) -> int:
        if self.work is Work.LOGINS:
            return self._sessions()
        return sum(1 for _ in self._written())

    def mark(self) -> Mark:
        if self.work is Work.LOGINS:
            return Mark(time.monotonic(), self._sessions())
        return Mark(time.monotonic(), sum(self._written()) / WRITTEN[self.work])

    def _sessions(self) -> int:
        return self.log.read_bytes().count(b"Starting session:")

    def _written(self) -> Iterator[int]:
        """Yield the characters that each user's program has written, as the kernel counts them."""
        for pid in self.group.processes():
            with suppress(OSError):  # it may have ended
                if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() in {"cat", "answer"}:
                    yield int(Path(f"/proc/{pid}/io").read_text(encoding="utf-8").split("wchar:")[1].split()[0])


@contextmanager
def sshd(work: Work, folder: Path) -> Iterator[Sshd]:
    port = prepare(work, folder)
    log = folder / "sshd.log"
    command = ["/usr/sbin/sshd", "-D", "-e", "-f", f"{folder}/sshd_config"]
    with ControlGroup.started("host", command, cpu=HOST_CPU, out=log, folder=folder) as group:
        until(lambda: b"Server listening" in log.read_bytes(), "sshd", group)
        target = f"ssh://{getpass.getuser()}@127.0.0.1:{port}?identity={folder}/client&known_hosts={folder}/known_hosts"
        yield Sshd(group, f"{target}&config=none&agent=off", ("ssh", f"{folder}/ssh_config"), work, log)


def prepare(work: Work, folder: Path) -> int:
    """Write keys, settings and the program; return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    for name in ("host", "client"):
        keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "peers", "-f", str(folder / name)]
        subprocess.run(keygen, check=True, stdin=subprocess.DEVNULL)
    program = folder / "answer"
    program.write_text(f"#!/bin/sh\n{PROGRAMS[work]}", encoding="utf-8")
    program.chmod(0o755)
    public = (folder / "host.pub").read_text(encoding="utf-8")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}", encoding="utf-8")
    (folder / "sshd_config").write_text(SERVER.format(port=port, folder=folder), encoding="utf-8")
    client = CLIENT.format(port=port, folder=folder, user=getpass.getuser())
    (folder / "ssh_config").write_text(client, encoding="utf-8")
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    return port
