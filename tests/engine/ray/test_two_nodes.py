"""A run on two nodes of a Ray cluster, at a host on a machine of its own; and the loss of a node."""

import os
import re
from collections.abc import Iterator

import pytest

from cuesta.errors import Exit
from cuesta.ledger import open_run
from tests.engine.due_times import due_after_start
from tests.engine.ray.site import Site, commands_of, kill, open_site, wait_until


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("site"), 2) as site:
        yield site


def test_users_on_two_nodes_do_the_same_at_the_same_times_as_on_one(site: Site) -> None:
    folders = site.new_folder(), site.new_folder()
    for folder, flags in zip(folders, ([], site.on_nodes), strict=True):
        done = site.run("run", folder, *flags)
        assert done.returncode == Exit.GOOD, done.stdout + done.stderr
    one, two = map(open_run, folders)

    assert sorted(agent.notes.node or "" for agent in two.agents) == [node.address for node in site.nodes]
    assert not any(node.run(["find", "/tmp", "-maxdepth", "1", "-name", "cuesta-*"]).stdout for node in site.nodes)
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
    running = site.start(folder, "--measure", "500s", *site.on_nodes)
    agents = commands_of("agent_process", *site.nodes)
    assert [os.getpriority(os.PRIO_PROCESS, pid) for pid in agents] == [os.getpriority(os.PRIO_PROCESS, 0)] * 2
    victim = site.nodes[0]
    kill("ray::NodeActor", victim)
    _, said = running.communicate(timeout=60)
    assert running.returncode == Exit.INVALID, said
    assert re.search(rf"agent \d on {victim.address}: it lost its connection: its Ray actor has died", said), said
    recorded = open_run(folder)
    assert all(len([row for row in agent.intervals if row.length]) > 3 for agent in recorded.agents)
    assert not any("cut off" in each for each in recorded.damage)
    wait_until(lambda: not [*commands_of("agent_process", victim), *commands_of("NodeActor", *site.nodes)])
