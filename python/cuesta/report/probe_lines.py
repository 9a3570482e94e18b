"""Sentences on what probe lines (`path`) show of the host by themselves, and on lines that cannot be followed."""

from collections.abc import Iterator

from cuesta.analysis.delayed_ack import LEVEL, HeldEcho
from cuesta.analysis.summary import Summary
from cuesta.units import count, many, seconds


def describe_probe_lines(summary: Summary) -> Iterator[str]:
    """A sentence on each group whose echoes are held; the group is named where the run has several."""
    several = len(summary.recorded.run.get("plan", {}).get("group", [])) > 1
    for held in summary.held_echoes:
        yield f"{held.group}: {describe(held)}" if several else describe(held)
    intervals = (interval for agent in summary.recorded.agents for interval in agent.intervals)
    if unmarked := sum(interval.unmarked for interval in intervals):
        why = "they go through a proxy or a jump host, are of a kind that none follows, or found no free port"
        yield f"{many(unmarked, 'probe line')} cannot be followed by the host's tracer: {why}"


def describe(held: HeldEcho) -> str:
    """What is wrong, what it costs, and how sure that is."""
    return (
        f"a hop writes in pieces and lacks TCP_NODELAY: it costs {seconds(held.seconds)} a key at terminals that "
        f"acknowledge late (one chance in {count(round(1 / LEVEL))} of a false alarm)"
    )
