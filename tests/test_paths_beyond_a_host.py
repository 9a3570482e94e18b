"""Keys that a host passes on to another machine: what it does itself is told, and how long the other one took."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from cuesta.ledger.run_folder import open_run
from tests.conftest import Write
from tests.daemons import SHELL, free_port, listening, needed, sshd
from tests.hosts.lines import module
from tests.own_network import own_network
from tests.path_hosts import LOOP, there_and_back
from tests.real_paths import (
    AT_PROMPT,
    PLAN,
    allow,
    assert_followed,
    find_paths,
    follow,
    join,
    list_tasks,
    select_echoed,
)
from tests.test_remote_paths import write_command

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


@pytest.mark.nightly
def test_the_other_machine_tells_its_own_part_of_the_same_keys(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    (folder := here / "host").mkdir()
    (door := here / "door").mkdir()
    with own_network(), other_machine(here) as behind, ExitStack() as hosts:
        host = hosts.enter_context(sshd(door))
        ssh = f"ssh://{host.place}?identity={door}/client&known_hosts={host.home}/.ssh/known_hosts"
        farm = f"{ssh}&command={write_command(write)}&from={NETWORK}.2"
        target = relay(folder, behind, hosts)
        joined = join(here, target, "--users", "3", meters=f"bastion=machine,farm={farm}")
    assert [each.name for each in joined] == ["bastion", "farm"]
    keys = list(zip(*(select_echoed(each) for each in joined), strict=True))
    assert keys
    missing = [(at_bastion.missing, at_farm.missing) for at_bastion, at_farm in keys if not at_farm.path]
    assert len(missing) <= allow(len(keys)), missing
    for at_bastion, at_farm in keys:
        if at_bastion.path and at_farm.path:
            beyond = sum(hop.ns for hop in at_bastion.path.hops if hop.kind == "beyond") / 1e9
            assert beyond - at_farm.path.ns / 1e9 >= 2 * DELAY
    paths = find_paths(at_farm for _, at_farm in keys)
    wrong = [each.hops for each in paths if list_tasks(each) != there_and_back("busybox", "bash")]
    assert len(wrong) <= allow(len(paths)), wrong
    times = open_run(here / "out").steps[0]
    measured = sum(times.settled <= each.followed.shown < times.end for each in paths)
    path = json.loads((here / "out.json").read_text())["steps"][-1]["echo"]["path"]
    assert path["hosts"]["farm"]["keys"] == measured
