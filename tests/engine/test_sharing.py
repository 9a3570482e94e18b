"""Which agents play which group, and on which node each agent is."""

from pathlib import Path

import pytest

from cuesta.engine.count_needs import count_needs
from cuesta.engine.job import prepare
from cuesta.engine.plan_warnings import list_warnings
from cuesta.engine.sharing import Sharing, share_groups
from cuesta.errors import InputError
from cuesta.plan import Plan, RawOptions, load
from tests.conftest import Write

GROUPS = """
[[group]]
name = "first"
users = 5
[[group]]
name = "near"
role = "probe"
users = 3
[[group]]
name = "second"
users = 4
[[group]]
name = "far"
role = "probe"
users = 3
nodes = 2
"""


def plan_of(here: Path, write: Write, top: str, groups: str = GROUPS) -> Plan:
    return load(RawOptions(plan=write("plan.toml", f"{top}\n{groups}")), here)


def shared(here: Path, write: Write, top: str) -> Sharing:
    return share_groups(plan_of(here, write, top).settings)


def test_probes_follow_the_agents_of_the_load_on_the_last_nodes(here: Path, write: Write) -> None:
    sharing = shared(here, write, 'engine = "ray"\nnodes = 5\nagents = 2')
    assert sharing.nodes == (0, 0, 1, 1, 2, 3, 4)
    assert sharing.players == (range(4), range(4, 5), range(4), range(5, 7))
    assert sharing.count_users((5, 3, 4, 3)) == [3, 2, 2, 2, 3, 2, 1]


@pytest.mark.parametrize(
    ("nodes", "where"),
    [(1, (0, 0, 0, 0)), (2, (0, 1, 1, 1)), (3, (0, 1, 1, 2)), (4, (0, 1, 2, 3)), (5, (0, 1, 2, 3, 4))],
)
def test_probes_share_the_last_of_too_few_nodes(nodes: int, where: tuple[int, ...], here: Path, write: Write) -> None:
    assert shared(here, write, f'engine = "ray"\nnodes = {nodes}').nodes == where


def test_without_probes_all_agents_play_all_groups(here: Path, write: Write) -> None:
    groups = '[[group]]\nname = "a"\nusers = 2\n[[group]]\nname = "b"\nusers = 3'
    sharing = share_groups(plan_of(here, write, "agents = 3", groups).settings)
    assert (sharing.agents, sharing.players) == (3, (range(3), range(3)))
    assert sharing.count_users((2, 3)) == [2, 2, 1]


def test_each_agent_needs_a_user_of_its_own_groups(here: Path, write: Write) -> None:
    prepare(plan_of(here, write, "agents = 9"))
    with pytest.raises(InputError, match="10 agents cannot share 9 users") as raised:
        prepare(plan_of(here, write, "agents = 10"))
    assert raised.value.remedy == "--agents 9 is the most here"
    for engine, remedy in (
        ('"ray:auto"\nnodes = 13', "--nodes 12 is the most"),
        ('"ssh:a,b,c,d,e,f,g,h,i,j,k,l,m"', "name 12 machines at most"),
    ):
        with pytest.raises(InputError, match="10 agents cannot share 9 users") as raised:
            prepare(plan_of(here, write, f"engine = {engine}"))
        assert raised.value.remedy == remedy
    with pytest.raises(InputError, match="group far: 4 nodes cannot share 3 users"):
        prepare(plan_of(here, write, "", GROUPS.replace("nodes = 2", "nodes = 4")))


def test_a_probe_that_shares_a_node_is_told_before_the_run(here: Path, write: Write) -> None:
    def warned(nodes: int, engine: str = "ray:auto") -> list[str]:
        job = prepare(plan_of(here, write, f'settle = "1m"\nengine = "{engine}"\nnodes = {nodes}'))
        return [warning for warning in list_warnings(job) if "probe" in warning]

    assert [text.partition(":")[0] for text in warned(1)] == ["near"]
    assert "shares a machine with the load" in warned(1)[0]
    assert warned(3) == ["near: 3 probes share 2 nodes: --nodes 4 gives each one of its own"]
    assert warned(4) == []
    assert "shares a machine with the load" in warned(4, "ray")[0], "that cluster is started on this machine"


def test_groups_that_only_steps_have_are_shared_too(here: Path, write: Write) -> None:
    """A sweep of `sessions` divides the group in each step, not in the plan."""
    plan = load(RawOptions(tape="typing", flags={"target": "pty:sh", "sessions": "1,8"}), here)
    assert len(plan.settings.group) == 1
    assert count_needs(prepare(plan)).users == 8
