"""Keys that a host passes on to another machine: what it does itself is told, and how long the other one took."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.conftest import Write
from tests.daemons import SHELL, free_port, listening, needed, sshd
from tests.hosts.lines import module
from tests.own_network import own_network
from tests.path_hosts import LOOP, there_and_back
from tests.real_paths import AT_PROMPT, PLAN, allow, assert_followed, follow

NETWORK = "198.18.7"
DELAY = 0.09
"""Seconds each way: a key is typed before the one before it is answered."""


@contextmanager
def other_machine(folder: Path) -> Iterator[str]:
    """Start a telnet daemon; yields its address and port as another machine's."""
    mirror = [*module("mirror"), NETWORK, str(DELAY)]
    shell, port = folder / "shell", free_port()
    shell.write_text(SHELL)
    shell.chmod(0o755)
    daemon = ["busybox", "telnetd", "-F", "-p", str(port), "-l", str(shell)]
    with listening(daemon, port, folder), subprocess.Popen(mirror, stdout=subprocess.PIPE) as started:
        try:
            assert started.stdout
            assert started.stdout.readline() == b"ready\n"
            yield f"{NETWORK}.2:{port}"
        finally:
            started.kill()


def relay(folder: Path, behind: str, hosts: ExitStack) -> str:
    port = free_port()
    hosts.enter_context(listening([*module("event_loop"), str(port), behind], port, folder))
    return f"telnet://127.0.0.1:{port}"


def bastion(folder: Path, behind: str, hosts: ExitStack) -> str:
    client = f"{needed('busybox')} telnet {behind.replace(':', ' ')}"
    return hosts.enter_context(sshd(folder, f"ForceCommand {client}")).target


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("serve", "tasks"),
    [(relay, (LOOP,)), (bastion, there_and_back("sshd", "busybox"))],
)
def test_what_a_host_waits_for_on_another_machine_is_told(
    serve: Callable[[Path, str, ExitStack], str], tasks: tuple[str, ...], here: Path, write: Write
) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    (folder := here / "host").mkdir()
    with own_network(), other_machine(here) as behind, ExitStack() as hosts:
        keys = follow(here, serve(folder, behind, hosts), "--users", "3")
    paths = assert_followed(keys, [tasks], 40)
    beyond = [sum(hop.ns for hop in key.hops if hop.kind == "beyond" and hop.other == behind) / 1e9 for key in paths]
    early = [took for took in beyond if took < 2 * DELAY]
    assert len(early) <= allow(len(paths)), early
