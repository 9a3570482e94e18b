"""Finds nodes whose figures differ from those of the others, which play the same groups at the same host meanwhile.

For each figure a node is held against all others together. It is odd if more than half of its values lie above (or
below) a percentile of the others' values of the same class, and its median differs by 1 ms and a tenth at least.
Classes are not mixed, so that a node whose users happen to do other work is not odd. What all nodes share, such as
queues of the host, moves all of them. Users who fail are compared by Fisher's exact test.

The percentile depends on the number of users, not of values, as those of one user may be alike: it is so far out that
chance takes a node for odd in at most FALSE_ALARMS of the steps even if each user's values were all the same, and users
alike in nothing else. (A node's users are then a random choice of all users: a hypergeometric tail.) With 50 users a
node or more it is the quartile. It needs 9 users on each of 3 nodes, or 5 on each of 8. Users of whom some do far more
than others count as fewer: else one whose host answers at once could have half of a node's values.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import comb, exp, lgamma
from statistics import median_low
from typing import TYPE_CHECKING, Self

from cuesta.figures.driver import OddNode
from cuesta.ledger import Tag
from cuesta.records.rows import UserRow
from cuesta.records.series import KEYS

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords

FALSE_ALARMS = 0.02
"""Largest share of steps in which chance takes any node for odd, for each figure."""
FEWEST_NODES = 3
"""Of two nodes that differ, it cannot be told which one is odd."""
LEAST, LEAST_SHARE = 1e-3, 0.1
"""Seconds, and share of the others' median, by which a node's median differs at least."""
FURTHEST_IN = 0.25
"""Largest share of the others' values beyond the percentile."""
MOST_USERS, MOST_OTHERS = 100, 1000
"""Users that are counted: more move the percentile no further."""
DURATIONS = ("lateness", "echo", "first_response", "response")
CPU_PER_KEY, FAILING_USERS = "cpu_per_key", "failing_users"
COSTLIER = 1.5
"""A node is odd if the CPU time of its keys differs by this factor from that of every other node."""
ENOUGH_KEYS = 1000
"""Fewest keys of a node whose CPU time per key is compared."""

Class = tuple[str, str]
"""A group, and the name of a transaction, or `keys`."""
Buckets = Mapping[float, int]
"""How often each value in seconds was found."""


@dataclass(frozen=True, slots=True)
class NodeSample:
    """A figure's values on one node."""

    users: Mapping[str, int]
    """The number of users who were at work, by group; of equally active ones, if some did far more than others."""
    values: Mapping[Class, Buckets]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Values, rising, and how many there are below each and in all."""

    values: Sequence[float]
    sums: Sequence[int]

    @classmethod
    def rank(cls, parts: Iterable[Buckets]) -> Self:
        """Add values up."""
        total = Counter[float]()
        for part in parts:
            total.update(part)
        values = sorted(total)
        return cls(values, list(accumulate((total[value] for value in values), initial=0)))

    @property
    def count(self) -> int:
        return self.sums[-1]

    def below(self, value: float) -> int:
        return self.sums[bisect_left(self.values, value)]

    def up_to(self, value: float) -> int:
        return self.sums[bisect_right(self.values, value)]


NO_VALUES = Ranked([], [0])


def find_odd_nodes(records: "StepRecords") -> list[OddNode]:
    """Compare the nodes of a step; empty with fewer than three."""
    nodes = defaultdict[str, list[int]](list)
    for number, agent in records.agents.items():
        if agent.notes.node:
            nodes[agent.notes.node].append(number)
    if len(nodes) < FEWEST_NODES:
        return []
    found = [odd for figure in DURATIONS for odd in compare_durations(figure, sample_nodes(records, nodes, figure))]
    return [*compare_failures(records, nodes), *found, *compare_costs(records, nodes)]


def sample_nodes(records: "StepRecords", nodes: Mapping[str, Sequence[int]], figure: str) -> dict[str, NodeSample]:
    """Gather the values of a figure by node and class."""
    values = {node: defaultdict[Class, Counter[float]](Counter) for node in nodes}
    node_of = {agent: node for node, agents in nodes.items() for agent in agents}
    for (agent, tag), histogram in records.measured.items():
        if agent in node_of and has_figure(tag, figure):
            values[node_of[agent]][tag.group, tag.source].update(dict(histogram.buckets()))
    return {node: NodeSample(count_active(records, agents), values[node]) for node, agents in nodes.items()}


def has_figure(tag: Tag, figure: str) -> bool:
    return tag.series == figure and (tag.source == KEYS) == (figure in ("lateness", "echo"))


def count_users(records: "StepRecords", agents: Sequence[int]) -> Counter[str]:
    """Count the users of some agents who were at work, by group."""
    return Counter(row.group for agent in agents for row in records.users_of(agent) if row.at_work)


def count_active(records: "StepRecords", agents: Sequence[int]) -> dict[str, int]:
    """Count equally active users who would be as many as those of some agents, by group."""
    transactions = defaultdict[str, list[int]](list)
    for row in (row for agent in agents for row in records.users_of(agent) if row.at_work):
        transactions[row.group].append(row.transactions)
    return {group: count_equally_active(each) for group, each in transactions.items()}


def count_equally_active(transactions: Sequence[int]) -> int:
    """Kish's effective number of users, whose transactions are their weights. Chance differences do not lower it."""
    total = sum(transactions)
    squares = sum(each**2 for each in transactions) - total  # a Poisson count's variance is its mean
    return int(min(total**2 / squares, len(transactions))) if squares else len(transactions)


def compare_durations(figure: str, nodes: Mapping[str, NodeSample]) -> Iterator[OddNode]:
    """Yield the nodes of which a figure is odd, each by the class in which most values are."""
    classes = {name for sample in nodes.values() for name in sample.values}
    shared = [name for name in classes if sum(name in sample.values for sample in nodes.values()) >= FEWEST_NODES]
    totals = {name: Ranked.rank(sample.values.get(name, {}) for sample in nodes.values()) for name in shared}
    for node, sample in nodes.items():
        own = {name: Ranked.rank([values]) for name, values in sample.values.items() if name in totals}
        users, others = count_compared(node, nodes, {group for group, _ in own})
        count = sum(ranked.count for ranked in own.values())
        if not (tail := choose_tail(min(users, count, MOST_USERS), min(others, MOST_OTHERS), len(nodes))):
            continue
        compared = [compare_class(name, ranked, totals[name], tail) for name, ranked in own.items()]
        if worst := find_worst(compared):
            group, source = worst.name
            transaction = None if source == KEYS else source
            yield OddNode(node, figure, group, transaction, worst.median, worst.others)


def count_compared(node: str, nodes: Mapping[str, NodeSample], groups: Collection[str]) -> tuple[int, int]:
    """Count the users of some groups on a node, and on the others."""
    users = {name: sum(sample.users.get(group, 0) for group in groups) for name, sample in nodes.items()}
    return users[node], sum(users.values()) - users[node]


@dataclass(frozen=True, slots=True)
class ComparedClass:
    """A node's values of a class beside those of the others."""

    name: Class
    count: int
    above: int
    """How many of them are above the others' upper percentile."""
    below: int
    median: float
    others: float
    """The others' median."""

    @property
    def matters(self) -> bool:
        return abs(self.median - self.others) >= max(LEAST, LEAST_SHARE * self.others)


def compare_class(name: Class, own: Ranked, all_nodes: Ranked, tail: float) -> ComparedClass:
    """Compare a node's values with those of all nodes without them."""
    low, middle, high = (find_quantile(all_nodes, own, share) for share in (tail, 0.5, 1 - tail))
    above = own.count - own.up_to(high)
    return ComparedClass(name, own.count, above, own.below(low), find_quantile(own, NO_VALUES, 0.5), middle)


def find_worst(classes: Sequence[ComparedClass]) -> ComparedClass | None:
    """The class with the most values beyond the percentile, if over half are in all classes together; else None."""
    half = sum(each.count for each in classes) / 2
    for side in ("above", "below"):
        beyond = [getattr(each, side) for each in classes]
        if sum(beyond) > half:
            worst = classes[beyond.index(max(beyond))]
            return worst if worst.matters else None
    return None


def find_quantile(ranked: Ranked, without: Ranked, share: float) -> float:
    """The least value that at least this share of the values, without some of them, does not exceed."""
    wanted = share * (ranked.count - without.count)
    found = bisect_left(ranked.values, wanted, key=lambda value: ranked.up_to(value) - without.up_to(value))
    return ranked.values[min(found, len(ranked.values) - 1)]


@lru_cache(maxsize=1024)
def choose_tail(own: int, others: int, nodes: int) -> float | None:
    """The largest share of the others' values for a percentile beyond which chance seldom puts half of a node's users.

    None if there are too few users for any.
    """
    rank = 0
    while rank < FURTHEST_IN * others and 2 * nodes * chance_beyond(own, others, rank + 1) <= FALSE_ALARMS:
        rank += 1
    return (rank - 0.5) / others if rank else None


def chance_beyond(own: int, others: int, rank: int) -> float:
    """The chance that half of `own` users are above the others' user of that rank from above, if all are alike."""
    half = (own + 1) // 2
    highest = half + rank - 1
    ways = sum(comb(own, many) * comb(others, highest - many) for many in range(half, min(own, highest) + 1))
    return ways / comb(own + others, highest) if highest <= own + others else 1.0


def compare_failures(records: "StepRecords", nodes: Mapping[str, Sequence[int]]) -> Iterator[OddNode]:
    """Yield the nodes with more failing users than chance explains, among groups that at least three nodes play."""
    users = {node: [row for agent in agents for row in records.users_of(agent)] for node, agents in nodes.items()}
    on_nodes = Counter(group for rows in users.values() for group in {row.group for row in rows})
    compared = {
        node: [is_failing(row) for row in rows if on_nodes[row.group] >= FEWEST_NODES] for node, rows in users.items()
    }
    count, failing = (sum(map(function, compared.values())) for function in (len, sum))
    for node, own in compared.items():
        others = count - len(own)
        if not own or not others:
            continue
        share, of_others = sum(own) / len(own), (failing - sum(own)) / others
        if share < of_others + LEAST_SHARE:
            continue
        if chance_of_more(sum(own), len(own), others, failing) <= FALSE_ALARMS / len(nodes):
            yield OddNode(node, FAILING_USERS, None, None, share, of_others)


def is_failing(user: UserRow) -> bool:
    """Whether it lost its line, gave a wait up, or had no answer."""
    return bool(user.lost or user.gave_up or user.unanswered)


def chance_of_more(found: int, own: int, others: int, failing: int) -> float:
    """The chance that at least `found` of `own` users fail, if `failing` of all do: Fisher's exact test, one side."""
    counts = range(max(found, failing - others), min(own, failing) + 1)
    ways = (log_ways(own, many) + log_ways(others, failing - many) for many in counts)
    return sum(exp(each - log_ways(own + others, failing)) for each in ways)


def log_ways(all_of: int, chosen: int) -> float:
    """The logarithm of the number of ways to choose some of several."""
    return lgamma(all_of + 1) - lgamma(chosen + 1) - lgamma(all_of - chosen + 1)


def compare_costs(records: "StepRecords", nodes: Mapping[str, Sequence[int]]) -> Iterator[OddNode]:
    """Yield the nodes whose CPU time per key is far from that of each other with as many users of each group."""
    users = {node: count_users(records, agents) for node, agents in nodes.items()}
    usual = {group: median_low(own[group] for own in users.values()) for own in users.values() for group in own}
    alike = [node for node, own in users.items() if all(abs(own[group] - usual[group]) <= 1 for group in usual)]
    costs = {node: cost for node in alike if (cost := cost_of_key(records, nodes[node]))}
    for node, cost in costs.items() if len(costs) >= FEWEST_NODES else ():
        others = sorted(other for name, other in costs.items() if name != node)
        if not others[0] / COSTLIER < cost < others[-1] * COSTLIER:
            yield OddNode(node, CPU_PER_KEY, None, None, cost, median_low(others))


def cost_of_key(records: "StepRecords", agents: Sequence[int]) -> float | None:
    """The CPU time per key of some agents, without waiting awake; None of few keys."""
    rows = [row for agent in agents for row in records.by_agent[agent] if row.measured]
    keys = sum(row.keys for row in rows)
    return sum(row.cpu - row.spun for row in rows) / keys if keys >= ENOUGH_KEYS else None
