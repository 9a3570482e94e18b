"""The doubts about a whole run: a function for each looks at its record."""

from cuesta.analysis.doubts.doubt import Doubt, run_doubt
from cuesta.ledger import Recorded


@run_doubt
def agent_died(recorded: Recorded) -> Doubt | None:
    """A process of the driver ended before its time. That spoils no trial of a search that was complete by then."""
    dead = [agent for agent in recorded.last_agents if agent.notes.death]
    if not dead or not (death := dead[0].notes.death):
        return None
    more = f" (and {len(dead) - 1} more)" if len(dead) > 1 else ""
    text = f"agent {dead[0].number} {death.how} after {death.seconds:.0f} s{more}; what it had recorded is kept"
    return Doubt(text, "see who ended it, such as the kernel for want of memory (dmesg); run it again")


@run_doubt
def failed(recorded: Recorded) -> Doubt | None:
    """The driver failed: a failure of the host is data, one of the driver voids the run."""
    for agent in recorded.last_agents:
        if agent.ending and agent.ending["ended"] == "failed":
            return agent_failed(agent.number, agent.ending.get("reason") or "no reason given")
    return None


def agent_failed(agent: int, reason: str) -> Doubt:
    advice = "this is the driver's own fault: see the reason"
    return Doubt(f"agent {agent} of the driver failed: {reason}", advice, blames="driver", name="failed")


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
