"""Which node is taken for odd: how often chance does it, how large a difference is found, and what is said of it."""

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from cuesta.analysis.odd_nodes import FALSE_ALARMS, NodeSample, choose_tail, compare_durations, count_equally_active

GROUP, WORK = "users", ("users", "work")


@dataclass(frozen=True)
class Loop:
    """Users on nodes, who think and wait at one server with one queue; times are seconds."""

    nodes: int = 8
    each: int = 12
    """Users of a node."""
    think: float = 10.0
    service: float = 0.1
    seconds: float = 60.0
    own_level: float = 0.0
    """Standard deviation of the logarithm of a factor that each user's responses have, all through the run."""
    odd: Callable[[float], float] = lambda response: response
    """What becomes of the responses of node 0."""


def play(rng: random.Random, loop: Loop) -> dict[str, NodeSample]:
    """The responses of a closed loop by node. Those of all users move together, as the queue does."""
    users = loop.nodes * loop.each
    levels = [rng.lognormvariate(0, loop.own_level) for _ in range(users)]
    due, free = [(rng.expovariate(1 / loop.think), user) for user in range(users)], 0.0
    heapq.heapify(due)
    found = defaultdict[int, Counter[float]](Counter)
    while due[0][0] < 2 * loop.seconds:
        sent, user = heapq.heappop(due)
        free = max(sent, free) + rng.expovariate(1 / loop.service)
        response = (free - sent) * levels[user]
        node = user % loop.nodes
        if sent > loop.seconds:
            found[node][round(loop.odd(response) if node == 0 else response, 4)] += 1
        heapq.heappush(due, (free + rng.expovariate(1 / loop.think), user))
    return {f"n{node}": NodeSample({GROUP: loop.each}, {WORK: values}) for node, values in found.items()}


def share_odd(loop: Loop, runs: int, name: str | None = None) -> float:
    """The share of runs in which a node is taken for odd: any, or that of a name alone."""
    found = ([odd.node for odd in compare_durations("response", play(random.Random(run), loop))] for run in range(runs))
    return sum(names == [name] if name else bool(names) for names in found) / runs


@pytest.mark.parametrize(("nodes", "each"), [(3, 10), (8, 12)])
def test_users_who_differ_among_themselves_make_a_node_odd_as_seldom_as_is_said(nodes: int, each: int) -> None:
    """The worst case: all values of a user are the same, so that a node has as many as users."""
    runs, found = 1500, 0
    for run in range(runs):
        rng = random.Random(run)
        levels = [Counter({rng.expovariate(10): 20 for _ in range(each)}) for _ in range(nodes)]
        samples = {f"n{node}": NodeSample({GROUP: each}, {WORK: values}) for node, values in enumerate(levels)}
        found += bool(list(compare_durations("response", samples)))
    most = FALSE_ALARMS * runs
    assert 0 < found < most + 3 * most**0.5


@pytest.mark.parametrize(("nodes", "each"), [(3, 10), (8, 12)])
def test_quick_users_who_have_most_of_the_values_make_a_node_odd_seldom(nodes: int, each: int) -> None:
    """Users without think time, whose responses differ by a factor of 2.7: taken as equals, in 2 of 5 runs."""
    runs, found = 400, 0
    for run in range(runs):
        rng = random.Random(run)
        levels = [[rng.lognormvariate(-2, 1) for _ in range(each)] for _ in range(nodes)]
        values = [Counter({level: int(30 / level) for level in own}) for own in levels]
        samples = {
            f"n{node}": NodeSample({GROUP: count_equally_active(list(own.values()))}, {WORK: own})
            for node, own in enumerate(values)
        }
        found += bool(list(compare_durations("response", samples)))
    assert found < 0.05 * runs


def test_users_are_equally_active_unless_their_transactions_differ_by_more_than_chance() -> None:
    assert count_equally_active([]) == 0
    assert count_equally_active([0, 0, 1, 1]) == 4
    assert count_equally_active([6, 4, 9, 5, 3, 8, 6, 7]) == 8
    assert count_equally_active([500, 5, 5, 5]) == 1


@pytest.mark.parametrize(
    "loop", [Loop(service=0.05), Loop(service=0.1), Loop(service=0.2), Loop(3, 10, service=0.3), Loop(own_level=0.5)]
)
def test_a_queue_near_saturation_makes_no_node_odd(loop: Loop) -> None:
    assert share_odd(loop, 60) == 0.0


@pytest.mark.parametrize(
    ("loop", "least", "most"),
    [
        (Loop(each=50, service=0.024, odd=lambda response: 3 * response), 1.0, 1.0),
        (Loop(each=50, service=0.024, odd=lambda response: response / 3), 1.0, 1.0),
        (Loop(each=50, service=0.024, odd=lambda response: 1.2 * response), 0.0, 0.0),
        (Loop(odd=lambda response: 5 * response), 0.8, 1.0),
        (Loop(3, 10, service=0.3, odd=lambda response: 5 * response), 0.6, 1.0),
    ],
)
def test_a_node_with_other_responses_is_found(loop: Loop, least: float, most: float) -> None:
    assert least <= share_odd(loop, 20, "n0") <= most


def samples(of: Callable[[int], Counter[float]], name: str = "work") -> dict[str, NodeSample]:
    return {f"n{node}": NodeSample({GROUP: 12}, {(GROUP, name): of(node)}) for node in range(8)}


def echoes(median: float, rng: random.Random) -> Counter[float]:
    return Counter(round(rng.gauss(median, 0.001), 5) for _ in range(300))


def test_another_way_to_the_host_shows_in_echoes() -> None:
    rng = random.Random(1)
    (odd,) = compare_durations("echo", samples(lambda node: echoes(0.012 if node == 3 else 0.007, rng), "keys"))
    assert (odd.node, odd.figure, odd.group, odd.transaction) == ("n3", "echo", GROUP, None)
    assert (odd.value, odd.others) == pytest.approx((0.012, 0.007), rel=0.05)


def test_a_difference_that_nobody_notices_is_none() -> None:
    rng = random.Random(1)
    tight = samples(lambda _: Counter(round(rng.gauss(0.002, 1e-5), 6) for _ in range(300)))
    slower = Counter({value + 0.0009: count for value, count in tight["n0"].values[WORK].items()})
    assert list(compare_durations("echo", tight | {"n0": NodeSample({GROUP: 12}, {WORK: slower})})) == []


def test_a_node_whose_users_do_other_work_is_not_odd() -> None:
    rng = random.Random(1)

    def mix(slow: int) -> NodeSample:
        values = {name: Counter(rng.gauss(at, at / 10) for _ in range(count)) for name, at, count in (
            ((GROUP, "quick"), 0.01, 300 - slow), ((GROUP, "slow"), 1.0, slow))}  # fmt: skip
        return NodeSample({GROUP: 12}, values)

    assert list(compare_durations("response", {f"n{node}": mix(280 if node == 0 else 20) for node in range(8)})) == []


def test_classes_that_only_two_nodes_have_are_not_compared() -> None:
    rng = random.Random(1)
    apart = samples(lambda node: echoes(0.012 if node == 3 else 0.007, rng))
    assert list(compare_durations("echo", {name: apart[name] for name in ("n3", "n4")})) == []
    empty = NodeSample({GROUP: 12}, {})
    assert list(compare_durations("echo", {**apart, **{f"n{node}": empty for node in (0, 1, 2, 5, 6, 7)}})) == []


def test_the_percentile_is_further_out_the_fewer_users_there_are() -> None:
    assert choose_tail(8, 16, 3) is None
    assert choose_tail(4, 28, 8) is None
    tails = [choose_tail(each, 7 * each, 8) or 0.0 for each in (6, 8, 12, 24, 50)]
    assert tails == sorted(tails)
    assert tails[-1] == 0.25
