from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.engine.count_needs import AGENT, count_needs, most_of_node
from cuesta.engine.job import prepare
from cuesta.engine.node_needs import NodeNeeds
from cuesta.plan import RawOptions, load
from tests.conftest import Write

PLAN = """
tape = "builtin:interactive"
agents = 2
data = "users.csv"
[[group]]
name = "near"
target = "pty:cat"
users = 31
[[group]]
name = "far"
target = "ssh://bastion"
users = 9
"""


def needs(here: Path, write: Write, nodes: int = 1, node: int = 0) -> NodeNeeds:
    write("users.csv", "user,password\nann,correct horse\nben,battery staple\n")
    spread = {"engine": "ray", "nodes": nodes} if nodes > 1 else {}
    return count_needs(prepare(load(RawOptions(plan=write("plan.toml", PLAN), flags=spread), here)), node)


@given(st.integers(0, 300), st.integers(1, 5), st.integers(1, 5), st.integers(0, 40))
def test_a_share_is_the_most_that_falls_to_any_node(users: int, agents: int, nodes: int, first: int) -> None:
    """A group's users follow on those of the groups before, and each next one is on the next agent."""
    total = agents * nodes
    per_agent = [sum(user % total == agent for user in range(first, first + users)) for agent in range(total)]
    per_node = max(sum(per_agent[node * agents : (node + 1) * agents]) for node in range(nodes))
    assert per_node <= most_of_node(users, agents, total) <= per_node + agents - 1


def test_a_node_wants_descriptors_for_users_who_may_be_added(here: Path, write: Write) -> None:
    write("a.tape", 'Type "a"\nEnter\n')

    def wanted(users: str) -> tuple[int, int]:
        job = prepare(load(RawOptions(tape="a.tape", flags={"users": users, "target": "pty:cat"}), here))
        of_node = count_needs(job)
        return of_node.descriptors - 64, of_node.wanted_descriptors - 64

    assert [wanted(users) for users in ("10", "300", "10,20")] == [(20, 220), (600, 1200), (40, 40)]


def test_each_node_needs_what_its_share_of_the_users_needs(here: Path, write: Write) -> None:
    one, four = needs(here, write), needs(here, write, nodes=4)
    assert (one.users, one.terminals, one.programs) == (40, 31, 31)
    assert (four.users, four.terminals, four.programs) == (10, 8, 8)
    assert one.descriptors == 20 * 2 + 64
    assert four.descriptors == 5 * 2 + 64
    assert [(each.target, each.lines) for each in one.targets] == [("pty:cat", 31), ("ssh://bastion?obscure=off", 9)]
    assert [each.lines for each in four.targets] == [8, 3]


def test_logins_are_tried_as_another_user_on_each_node(here: Path, write: Write) -> None:
    users = [needs(here, write, nodes=3, node=node).targets[1].user["user"] for node in range(3)]
    assert users == ["ann", "ben", "ben"]


@pytest.mark.parametrize(("tape", "least"), [('Type "a"', 0), ('Type "a"\nWait+Screen /a/', 40_000)])
def test_memory_counts_users_and_the_screens_of_tapes_that_look_at_one(
    here: Path, write: Write, tape: str, least: int
) -> None:
    def memory(users: int, **flags: object) -> int:
        flags = {"users": users, "target": "tcp://h:1", **flags}
        return count_needs(prepare(load(RawOptions(tape=str(write("own.tape", tape)), flags=flags), here))).memory

    assert memory(1) > AGENT
    each = (memory(1001) - memory(1)) / 1000
    assert least < each < least + 30_000
    assert memory(4, agents=2) - memory(4) == AGENT


def test_memory_of_web_terminals_counts_tls_and_compression(here: Path, write: Write) -> None:
    tape = str(write("own.tape", 'Type "a"'))

    def each(target: str) -> int:
        flags = [{"users": users, "target": target} for users in (1, 2)]
        one, two = (count_needs(prepare(load(RawOptions(tape=tape, flags=its), here))).memory for its in flags)
        return (two - one) // 1024

    plain, secure = each("gotty+ws://h/"), each("wss://h/")
    assert each("tcp://h:1") < plain < secure
    assert each("ttyd+ws://h/") - plain == each("ws://h/#deflate=on") - plain == 43
    assert each("code-server+wss://h/?deflate=off") == secure


def test_programs_need_processes_and_some_of_them_terminals(here: Path) -> None:
    def needed(target: str) -> tuple[int, int]:
        flags = {"users": 30, "target": target}
        counted = count_needs(prepare(load(RawOptions(tape="builtin:interactive", flags=flags), here)))
        return counted.programs, counted.terminals

    assert [needed(target) for target in ("pty:cat", "pipe:cat", "tcp://h:9")] == [(30, 30), (30, 0), (0, 0)]


def test_a_node_with_a_probe_needs_what_the_probe_needs(here: Path, write: Write) -> None:
    probe = '[[group]]\nname = "apart"\nrole = "probe"\ntarget = "pipe:cat"\nusers = 2\n'
    plan = write("plan.toml", f"{PLAN}{probe}".replace('data = "users.csv"\n', 'engine = "ray"\nnodes = 2\n'))
    job = prepare(load(RawOptions(plan=plan), here))
    load_node, probe_node = (count_needs(job, node) for node in range(2))
    assert (load_node.users, load_node.programs, load_node.terminals) == (40, 31, 31)
    assert (probe_node.users, probe_node.programs, probe_node.terminals) == (2, 2, 0)
    assert [each.target for each in probe_node.targets] == ["pipe:cat"]
    assert (load_node.descriptors, probe_node.descriptors) == (20 * 2 + 64, 2 * 3 + 64)
