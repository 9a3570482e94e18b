"""What several doubts say: names of agents, how late keys were, who waits, how waits ended, an error's advice."""

from collections import Counter
from collections.abc import Sequence

from cuesta.analysis.waits import values_needed
from cuesta.figures.driver import AgentFigures
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.units import list_counts, many, seconds

AT_START = ("exited-at-start", "no-program")
"""Errors of programs that ended before they answered anything."""

MEND = "mend what the program complains of, or the command; try that by hand first"

NOT_TAKEN = {"keyboard-locked", "protected-field", "full-field", "unknown-key"}
"""Errors of keys that a 3270 did not take: what was to be typed was not."""
LINE_IS_KEPT = {"unechoed", "wrong-echo", "expect", "timeout", "barrier", "flood", "dropped-sequence"} | NOT_TAKEN
"""Errors after which a user keeps its line. (A line that is not open in time is a `timeout` too, but is described.)"""


def name_agent(number: int, node: str | None) -> str:
    """Name an agent by its number, and by its node if that is not the engine's own machine."""
    return f"agent {number} on {node}" if node else f"agent {number}"


def name_agents(agents: Sequence[AgentFigures]) -> list[str]:
    """Name each agent: by its node alone, if no other agent is there."""
    sizes = Counter(agent.node for agent in agents)
    return [
        agent.node if agent.node and sizes[agent.node] == 1 else name_agent(agent.agent, agent.node) for agent in agents
    ]


def name_worst_node(agents: Sequence[AgentFigures], figure: str) -> str:
    """The node of the agent with the largest figure, as the end of a phrase; empty on the engine's own machine."""
    worst = max(agents, key=lambda agent: getattr(agent, figure), default=None)
    return f" on {worst.node}" if worst and worst.node else ""


def judge_lateness(lateness: Distribution, most: float) -> tuple[int, float] | None:
    """The percentage of keys that were sent later than `most` seconds, and how late; None if they were in time.

    Of few keys the 99th percentile is the latest one alone: then the 95th is held against the limit.
    """
    part, found = (1, lateness.p99) if lateness.count >= values_needed("p99") else (5, lateness.p95)
    return (part, found) if found is not None and found > most else None


def advice_for_errors(step: StepFigures, otherwise: str) -> str:
    """The advice for the error that cost most lines, or `otherwise` without such an error."""
    errors = Counter(step.errors.before) + Counter(step.errors.by_name)
    said = step.errors.said
    lost_lines = {name: number for name, number in errors.most_common() if name in said or name not in LINE_IS_KEPT}
    if any(name in step.lost_for for name in AT_START):
        return MEND
    if described := next((name for name in lost_lines if name in said), None):
        return f"{described}: {said[described]}"
    if lost_lines:
        return f"see why lines were lost: {list_counts(lost_lines)}"
    # The run ended before the program was ready.
    return f"not ready yet: {said['not-ready']}" if "not-ready" in said else otherwise


def describe_waiting(users: int, oldest: float) -> str:
    """How many users wait, and for how long at most; empty where none does."""
    return (
        f"{many(users, 'user')} {'has' if users == 1 else 'have'} waited for up to {seconds(oldest)}" if users else ""
    )


def describe_given_up(step: StepFigures) -> str:
    """How unanswered transactions ended: by a timeout, or with the line."""
    too_long = 0 if "timeout" in step.errors.said else min(step.unanswered, step.errors.by_name.get("timeout", 0))
    lost = step.unanswered - too_long
    waits = f"{many(too_long, 'wait')} timed out" if too_long else ""
    lines = f"{many(lost, 'line')} {'was' if lost == 1 else 'were'} lost before the answer" if lost else ""
    return " and ".join(filter(None, (waits, lines)))
