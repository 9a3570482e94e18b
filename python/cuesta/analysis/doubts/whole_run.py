"""The doubts about a whole run: a function for each looks at its record."""

from collections.abc import Sequence

from cuesta.analysis.doubts.doubt import Doubt, run_doubt
from cuesta.analysis.doubts.phrases import name_agent
from cuesta.ledger import Recorded
from cuesta.ledger.run_folder import Agent
from cuesta.units import join_words, many

MOST_NAMED = 3
"""Most nodes that a text lists."""


@run_doubt
def agent_died(recorded: Recorded) -> Doubt | None:
    """A process of the driver ended before its time. That spoils no trial of a search that was complete by then."""
    dead = [agent for agent in recorded.last_agents if agent.notes.death]
    if not dead or not (death := dead[0].notes.death):
        return None
    node = dead[0].notes.node
    how, colon, why = death.how.partition(": ")
    ended = f"{name_agent(dead[0].number, node)} {how} after {death.seconds:.0f} s{colon}{why}"
    text = f"{ended}{count_others(dead)}; what it had recorded is kept"
    there, or_link = (" on that node", ", or what cut its link") if node else ("", "")
    return Doubt(
        text,
        f"see{there} who ended or stopped it, such as the kernel for want of memory (dmesg){or_link}; run it again",
    )


def count_others(agents: Sequence[Agent]) -> str:
    """How many agents there are beside the first, and on which nodes, in brackets; empty if it is the only one."""
    first, *others = agents
    nodes = list(dict.fromkeys(agent.notes.node for agent in others if agent.notes.node))
    where = f", on {join_words(nodes) if len(nodes) <= MOST_NAMED else many(len(nodes), 'node')}" if nodes else ""
    if nodes == [first.notes.node]:
        where = " there"
    return f" (and {len(others)} more{where})" if others else ""


@run_doubt
def failed(recorded: Recorded) -> Doubt | None:
    """The driver failed: a failure of the host is data, one of the driver voids the run."""
    for agent in recorded.last_agents:
        if agent.ending and agent.ending["ended"] == "failed":
            return agent_failed(agent, agent.ending.get("reason") or "no reason given")
    return None


def agent_failed(agent: Agent, reason: str) -> Doubt:
    node, advice = agent.notes.node, "this is the driver's own fault: see the reason"
    name = f"{name_agent(agent.number, node)}{'' if node else ' of the driver'}"
    return Doubt(f"{name} failed: {reason}", advice, blames="driver", name="failed")


@run_doubt
def cut_off(recorded: Recorded) -> Doubt | None:
    first = f"{recorded.resumed}/" if recorded.resumed else ""
    dead = [agent.folder.relative_to(recorded.folder) for agent in recorded.last_agents if agent.notes.death]
    explained = tuple(f"{folder}{mark}" for folder in dead for mark in "/:")
    damage = [each for each in recorded.damage if each.startswith(first) and not each.startswith(explained)]
    if not damage:
        return None
    more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
    return Doubt(f"the record is cut off: {damage[0]}{more}", "what is there was kept; run it again for the rest")
