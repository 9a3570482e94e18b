"""Which agents a run has, on which nodes, and which of them play which group.

The agents of the load come first: they share the users of all its groups. Then each node that holds a probe has one
agent for it, which plays nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from cuesta.plan import Settings

HEADROOM = 100
"""How many users a run has room for beyond those planned; of more users, as many again."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The agents of a run, numbered from 0, and the groups that they play."""

    nodes: tuple[int, ...]
    """By agent: the number of its node, from 0."""
    players: tuple[range, ...]
    """By group: the agents that play it."""

    @property
    def agents(self) -> int:
        """The number of all agents."""
        return len(self.nodes)

    def count_users(self, users: Sequence[int]) -> list[int]:
        """By agent: how many users it plays, given the users of each group, as the driver shares them (`spec.rs`)."""
        counts = [0] * self.agents
        for agents in dict.fromkeys(self.players):
            total = sum(count for count, own in zip(users, self.players, strict=True) if own == agents)
            for turn, agent in enumerate(agents):
                counts[agent] += (total - turn + len(agents) - 1) // len(agents)
        return counts


def share_groups(settings: Settings) -> Sharing:
    """Share the groups of a step among its agents; all steps of a plan share theirs alike.

    Probes are on the last nodes. If there are too few for one each, the last ones have several; a single node has all.
    """
    nodes, probes = settings.node_count, count_probes(settings)
    load = [node for node in range(max(nodes - probes, 1)) for _ in range(settings.agents)]
    first = min(1, nodes - 1)
    apart = [max(nodes - probes + number, first) for number in range(probes)]
    ends = accumulate((group.probe_nodes for group in settings.group), initial=len(load))
    players = [
        range(end, end + group.probe_nodes) if group.is_probe else range(len(load))
        for end, group in zip(ends, settings.group, strict=False)
    ]
    return Sharing((*load, *apart), tuple(players))


def most_users_of(users: int) -> int:
    """The most users that a run of one step and one group may have if some are added while it goes on."""
    return users + max(users, HEADROOM)


def count_probes(settings: Settings) -> int:
    """The number of nodes that hold a probe."""
    return sum(group.probe_nodes for group in settings.group)
