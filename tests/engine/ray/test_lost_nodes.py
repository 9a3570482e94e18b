"""Every way to lose one of three nodes: the run ends by the node's name, and its records are kept."""

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from cuesta.errors import Exit
from cuesta.ledger import Recorded, open_run
from tests.engine.ray.site import Site, commands_of, kill, open_site, wait_until
from tests.machines import Machine

pytestmark = pytest.mark.nightly


def stop_for_two_seconds(word: str) -> Callable[[Site, Machine], None]:
    def stop(site: Site, node: Machine) -> None:
        kill(word, node, signal.SIGSTOP)
        signal.sigtimedwait([], 2)
        kill(word, node, signal.SIGCONT)

    return stop


LOSSES: dict[str, tuple[Callable[[Site, Machine], None], str]] = {
    "agent": (lambda _, node: kill("agent_process", node), r"agent \d on NODE: it was killed by signal 9"),
    "raylet": (lambda _, node: kill("raylet/raylet", node), r"agent \d on NODE: it (lost its connection|said nothing)"),
    "agent stopped": (stop_for_two_seconds("agent_process"), r"agent \d on NODE: it said nothing for [12]\.\d s"),
    "node stopped": (stop_for_two_seconds(""), r"agent \d on NODE: it said nothing for [12]\.\d s"),
    "link cut": (lambda _, node: node.cut(), r"agent \d on NODE: it said nothing for [1-5]\.\d s"),
    "head": (
        lambda site, _: kill("gcs_server", site.head),
        r"agent \d on NODE: it was given up: the head of the Ray cluster has not answered",
    ),
}
ENDING = 100
"""Seconds in which Ray's own processes on a node end when its head is dead."""


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_node_ends_the_run_by_its_name_and_no_process_is_left(tmp_path: Path, loss: str) -> None:
    lose, says = LOSSES[loss]
    with open_site(tmp_path, 3) as site:
        folder, node = site.new_folder(), site.nodes[1]
        running = site.start(folder, "--measure", "500s", *site.on_nodes)
        lose(site, node)
        _, said = running.communicate(timeout=60)
        assert running.returncode == Exit.INVALID, said
        assert re.search(says.replace("NODE", re.escape(node.address)), said), said
        recorded = open_run(folder)
        check_records(recorded, node)
        wait_until(lambda: not commands_of("agent_process", *site.nodes))
        wait_until(lambda: not commands_of("NodeActor", *site.nodes), most=ENDING)
        assert not commands_of("cluster_process", site.head)


def check_records(recorded: Recorded, lost: Machine) -> None:
    """All agents have some seconds, of whole rows; those of the other nodes ended by themselves."""
    assert all(len([row for row in agent.intervals if row.length]) > 3 for agent in recorded.agents)
    assert not any("cut off" in each for each in recorded.damage)
    assert all(agent.ending for agent in recorded.agents if agent.notes.node != lost.address)
