"""The doubts about single agents and their nodes in a step: clocks that drift, silences, and one that is late."""

from collections.abc import Sequence

from cuesta.analysis.doubts.doubt import Doubt, step_doubt
from cuesta.analysis.doubts.phrases import judge_lateness, name_agents
from cuesta.analysis.planned import Allowed
from cuesta.figures.driver import AgentFigures, ClockDrift
from cuesta.figures.step import StepFigures
from cuesta.units import count, digits, join_words, minutes, seconds

MOST_NAMED = 3
"""Most agents that a text lists besides the first."""
ENOUGH_TO_AGREE = 3
"""Fewest clocks that together show that not they drift, but the engine's."""


@step_doubt
def drifted(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """An agent's clock moved against the engine's: the agents' instants and intervals are no longer the same."""
    most = allowed.clock_drift / 1e9
    clocks = {agent.node or name: agent.clock for agent, name in name_each(step.agents) if agent.clock}
    beyond = {name: clock for name, clock in clocks.items() if abs(clock.moved) - clock.error > most}
    if not beyond:
        return None
    worst = max(beyond, key=lambda name: abs(beyond[name].moved))
    if len(beyond) == len(clocks) >= ENOUGH_TO_AGREE and agree(list(clocks.values()), most):
        advice = "let the machine on which Cuesta was started keep time (chrony, ntpd), or run for a shorter time"
        return Doubt(f"the engine's clock {describe_drift(beyond[worst])} against those of all nodes", advice)
    names = list_others([name for name in beyond if name != worst])
    advice = "let its machine and this one keep time by one source (chrony, ntpd), or run for a shorter time"
    return Doubt(f"the clock of {worst} {describe_drift(beyond[worst])}{names}", advice)


def agree(clocks: Sequence[ClockDrift], most: float) -> bool:
    """Whether all clocks moved alike against the engine's."""
    return all(abs(a.moved - b.moved) <= most + a.error + b.error for a in clocks for b in clocks)


def describe_drift(clock: ClockDrift) -> str:
    return f"drifted by {seconds(abs(clock.moved))} in {minutes(clock.seconds)} ({digits(abs(clock.rate) * 1e6)} ppm)"


@step_doubt
def fell_silent(step: StepFigures, _: Allowed) -> Doubt | None:
    """An agent said nothing for a time: it was stopped, had no CPU, or its link was cut."""
    silent = {name: agent.silent for agent, name in name_each(step.agents) if agent.silent}
    if not silent:
        return None
    longest = max(silent, key=lambda name: silent[name])
    others = list_others([name for name in silent if name != longest])
    advice = "see what stopped its machine or cut its link: other programs, a suspension, want of memory, the network"
    return Doubt(f"{longest} said nothing for {seconds(silent[longest])}{others}", advice)


@step_doubt
def late_node(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Some nodes sent their keys late, though most did not: few of many keys are not seen in those of all."""
    most = allowed.lateness_p99 / 1e9
    agents = [(agent, name) for agent, name in name_each(step.agents) if agent.node]
    late = {name: found for agent, name in agents if (found := judge_lateness(agent.lateness, most))}
    are_most = 2 * len(late) > len(agents)
    if not late or (are_most and judge_lateness(step.lateness, most)):
        return None
    worst = max(late, key=lambda name: late[name][1])
    part, late_by = late[worst]
    others = list_others([name for name in late if name != worst])
    text = f"{worst} was late: {part} % of its keys were sent more than {seconds(late_by)} after they could be"
    advice = "see what else runs on that machine, or how slow it is; fewer users there (--nodes), or another machine"
    return Doubt(f"{text} (allowed {seconds(most)}){others}", advice, "driver")


def name_each(agents: Sequence[AgentFigures]) -> list[tuple[AgentFigures, str]]:
    return list(zip(agents, name_agents(agents), strict=True))


def list_others(names: Sequence[str]) -> str:
    """List those of which the same holds, in brackets; empty without any."""
    which = join_words(names) if len(names) <= MOST_NAMED else f"{count(len(names))} more"
    return f" (and {which})" if names else ""
