"""Real daemons, each in a network and a PID namespace of its own, with temporary keys and home folders.

The thread that starts one is in its network namespace until the block ends; all its sessions end with it.

`scripts/setup --tests` installs Debian's packages; none runs as a service.
"""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from cuesta.engine.local.listener import listening as listeners
from tests.own_network import own_network
from tests.processes import descendants, end

Command = Callable[[Path, int, Path], list[str]]
"""A daemon's command line, given the shell that it starts, its port and a folder for what it needs."""

SHELL = "#!/bin/sh\nexport PS1='$ '\nexec /bin/bash --norc --noprofile -i\n"
SSHD = """\
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
{more}
SetEnv HOME={folder}/home XDG_CACHE_HOME={cache}
"""
"""Without the user's own start files of shells: they may read what a test types. In the cache, which all tests
share, meters keep their constants."""
AT_A_SHELL = "ForceCommand PS1='$ ' exec /bin/bash --norc --noprofile -i"
"""Additional settings of sshd that give users a plain shell."""
TCPSVD = ["tcpsvd", "-E", "-l", "localhost", "-c", "100", "127.0.0.1"]
"""Before the port. It is told its own name: otherwise it asks the DNS for each connection."""
OWN_PROCESSES = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child"]
"""Runs a command as the first process of a PID namespace, which ends with it and with the test."""


def inetd(shell: Path, port: int, folder: Path) -> list[str]:
    service = f"127.0.0.1:{port} stream tcp nowait root /usr/sbin/telnetd telnetd -h --exec-login={shell}\n"
    (folder / "inetd.conf").write_text(service)
    return ["inetutils-inetd", "-d", f"-p{folder}/inetd.pid", "-R", "1000", str(folder / "inetd.conf")]


def tcpsvd(shell: Path, port: int, folder: Path) -> list[str]:
    return [*TCPSVD, str(port), "/usr/sbin/telnetd", "-h", "-E", str(shell)]


def busybox(shell: Path, port: int, folder: Path) -> list[str]:
    return ["busybox", "telnetd", "-F", "-p", str(port), "-b", "127.0.0.1", "-l", str(shell)]


@contextmanager
def telnetd(command: Command, folder: Path, shell: str = SHELL, before: str = "") -> Iterator[int]:
    """Start a telnet daemon that runs a script as the shell; yields its port. `before` as in `listening`."""
    file, port = folder / "shell", free_port()
    file.write_text(shell)
    file.chmod(0o755)
    with listening(command(file, port, folder), port, folder, before=before):
        yield port


@dataclass(frozen=True)
class Host:
    """A real sshd, and a home folder whose known_hosts has its key."""

    port: int
    folder: Path
    pid: int

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def place(self) -> str:
        return f"{getpass.getuser()}@127.0.0.1:{self.port}"

    @property
    def target(self) -> str:
        """Its target, with the key and the known_hosts file."""
        return f"ssh://{self.place}?identity={self.folder}/client&known_hosts={self.home}/.ssh/known_hosts"


@contextmanager
def sshd(folder: Path, *more: str, metered: bool = False, before: str = "") -> Iterator[Host]:
    """Start sshd, which accepts the key `client` of the folder; `metered` and `before` as in `listening`."""
    port, home = free_port(), folder / "home/.ssh"
    home.mkdir(parents=True)
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    keygen(folder / "host")
    keygen(folder / "client")
    (home / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "sshd_config").write_text(
        SSHD.format(port=port, folder=folder, cache=os.environ["XDG_CACHE_HOME"], more="\n".join(more))
    )
    with listening(["sshd", "-D", "-e", "-f", str(folder / "sshd_config")], port, folder, metered, before) as pid:
        yield Host(port, folder, pid)


def keygen(path: Path, comment: str = "throwaway") -> Path:
    """Make a key without a passphrase, and its `.pub`."""
    command = [needed("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


@contextmanager
def listening(command: list[str], port: int, folder: Path, metered: bool = False, before: str = "") -> Iterator[int]:
    """Start a daemon, wait until it listens, and yield its process number; at the end kill it and its descendants.

    A `metered` one is in the first namespaces: elsewhere the kernel tells no meter of births and ends of processes.
    Shell commands `before` it have a mount namespace of their own with it, so that they may change the machine.
    """
    log, program = folder / "daemon.log", [needed(command[0]), *command[1:]]
    if before:
        program = ["unshare", "--mount", "sh", "-ec", f'{before}\nexec "$@"', "sh", *program]
    with nullcontext() if metered else own_network():
        with log.open("wb") as out:
            started = subprocess.Popen(
                program if metered else [*OWN_PROCESSES, *program],
                stdin=subprocess.PIPE,  # some end when their input ends
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        try:
            wait_until_it_listens(started, port, log)
            yield started.pid if metered else descendants(started.pid)[-1]
        finally:
            end([*descendants(started.pid), started.pid])
            started.communicate()


def wait_until_it_listens(daemon: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait for it in the kernel's table, and do not call it: a line takes one call, and daemons log callers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if listeners(port, Path("/proc/thread-self")):
            return
        with suppress(subprocess.TimeoutExpired):
            daemon.wait(timeout=0.05)
            pytest.fail(f"{daemon.args!r} ended: {log.read_text()}")
    pytest.fail(f"{daemon.args!r} does not listen")


def needed(program: str) -> str:
    """The path of a program that the tests need; fails if it is missing."""
    path = shutil.which(program, path="/usr/bin:/usr/sbin:/usr/local/bin:/bin:/sbin")
    assert path, f"no {program}: ./scripts/setup --tests"
    return path


def free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
