#!/usr/bin/env python3
"""Starts an ssh server on loopback for the study: `studies/ssh-servers/servers.py openssh -- cuesta run PLAN`.

    servers.py openssh|dropbear|tinysshd|none [-- COMMAND …]
    servers.py all -- cuesta run PLAN --out runs/{server}

The command gets the server's target in CUESTA_TARGET, so that `cuesta run` types there. `{server}` in its words is
replaced by the server's name. The server ends with the command; without one, with Ctrl+C. `all` runs the command once
for each, one after another. `none` is the baseline: the same shell of the same account on the driver's own terminals,
without ssh.

At the end the script says how many logins the server's own log has and, with `--memory`, what memory the sessions took:
the proportional set size (PSS) of their processes, by program. To read it the kernel walks over each process's pages,
so use a run of its own for memory.

A server has keys, a log and an account `typist` of its own in a temporary folder. It runs in its own mount and process
namespaces: the account and its home exist only there, and the kernel ends all sessions with the server. This takes
root. So does a server for many people: without root OpenSSH does not separate privileges, and a session is one process
instead of two.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

ACCOUNT, UID, HOME = "typist", 54321, "/home/typist"
PROFILE = "PS1='$ '\nunset HISTFILE\n"
IN_NAMESPACES = (
    "mount --bind {0}/passwd /etc/passwd && mount --bind {0}/homes /home && mkdir -p /run/sshd && "
    'mount -t tmpfs -o mode=755 tmpfs /run/sshd && exec "$@"'
)
IDLE = ["sh", "-c", "echo ready && exec sleep infinity"]
"""What keeps the namespaces when there is no server."""
SHELL = "bash"
SSHD = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile none
UsePAM no
PasswordAuthentication no
MaxStartups 1000
"""
"""Else OpenSSH's defaults. `MaxStartups` lets users log in faster than ten at a time."""
INTERRUPTED = 105
"""Cuesta's exit code after Ctrl+C."""
LISTEN = "0A"
"""A socket's state in `/proc/net/tcp`."""
EVERY = 5.0
"""Seconds between two readings of the memory."""


@dataclass(frozen=True)
class Server:
    """How a server is prepared and started, and what it logs."""

    program: str
    prepare: Callable[[Path], str]
    """Makes the host's key in a folder, and returns its public key."""
    command: Callable[[Path, int], list[str]]
    """The command line, given the folder and the port."""
    login: str
    """The pattern of the row of its log for a login."""


def openssh_key(folder: Path) -> str:
    keygen(folder / "host")
    return (folder / "host.pub").read_text()


def openssh(folder: Path, port: int) -> list[str]:
    (folder / "sshd_config").write_text(SSHD.format(folder=folder, port=port))
    return [program("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")]


def dropbear_key(folder: Path) -> str:
    return public_key(["dropbearkey", "-t", "ed25519", "-f", str(folder / "host")])


def dropbear(folder: Path, port: int) -> list[str]:
    own = ["-p", f"127.0.0.1:{port}", "-r", str(folder / "host"), "-P", str(folder / "pid")]
    return [program("dropbear"), "-F", "-E", "-s", *own]


def tinysshd_key(folder: Path) -> str:
    subprocess.run([program("tinysshd-makekey"), "-q", str(folder / "keys")], check=True)
    return public_key(["tinysshd-printkey", str(folder / "keys")])


def tinysshd(folder: Path, port: int) -> list[str]:
    """It serves one connection, so tcpsvd starts one for each."""
    return [program("tcpsvd"), "-E", "-c", "10000", "127.0.0.1", str(port), program("tinysshd"), "-v", f"{folder}/keys"]


SERVERS = {
    "openssh": Server("sshd", openssh_key, openssh, "Accepted publickey for"),
    "dropbear": Server("dropbear", dropbear_key, dropbear, "Pubkey auth succeeded for"),
    "tinysshd": Server("tinysshd", tinysshd_key, tinysshd, f"auth: {ACCOUNT}: .* accepted"),
}


@dataclass
class Memory:
    """What processes of one program take."""

    processes: int = 0
    bytes: int = 0
    """Proportional set size: a page that several processes share counts in equal parts for each."""

    def beyond(self, idle: "Memory") -> "Memory":
        return Memory(self.processes - idle.processes, self.bytes - idle.bytes)


@dataclass
class Report:
    """What a server's log and its processes said."""

    server: str
    logins: int | None = None
    sessions: int = 0
    """The most sessions at once when memory was read."""
    programs: dict[str, Memory] = field(default_factory=dict)
    """The memory then, beyond that of the idle server."""

    def __str__(self) -> str:
        said = [self.server if self.logins is None else f"{self.server}: its log has {self.logins} logins"]
        if self.programs:
            said.append(f"    memory of {self.sessions} sessions (PSS):")
        for name, own in sorted(self.programs.items()):
            each = f"{own.bytes / self.sessions / 1e6:.2f} MB a session"
            said.append(f"    {name:10} {own.processes:5} processes {own.bytes / 1e6:8.2f} MB, {each}")
        return "\n".join(said)


@dataclass
class Running:
    """A server that runs, or the shell without one."""

    name: str
    target: str
    folder: Path
    pid: int
    """The process whose descendants serve the sessions."""


def main() -> int:
    options = arguments()
    if os.geteuid() != 0:
        sys.exit("servers.py: run it as root: the servers need an account and a home of their own")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    names = [*SERVERS, "none"] if options.server == "all" else [options.server]
    reports, code = [], 0
    for name in names:
        report, ended = serve(name, options)
        print(report, flush=True)
        reports.append(asdict(report))
        code = code or ended
        if ended == INTERRUPTED:
            break
    if options.json:
        options.json.write_text(json.dumps(reports, indent=2) + "\n")
    return code


def arguments() -> argparse.Namespace:
    usage = "servers.py SERVER [--cpus LIST] [--memory] [--folder DIR] [--json FILE] [-- COMMAND …]"
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(usage=usage, description=__doc__, formatter_class=layout)
    parser.add_argument(
        "server", choices=[*SERVERS, "none", "all"], metavar="SERVER", help=", ".join([*SERVERS, "none", "all"])
    )
    parser.add_argument("--cpus", help="the CPUs of the server and its sessions, such as 1 or 4-7")
    parser.add_argument("--memory", action="store_true", help=f"read the sessions' memory every {EVERY:g} s")
    parser.add_argument("--folder", type=Path, help="where keys, homes and the log stay; else a temporary folder")
    parser.add_argument("--json", type=Path, help="write the reports to this file")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at], argparse.Namespace(command=words[at + 1 :]))
    if options.server == "all" and not options.command:
        parser.error("`all` needs a command")
    return options


def serve(name: str, options: argparse.Namespace) -> tuple[Report, int]:
    """Run the command at one server; return the report and the command's exit code."""
    with folder_of(name, options.folder) as folder, started(name, folder, options.cpus) as running:
        report = Report(name)
        with memory_read(running, report) if options.memory else nullcontext():
            code = run(options.command, running)
        if name in SERVERS:
            report.logins = len(re.findall(SERVERS[name].login, (folder / "log").read_text(errors="replace")))
        return report, code


def run(command: Sequence[str], running: Running) -> int:
    """Run the command, or wait for Ctrl+C."""
    environment = os.environ | {"CUESTA_TARGET": running.target}
    if command:
        signal.signal(signal.SIGINT, lambda *_: None)  # the command gets it too, and ends in its own time
        words = [word.replace("{server}", running.name) for word in command]
        return subprocess.run(words, env=environment, check=False).returncode
    print(f"{running.name} runs until Ctrl+C; its log is {running.folder}/log. Type at it with\n")
    print(f"  cuesta run PLAN --target {shlex.quote(running.target)}\n", flush=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    return 0


@contextmanager
def folder_of(name: str, parent: Path | None) -> Iterator[Path]:
    if parent is not None:
        (parent / name).mkdir(parents=True)
        yield (parent / name).resolve()
        return
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as temporary:
        Path(temporary).chmod(0o755)
        yield Path(temporary)


@contextmanager
def started(name: str, folder: Path, cpus: str | None) -> Iterator[Running]:
    """A server that listens; the kernel ends its sessions with it."""
    make_account(folder)
    port = free_port()
    command = ["setpriv", "--pdeathsig", "KILL", *(["taskset", "-c", cpus] if cpus else [])]
    command += ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    command += ["sh", "-c", IN_NAMESPACES.format(shlex.quote(str(folder))), "sh"]
    if name in SERVERS:
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {SERVERS[name].prepare(folder)}\n")
    command += SERVERS[name].command(folder, port) if name in SERVERS else IDLE
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        if name in SERVERS:
            wait_until(lambda: listens(port), process, folder / "log")
            yield Running(name, target_over_ssh(folder, port), folder, process.pid)
        else:
            wait_until(lambda: (folder / "log").stat().st_size > 0, process, folder / "log")
            yield Running(name, target_without_ssh(process.pid, cpus), folder, os.getpid())
    finally:
        end(process)


def end(namespaces: "subprocess.Popen[bytes]") -> None:
    """Kill the first process of the namespaces. The kernel then kills all others, and `unshare` ends after them."""
    for _, first in islice(descendants(namespaces.pid), 1):
        with suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            namespaces.wait(timeout=20)
    namespaces.kill()
    namespaces.wait()


def make_account(folder: Path) -> None:
    """An account with a key, a shell with the prompt `$ `, and an empty home."""
    home = folder / "homes" / ACCOUNT
    (home / ".ssh").mkdir(parents=True)
    keygen(folder / "client")
    shutil.copy(folder / "client.pub", home / ".ssh/authorized_keys")
    (home / ".profile").write_text(PROFILE)
    row = f"{ACCOUNT}:x:{UID}:{UID}::{HOME}:/bin/{SHELL}\n"
    (folder / "passwd").write_text(row + Path("/etc/passwd").read_text())
    for path in [home, *home.rglob("*")]:
        os.chown(path, UID, UID)
        path.chmod(0o700 if path.is_dir() else 0o600)


def target_over_ssh(folder: Path, port: int) -> str:
    own = f"identity={folder}/client&known_hosts={folder}/known_hosts&config=none&agent=off"
    return f"ssh://{ACCOUNT}@127.0.0.1:{port}?{own}"


def target_without_ssh(pid: int, cpus: str | None) -> str:
    """The account's login shell as a server starts it, in the mount namespace of a process."""
    command = ["taskset", "-c", cpus] if cpus else []
    command += ["nsenter", f"--target={pid}", "--mount", f"--wdns={HOME}"]
    command += ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    command += ["env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin", f"HOME={HOME}", f"USER={ACCOUNT}"]
    command += [f"LOGNAME={ACCOUNT}", f"SHELL=/bin/{SHELL}", "TERM=xterm-256color", f"/bin/{SHELL}", "--login"]
    return f"pty:{shlex.join(command)}"


def wait_until(ready: Callable[[], bool], server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 20
    while not ready():
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.05)
        if server.returncode is not None or time.monotonic() > deadline:
            sys.exit(f"servers.py: the server does not start:\n{log.read_text()}")


def listens(port: int) -> bool:
    """Whether a socket listens there. A connection to it would leave a process that ends late, and a row in the log."""
    sockets = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(local.endswith(f":{port:04X}") and state == LISTEN for _, local, _, state, *_ in sockets)


@contextmanager
def memory_read(running: Running, report: Report) -> Iterator[None]:
    """Read the sessions' memory every few seconds while the block runs; report the largest of most sessions."""
    idle = memory(running)[1]
    ended = threading.Event()

    def read() -> None:
        largest = (0, 0)
        while not ended.wait(EVERY):
            sessions, programs = memory(running)
            size = (sessions, sum(each.bytes for each in programs.values()))
            if sessions and size > largest:
                largest, report.sessions = size, sessions
                more = {name: each.beyond(idle.get(name, Memory())) for name, each in programs.items()}
                report.programs = {name: each for name, each in more.items() if each.processes > 0}

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        ended.set()
        reader.join()


def memory(running: Running) -> tuple[int, dict[str, Memory]]:
    """The number of sessions, and the memory of their processes and the server's by program."""
    names: dict[int, str] = {}
    programs: dict[str, Memory] = {}
    sessions = 0
    for parent, child in descendants(running.pid):
        with suppress(OSError):
            if running.name not in SERVERS and Path(f"/proc/{child}").stat().st_uid != UID:
                continue  # the driver
            name = names[child] = Path(f"/proc/{child}/comm").read_text().strip()
            rows = Path(f"/proc/{child}/smaps_rollup").read_text().splitlines()
            own = programs.setdefault(name, Memory())
            own.processes += 1
            own.bytes += 1024 * sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
            sessions += name == SHELL != names.get(parent)
    return sessions, programs


def descendants(pid: int) -> Iterator[tuple[int, int]]:
    """Each descendant after its parent: parent, child."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield pid, int(child)
                yield from descendants(int(child))


def keygen(path: Path) -> None:
    """Make a key without a passphrase, and its `.pub`."""
    command = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "study", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def public_key(command: list[str]) -> str:
    """The ed25519 key that a program prints."""
    said = subprocess.run([program(command[0]), *command[1:]], check=True, capture_output=True, text=True).stdout
    return next(row[row.index("ssh-ed25519 ") :] for row in said.splitlines() if "ssh-ed25519 " in row)


def program(name: str) -> str:
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    return path or sys.exit(f"servers.py: no {name}: ./scripts/setup --tests")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
