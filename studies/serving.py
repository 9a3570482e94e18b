"""Starts the servers of a study on loopback, and runs a command that types at them.

A study's own script says which servers there are, and calls `main`. A server has a log and an account `typist` of its
own in a temporary folder. It runs in its own mount and process namespaces: the account and its home exist only there,
and the kernel ends all sessions with the server. This takes root.

The command gets the server's target in CUESTA_TARGET, so that `cuesta run` types there, and in CUESTA_DATA the table of
those who log in by a password.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import NoReturn

ACCOUNT, UID, HOME = "typist", 54321, "/srv/typist"
SHELL = "bash"
PROFILE = "PS1='$ '\nunset HISTFILE\ncd\n"
AS_ACCOUNT = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={UID}", "--clear-groups", "--reset-env"]
"""What stands before a command of the account: its environment, and no other rights."""
LOGIN_SHELL = [*AS_ACCOUNT, f"/bin/{SHELL}", "--login"]
IN_NAMESPACES = """\
for file in {0}/etc/*; do mount --bind "$file" "/etc/${{file##*/}}"; done
mount --bind {0}/homes /srv
exec "$@"
"""
IDLE = ["sh", "-c", "echo ready && exec sleep infinity"]
"""What keeps the namespaces when there is no server."""
WITHOUT = "none"
"""The baseline: the same shell of the same account on the driver's own terminals."""
INTERRUPTED = 105
"""Cuesta's exit code after Ctrl+C."""
LISTEN = "0A"
"""A socket's state in `/proc/net/tcp`."""
EVERY = 5.0
"""Seconds between two readings of the memory."""
SLOWEST_START = 60.0
"""Seconds within which a server listens."""


@dataclass(frozen=True)
class Server:
    """How a server is started and typed at, and what it logs. Both functions are given its folder and its port."""

    command: Callable[[Path, int], list[str]]
    """Makes what it needs in the folder, and returns the command line. A file in `etc/` stands for that of `/etc`."""
    target: Callable[[Path, int], str]
    login: str | None = None
    """The pattern of the row of its log for a login; None if it logs none."""
    ready: bytes = b""
    """What its log has once it answers, if it listens before that."""
    program: Path | None = None
    """Where it is installed, if not by Debian."""

    @property
    def is_installed(self) -> bool:
        return self.program is None or self.program.exists()


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
            said.append(f"    {name:15} {own.processes:5} processes {own.bytes / 1e6:8.2f} MB, {each}")
        return "\n".join(said)


@dataclass
class Running:
    """A server that runs, or the shell without one."""

    name: str
    target: str
    folder: Path
    pid: int
    """The process whose descendants serve the sessions."""

    @property
    def users(self) -> Path:
        """The table of those who log in by a password, if the server has made one."""
        return self.folder / "users.csv"


def main(servers: Mapping[str, Server], about: str | None) -> int:
    """Do what the command line says at a study's servers, and return the exit code; `about` is for `--help`."""
    options = read_arguments([*servers, WITHOUT, "all"], about)
    if os.geteuid() != 0:
        fail("run it as root: the servers need an account and a home of their own")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    reports, code = [], 0
    for name in list_installed(servers) if options.server == "all" else [options.server]:
        report, ended = serve(name, servers.get(name), options)
        print(report, flush=True)
        reports.append(asdict(report))
        code = code or ended
        if ended == INTERRUPTED:
            break
    if options.json:
        options.json.write_text(json.dumps(reports, indent=2) + "\n")
    return code


def list_installed(servers: Mapping[str, Server]) -> list[str]:
    """The servers that can be started, and the baseline; says which cannot."""
    missing = [name for name, server in servers.items() if not server.is_installed]
    if missing:
        print(f"left out, not installed: {', '.join(missing)}", flush=True)
    return [*(name for name in servers if name not in missing), WITHOUT]


def read_arguments(names: Sequence[str], about: str | None) -> argparse.Namespace:
    usage = "%(prog)s SERVER [--cpus LIST] [--memory] [--folder DIR] [--json FILE] [-- COMMAND …]"
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(usage=usage, description=about, formatter_class=layout)
    parser.add_argument("server", choices=names, metavar="SERVER", help=", ".join(names))
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


def serve(name: str, server: Server | None, options: argparse.Namespace) -> tuple[Report, int]:
    """Run the command at one server; return the report and the command's exit code."""
    with folder_of(name, options.folder) as folder, started(name, server, folder, options.cpus) as running:
        report = Report(name)
        with memory_read(running, report) if options.memory else nullcontext():
            code = run(options.command, running)
        if server and server.login:
            report.logins = len(re.findall(server.login, (folder / "log").read_text(errors="replace")))
        return report, code


def run(command: Sequence[str], running: Running) -> int:
    """Run the command, or wait for Ctrl+C."""
    environment = {**os.environ, "CUESTA_TARGET": running.target}
    data = ""
    if running.users.exists():
        environment["CUESTA_DATA"] = str(running.users)
        data = f" --data {running.users}"
    if command:
        signal.signal(signal.SIGINT, lambda *_: None)  # the command gets it too, and ends in its own time
        words = [word.replace("{server}", running.name) for word in command]
        return subprocess.run(words, env=environment, check=False).returncode
    print(f"{running.name} runs until Ctrl+C; its log is {running.folder}/log. Type at it with\n")
    print(f"  cuesta run PLAN --target {shlex.quote(running.target)}{data}\n", flush=True)
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
def started(name: str, server: Server | None, folder: Path, cpus: str | None) -> Iterator[Running]:
    """A server that listens, or the namespaces alone; the kernel ends its sessions with it."""
    make_account(folder)
    port, log = free_port(), folder / "log"
    command = ["setpriv", "--pdeathsig", "KILL", *(["taskset", "-c", cpus] if cpus else [])]
    command += ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    command += ["sh", "-ec", IN_NAMESPACES.format(shlex.quote(str(folder))), "sh"]
    command += server.command(folder, port) if server else IDLE
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    try:
        if server:
            wait_until(lambda: listens(port) and server.ready in log.read_bytes(), process, log)
            yield Running(name, server.target(folder, port), folder, process.pid)
        else:
            wait_until(lambda: log.stat().st_size > 0, process, log)
            yield Running(name, target_of_shell(process.pid, cpus), folder, os.getpid())
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
    """An account with a shell with the prompt `$ `, and an empty home."""
    home = folder / "homes" / ACCOUNT
    home.mkdir(parents=True)
    (folder / "etc").mkdir()
    for name in (".profile", f".{SHELL}rc"):
        (home / name).write_text(PROFILE)
    row = f"{ACCOUNT}:x:{UID}:{UID}::{HOME}:/bin/{SHELL}\n"
    (folder / "etc/passwd").write_text(row + Path("/etc/passwd").read_text())
    own_home(home)


def own_home(home: Path) -> None:
    """Make all of a home the account's."""
    for path in [home, *home.rglob("*")]:
        os.chown(path, UID, UID)
        path.chmod(0o700 if path.is_dir() else 0o600)


def target_of_shell(pid: int, cpus: str | None) -> str:
    """The account's login shell as a server starts it, in the mount namespace of a process."""
    command = ["taskset", "-c", cpus] if cpus else []
    command += ["nsenter", f"--target={pid}", "--mount", f"--wdns={HOME}"]
    command += ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    command += ["env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin", f"HOME={HOME}", f"USER={ACCOUNT}"]
    command += [f"LOGNAME={ACCOUNT}", f"SHELL=/bin/{SHELL}", "TERM=xterm-256color", f"/bin/{SHELL}", "--login"]
    return f"pty:{shlex.join(command)}"


def wait_until(ready: Callable[[], bool], server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + SLOWEST_START
    while not ready():
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.05)
        if server.returncode is not None or time.monotonic() > deadline:
            fail(f"the server does not start:\n{log.read_text()}")


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
                report.programs = {name: each for name, each in more.items() if each.bytes > 0}

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
            if running.name == WITHOUT and Path(f"/proc/{child}").stat().st_uid != UID:
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


def program(name: str) -> str:
    """The path of one of Debian's programs."""
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/cockpit")
    return path or fail(f"no {name}: ./scripts/setup --tests")


def fail(why: str) -> NoReturn:
    sys.exit(f"{Path(sys.argv[0]).name}: {why}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
