"""Runs on two machines that ssh reaches, and the loss of one."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuesta.errors import Exit
from cuesta.ledger import open_run
from tests.daemons import keygen, needed
from tests.engine.due_times import due_after_start
from tests.engine.paced_rows import PLAN, TAPE
from tests.machines import Machine, machines

CUESTA = Path(sys.executable).with_name("cuesta")
SSHD = """
Port 22
Port 2222
HostKey {here}/host
PidFile none
AuthorizedKeysFile {here}/client.pub
StrictModes no
PermitRootLogin yes
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
Match LocalPort 22
  SetEnv HOME={here}/home PATH={bin}:/usr/bin:/bin
Match LocalPort 2222
  SetEnv HOME={here}/home PATH=/usr/bin:/bin
"""
"""Cuesta is found at port 22 only."""
SSH = """
Host without-cuesta
  Port 2222
  HostName {address}
  HostKeyAlias nodes
Host stranger
  HostName {address}
  HostKeyAlias nodes
  IdentityFile {here}/host
Host unknown
  HostName {address}
Host 10.*
  HostKeyAlias nodes
Host * !stranger
  IdentityFile {here}/client
Host *
  IdentitiesOnly yes
  UserKnownHostsFile {here}/known_hosts
"""


class Site:
    """The engine's machine with the built-in host, and two nodes; all see the folder `here`."""

    def __init__(self, here: Path, found: list[Machine]) -> None:
        self.here = here
        self.head, *self.nodes = found

    def command(self, out: str, *flags: str) -> list[str]:
        path = f"PATH={self.here}/bin:{os.environ['PATH']}"
        run = [str(CUESTA), "run", "plan.toml", "--out", out, "--quiet", *flags]
        return ["env", "-C", str(self.here), path, *run]

    def on_nodes(self) -> list[str]:
        return ["--engine", f"ssh:{','.join(node.address for node in self.nodes)}"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    here = tmp_path_factory.mktemp("site")
    for folder in ("home", "bin"):
        (here / folder).mkdir()
    for key in ("host", "client"):
        keygen(here / key)
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    with machines([0, 5_000, 90_000], here) as found:
        for name, text in {
            "plan.toml": PLAN,
            "row.tape": TAPE,
            "known_hosts": f"nodes {(here / 'host.pub').read_text()}",
            "sshd_config": SSHD.format(here=here, bin=CUESTA.parent),
            "ssh_config": SSH.format(here=here, address=found[1].address),
            "bin/ssh": f'#!/bin/sh\nexec {needed("ssh")} -F {here}/ssh_config "$@"\n',
        }.items():
            (here / name).write_text(text)
        (here / "bin/ssh").chmod(0o755)
        for node in found[1:]:
            assert (
                node.run([needed("sshd"), "-f", str(here / "sshd_config")]).returncode == 0
            )  # it listens, and goes on in the background
        yield Site(here, found)


def test_users_on_two_machines_do_the_same_at_the_same_times_as_on_one(site: Site) -> None:
    for name, flags in (("one", []), ("two", site.on_nodes())):
        done = site.head.run(site.command(name, *flags))
        assert done.returncode == Exit.GOOD, done.stdout + done.stderr
    one, two = (open_run(site.here / name) for name in ("one", "two"))

    assert [agent.notes.node for agent in two.agents] == [node.address for node in site.nodes]
    for agent, node in zip(two.agents, site.nodes, strict=True):
        assert agent.notes.readings
        for reading in agent.notes.readings:
            assert abs(reading.offset - node.ahead * 1_000_000_000) <= reading.error
    expected, due = due_after_start(one), due_after_start(two)
    assert sorted(due) == [0, 1, 2, 3, 4]
    for user, instants in due.items():
        assert len(instants) >= 3
        assert instants == expected[user][: len(instants)], "keys are drawn alike, and due to the nanosecond"


def test_machines_that_cannot_be_used_are_told_all_at_once(site: Site) -> None:
    done = site.head.run(site.command("none", "--engine", "ssh:without-cuesta,stranger,unknown,nowhere.invalid"))
    assert done.returncode == Exit.FAILED
    said = " ".join(done.stderr.split())
    assert re.search(r"without-cuesta: .*cuesta: not found install it there", said)
    assert re.search(r"stranger: .*Permission denied \(publickey\S* ssh must get in there without a password", said)
    assert re.search(r"unknown: .*Host key verification failed log in there once by hand", said)
    assert re.search(r"nowhere.invalid: .*Could not resolve hostname", said)
    assert not (site.here / "none").exists()


def start_long_run(site: Site, out: str) -> "subprocess.Popen[str]":
    """Start a run that lasts until it is ended, and wait until both machines have recorded."""
    command = site.command(out, "--measure", "500s", *site.on_nodes())
    running = site.head.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    records = [site.here / out / f"agent-{number}" / "series.jsonl" for number in (0, 1)]
    wait_until(lambda: all(path.exists() and path.read_text().count("\n") > 3 for path in records), running)
    return running


def check_end(site: Site, out: str, running: "subprocess.Popen[str]", why: str) -> None:
    """Check that a run is ended by the loss of the second machine, and that both have been left."""
    _, said = running.communicate(timeout=60)
    assert running.returncode == Exit.INVALID, said
    assert f"agent 1 on {site.nodes[1].address}: it {why}" in said
    recorded = open_run(site.here / out)
    assert all(len([row for row in agent.intervals if row.length]) > 3 for agent in recorded.agents)
    assert not any("cut off" in each for each in recorded.damage)
    wait_until(lambda: not [each for node in site.nodes for each in node.processes().values() if "cuesta" in each])


@pytest.mark.nightly
def test_a_run_ends_when_sessions_of_a_machine_die_and_names_it(site: Site) -> None:
    running, victim = start_long_run(site, "dies"), site.nodes[1]
    for pid, command in victim.processes().items():
        if command.startswith("sshd: root"):
            os.kill(pid, signal.SIGKILL)
    check_end(site, "dies", running, f"lost its connection: Connection to {victim.address} closed by remote host")


@pytest.mark.nightly
def test_a_machine_whose_link_is_cut_is_named_and_leaves_off_by_itself(site: Site) -> None:
    running, victim = start_long_run(site, "cut"), site.nodes[1]
    victim.cut()
    try:
        check_end(site, "cut", running, "said nothing for")
    finally:
        victim.mend()


def wait_until(has_come: Callable[[], bool], running: "subprocess.Popen[str] | None" = None) -> None:
    until = time.monotonic() + 60
    while not has_come():
        assert running is None or running.poll() is None, running.communicate() if running else ""
        assert time.monotonic() < until
        signal.sigtimedwait([], 0.1)
