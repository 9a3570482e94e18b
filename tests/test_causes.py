"""Causes by name, at real hosts that run out of something. What cannot be made here: analysis/test_diagnosis.py."""

import json
import re
import select
import socket
import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.ledger.rows import json_rows
from tests.at_a_shell import PLAN, TAPE
from tests.conftest import Write
from tests.control_groups import control_group
from tests.daemons import AT_A_SHELL, Host, busybox, free_port, keygen, listening, sshd, telnetd
from tests.enough import ended_when
from tests.own_network import own_network

MANY = "MaxStartups 100"
AT_ONCE = PLAN.replace("users = 5", "users = 6").replace('"50ms"', '"0s"').replace('settle = "1s"', "settle = 0")
TWO_TERMINALS = "mount -t devpts -o newinstance,ptmxmode=0666,max=2 devpts /dev/pts"
"""Only with a device of its own: /dev/ptmx of a machine is that of the first devpts."""
OWN_PTMX = f"{TWO_TERMINALS}\nmount --bind /dev/pts/ptmx /dev/ptmx"
JOE = """\
cp -a /etc {folder}/etc
mount --bind {folder}/etc /etc
echo joe:x:7777:7777::/tmp:/bin/sh >>/etc/passwd
echo 'joe:*:19000::::::' >>/etc/shadow
cp {folder}/client.pub /etc/joe.pub
"""
"""A user without privileges, whom every process of the daemon knows."""
AS_JOE = "Match User joe\n  AuthorizedKeysFile /etc/joe.pub"
"""Behind all settings for everyone."""


def as_joe(host: Host) -> str:
    """The target of that user."""
    return host.target.replace(host.place, f"joe@127.0.0.1:{host.port}")


Causes = dict[str, dict[str, Any]]


@pytest.fixture
def serve(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Host]]:
    """A function that starts sshd with settings; its home folder becomes ours."""
    with ExitStack() as running:

        def start(*settings: str, before: str = "", metered: bool = False) -> Host:
            host = running.enter_context(sshd(here, *settings, AT_A_SHELL, before=before, metered=metered))
            monkeypatch.setenv("HOME", str(host.home))
            monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
            return host

        yield start


@pytest.fixture
def causes_at(
    write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Causes]:
    """A function that lets users log in at once until something has failed often enough: the causes by name."""
    write("shell.tape", TAPE)
    write("plan.toml", AT_ONCE)
    # Where every login fails, the check before a run says so, and there is no run.
    monkeypatch.setattr("cuesta.engine.local.target_check.probe", lambda *_: None)

    def go(target: str, *more: str, failure: str = "", times: int = 1, lines: int = 0) -> Causes:
        def has_seen_enough(out: Path) -> bool:
            return (
                count_failures(out, failure) >= times * bool(failure) and opened(out) >= lines and is_metered(out, more)
            )

        with ended_when(has_seen_enough):
            main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-", *more])
        summary = json.loads(capsys.readouterr().out)
        return {cause["name"]: cause for cause in summary["causes"]}

    return go


def count_failures(out: Path, name: str) -> int:
    """How often something failed so far, while users log in too."""
    rows = (row for file in out.glob("agent-*/series.jsonl") for row in json_rows(file, dict[str, Any], []))
    return sum(row["errors"].get(name, 0) for row in rows)


def opened(out: Path) -> int:
    """How many users have a line."""
    rows = (row for file in out.glob("agent-*/series.jsonl") for row in json_rows(file, dict[str, Any], []))
    return max((row["users"] for row in rows), default=0)


def is_metered(out: Path, flags: tuple[str, ...]) -> bool:
    """Whether meters, if there are any, have written a row."""
    if "--meters" not in flags or "none" in flags:
        return True
    file = out / "meters.jsonl"
    return file.exists() and any("row" in row for row in json_rows(file, dict[str, Any], []))


def test_max_startups_is_named_with_its_three_numbers(serve: Any, causes_at: Any) -> None:
    host = serve("MaxStartups 2:100:4", metered=True)
    causes = causes_at(host.target, "--meters", f"pid:{host.pid}", failure="max-startups")
    assert set(causes) == {"MaxStartups"}
    assert causes["MaxStartups"]["certain"]
    assert 'with "Exceeded MaxStartups" in place of a banner; it is 2:100:4' in causes["MaxStartups"]["evidence"]


def test_a_host_that_is_not_metered_is_recognized_by_its_text(serve: Any, causes_at: Any) -> None:
    causes = causes_at(serve("MaxStartups 2:100:4").target, "--meters", "none", failure="max-startups")
    assert causes["MaxStartups"]["certain"]
    assert causes["MaxStartups"]["evidence"].endswith("in place of a banner")


def test_a_host_without_sessions_is_recognized(serve: Any, causes_at: Any) -> None:
    causes = causes_at(serve(MANY, "MaxSessions 0").target, failure="channel")
    assert set(causes) == {"MaxSessions"}
    assert causes["MaxSessions"]["certain"]


def test_a_host_that_has_no_terminal_left_shows_how_many_there_may_be(serve: Any, causes_at: Any) -> None:
    host = serve(MANY, before=OWN_PTMX, metered=True)
    causes = causes_at(host.target, "--meters", f"pid:{host.pid}", failure="no-pty")
    assert set(causes) == {"pty limit"}
    assert causes["pty limit"]["certain"]
    assert "2 of 2 pseudo-terminals were in use" in causes["pty limit"]["evidence"]


def test_without_meters_refused_terminals_may_be_the_limit(serve: Any, causes_at: Any) -> None:
    causes = causes_at(serve(MANY, before=OWN_PTMX).target, "--meters", "none", failure="no-pty")
    assert (set(causes), causes["pty limit"]["certain"]) == ({"pty limit"}, False)


def test_a_telnetd_that_ends_without_terminals_may_be_a_service_that_ended(here: Path, causes_at: Any) -> None:
    with telnetd(busybox, here, before=OWN_PTMX) as port:
        causes = causes_at(f"telnet://127.0.0.1:{port}", failure="refused")
    assert not causes["start limit"]["certain"]
    assert "refused after others were taken: the service has ended" in causes["start limit"]["evidence"]


def test_a_user_of_few_processes_gets_a_terminal_and_no_shell(serve: Any, causes_at: Any, here: Path) -> None:
    limited = f"{JOE.format(folder=here)}prlimit --pid $$ --nproc=1"
    host = serve(MANY, AS_JOE, before=limited)
    causes = causes_at(as_joe(host), failure="no-shell")
    assert set(causes) == {"nproc"}
    assert "got a terminal and no shell" in causes["nproc"]["evidence"]


def test_a_nologin_file_is_named(serve: Any, causes_at: Any, here: Path) -> None:
    host = serve(MANY, AS_JOE, before=f"{JOE.format(folder=here)}touch /etc/nologin")
    causes = causes_at(as_joe(host), failure="exited-at-start")
    assert causes["nologin"]["certain"]
    assert "nologin" in causes["nologin"]["evidence"]


SILENT_RESOLVER = """\
sed -i 's/UseDNS no/UseDNS yes/' {folder}/sshd_config
echo nameserver 127.0.0.2 >{folder}/resolv.conf
echo options attempts:1 >>{folder}/resolv.conf
mount --bind {folder}/resolv.conf /etc/resolv.conf
mount --bind /dev/null /etc/hosts
"""


@contextmanager
def silent_resolver() -> Iterator[None]:
    """A name server that answers nothing."""
    with own_network(), closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as server:
        server.bind(("127.0.0.2", 53))
        yield


def test_logins_that_take_longer_than_their_grace_time_are_told_apart(serve: Any, causes_at: Any, here: Path) -> None:
    with silent_resolver():
        host = serve(MANY, "LoginGraceTime 2", before=SILENT_RESOLVER.format(folder=here))
        metered = causes_at(host.target, failure="hung-up", times=6)["LoginGraceTime"]
        assert metered["certain"]
        assert metered["evidence"].endswith("after its begin; it is 2.00 s")
        unknown = causes_at(host.target, "--meters", "none", "--out", "again", failure="hung-up", times=6)
    assert not unknown["LoginGraceTime"]["certain"]


@pytest.mark.nightly
def test_a_resolver_that_does_not_answer_is_named(serve: Any, causes_at: Any, here: Path) -> None:
    with silent_resolver():
        host = serve(MANY, before=SILENT_RESOLVER.format(folder=here))
        causes = causes_at(host.target, lines=6)
    assert causes["reverse DNS"]["certain"]
    assert "while the host waited for name servers" in causes["reverse DNS"]["evidence"]


def test_a_listener_that_does_not_accept_is_named(causes_at: Any) -> None:
    with own_network(), closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        accepting = threading.Thread(target=accept_when_full, args=(listener,))
        accepting.start()
        causes = causes_at(f"telnet://127.0.0.1:{listener.getsockname()[1]}", lines=6)
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
    assert causes["full accept queue"]["certain"]
    assert (
        "took 1, 3 or 7 s: SYNs were repeated, and the host's accept queues were full"
        in (causes["full accept queue"]["evidence"])
    )


def accept_when_full(listener: socket.socket) -> None:
    """Accept connections once some have been dropped, and let each say its prompt."""
    while not count_overflows():
        select.select([], [], [], 0.01)
    lines = list[socket.socket]()
    with suppress(OSError):
        while True:
            line, _ = listener.accept()
            line.sendall(b"$ ")
            lines.append(line)
    for line in lines:
        line.close()


def count_overflows() -> int:
    """How often an accept queue of this thread's network was full."""
    names, numbers = Path("/proc/thread-self/net/netstat").read_text().splitlines()[:2]
    return int(dict(zip(names.split(), numbers.split(), strict=True))["ListenOverflows"])


def test_a_full_disk_is_named(serve: Any, causes_at: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_causes.AT_A_SHELL", f"ForceCommand head -c 1M /dev/zero >{here}/full/file")
    host = serve(MANY, before=f"mkdir {here}/full\nmount -t tmpfs -o size=64k tmpfs {here}/full")
    causes = causes_at(host.target, failure="exited-at-start")
    assert causes["disk full"]["certain"]
    assert 'the host said "No space left on device"' in causes["disk full"]["evidence"]


def test_a_limit_of_open_files_is_named(causes_at: Any) -> None:
    opens = "python3 -c 'files = [open(\"/dev/null\") for _ in range(99)]'"
    causes = causes_at(f"pty:prlimit --nofile=40 {opens}", failure="exited-at-start")
    assert causes["file limit"]["certain"]


def test_a_cpu_quota_is_named(causes_at: Any) -> None:
    with control_group("cpu", cpu__cfs_quota_us="20000", cpu__cfs_period_us="100000") as group:
        busy = f'sh -c \'echo $$ >{group}/cgroup.procs; PS1="$ " exec sh -c "while :; do :; done"\''
        causes = causes_at(f"pty:{busy}", "--meters", f"cgroup:/{group.name}", lines=1)
    assert causes["CPU quota"]["certain"]
    assert causes["CPU quota"]["evidence"].startswith("its quota of 0.20 CPUs kept the host from running for ")


def test_a_process_that_is_killed_for_want_of_memory_is_told_of(causes_at: Any) -> None:
    with control_group("memory", memory__limit_in_bytes="4M") as group, control_group("cpu", name=group.name) as cpu:
        join = f"for each in {group} {cpu}; do echo $$ >$each/cgroup.procs; done"
        target = f"pty:sh -c '{join}; head -c 1G /dev/zero | tail'"
        causes = causes_at(target, "--meters", f"cgroup:/{group.name}", failure="exited-at-start")
    assert causes["OOM kill"]["certain"]
    assert re.match(r"the kernel killed (a process|\d+ processes) for want of memory", causes["OOM kill"]["evidence"])


def test_an_address_with_a_penalty_is_told_apart(causes_at: Any) -> None:
    """OpenSSH 9.2 has no penalties: a listener sends what 9.8 does (sshd.c, `drop_connection`)."""
    with own_network(), socketserver.ThreadingTCPServer(("127.0.0.1", 0), Penalty) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        causes = causes_at(f"ssh://joe@127.0.0.1:{server.server_address[1]}?agent=off", failure="max-startups")
        server.shutdown()
        serving.join()
    assert set(causes) == {"PerSourcePenalties"}
    assert causes["PerSourcePenalties"]["certain"]


class Penalty(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"Not allowed at this time\r\n")


def test_dropbear_ends_the_sixth_login_of_an_address_without_a_word(
    here: Path, causes_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".ssh").mkdir()
    keygen(here / "client")
    subprocess.run(["dropbearkey", "-t", "ed25519", "-f", here / "host"], check=True, capture_output=True)
    (here / ".ssh/authorized_keys").write_text((here / "client.pub").read_text())
    root = f"root:x:0:0::{here}:/bin/bash"
    home = f"cp -a /etc {here}/etc\nmount --bind {here}/etc /etc\nsed -i 's|^root.*|{root}|' /etc/passwd"
    port = free_port()
    with listening(["dropbear", "-F", "-E", "-p", f"127.0.0.1:{port}", "-r", f"{here}/host"], port, here, before=home):
        target = f"ssh://root@127.0.0.1:{port}?agent=off&identity={here}/client&known_hosts=accept-new"
        monkeypatch.setenv("HOME", str(here))
        causes = causes_at(target, "--users", "40", failure="max-startups", lines=1)
    assert not causes["limit of logins under way"]["certain"]
