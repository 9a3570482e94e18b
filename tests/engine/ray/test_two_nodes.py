"""A run on two nodes of a Ray cluster, at a host on a machine of its own; and the loss of a node."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from cuesta.errors import Exit
from cuesta.ledger import open_run
from tests.busy import BUSY
from tests.engine.due_times import due_after_start
from tests.machines import NETWORK, Machine, environment, machines, ray_cluster

CUESTA = str(Path(sys.executable).with_name("cuesta"))
PLAN = (
    f"""
tape = "row.tape"
target = "telnet://{NETWORK}.4:2323"
users = 5
stagger = "90ms"
settle = "1500ms"
measure = "2s"
line_speed = 0
load = "paced:700ms"
log_transactions = true
meters = "none"
"""
    + BUSY
)
TAPE = """
Set KeyRate 20cps
Transaction "row"
  Type "abc"
  Enter
  Wait+Bytes 20
End
"""


class Site:
    """A head where the engine is, two nodes, and a host; all see the folder `here`."""

    def __init__(self, here: Path, found: list[Machine], cluster: str) -> None:
        self.here, self.cluster = here, cluster
        self.head, *self.nodes, self.host = found

    def new_folder(self) -> Path:
        return Path(mkdtemp(dir=self.here))

    def command(self, out: Path, *flags: str) -> list[str]:
        return ["env", "-C", str(self.here), CUESTA, "run", "plan.toml", "--out", str(out), "--quiet", *flags]

    def on_nodes(self) -> list[str]:
        return ["--engine", f"ray:{self.cluster}", "--nodes", str(len(self.nodes))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    here = tmp_path_factory.mktemp("site")
    (here / "plan.toml").write_text(PLAN)
    (here / "row.tape").write_text(TAPE)
    with machines([0, 5_000, 90_000, 777], here) as found, ray_cluster(found[0], found[1:3]) as cluster:
        host = found[3]
        listen = ["host", "--listen", f"telnet://{host.address}:2323", "--allow", f"{NETWORK}.0/24"]
        with host.start([CUESTA, *listen, "--service", "transaction 20"], stdout=subprocess.PIPE) as listening:
            assert listening.stdout
            assert listening.stdout.readline()
            try:
                yield Site(here, found, cluster)
            finally:
                host.end()


def test_users_on_two_nodes_do_the_same_at_the_same_times_as_on_one(site: Site) -> None:
    folders = site.new_folder(), site.new_folder()
    for folder, flags in zip(folders, ([], site.on_nodes()), strict=True):
        done = site.head.run(site.command(folder, *flags), env=environment())
        assert done.returncode == Exit.GOOD, done.stdout + done.stderr
    one, two = map(open_run, folders)

    assert sorted(agent.notes.node or "" for agent in two.agents) == [node.address for node in site.nodes]
    ahead = {node.address: node.ahead for node in site.nodes}
    for agent in two.agents:
        assert agent.notes.clock != one.agents[0].notes.clock
        for reading in agent.notes.readings:
            assert abs(reading.offset - ahead[agent.notes.node or ""] * 1_000_000_000) <= reading.error
    expected, due = due_after_start(one), due_after_start(two)
    assert sorted(due) == [0, 1, 2, 3, 4]
    for user, instants in due.items():
        assert len(instants) >= 3
        assert instants == expected[user][: len(instants)], "keys are drawn alike, and due to the nanosecond"


def test_a_run_ends_when_an_actor_dies_and_names_its_node(site: Site) -> None:
    folder = site.new_folder()
    command = site.command(folder, "--measure", "500s", *site.on_nodes())
    running = site.head.start(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    victim, other = site.nodes
    records = [folder / f"agent-{number}" / "series.jsonl" for number in (0, 1)]
    wait_until(lambda: all(path.exists() and path.read_text().count("\n") > 3 for path in records), running)
    agents = [pid for node in site.nodes for pid, command in node.processes().items() if "agent_process" in command]
    assert [os.getpriority(os.PRIO_PROCESS, pid) for pid in agents] == [os.getpriority(os.PRIO_PROCESS, 0)] * 2
    os.kill(next(pid for pid, command in victim.processes().items() if command.startswith("ray::NodeActor")), 9)
    _, said = running.communicate(timeout=60)
    assert running.returncode == Exit.INVALID, said
    assert re.search(rf"agent \d on {victim.address}: it lost its connection: its Ray actor has died", said)
    recorded = open_run(folder)
    assert all(len([row for row in agent.intervals if row.length]) > 3 for agent in recorded.agents)
    assert not any("cut off" in each for each in recorded.damage)
    wait_until(lambda: not [*commands_of("cuesta", victim), *commands_of("NodeActor", victim, other)])


def commands_of(word: str, *nodes: Machine) -> list[str]:
    return [command for node in nodes for command in node.processes().values() if word in command]


def wait_until(has_come: Callable[[], bool], running: "subprocess.Popen[str] | None" = None) -> None:
    until = time.monotonic() + 60
    while not has_come():
        assert running is None or running.poll() is None, running.communicate() if running else ""
        assert time.monotonic() < until
        signal.sigtimedwait([], 0.1)
