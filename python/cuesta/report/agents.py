"""The agents and their nodes: a table of the agents, and what is said of a node that differs from the others."""

from collections.abc import Callable, Iterator, Sequence

from cuesta.analysis.odd_nodes import CPU_PER_KEY, FAILING_USERS
from cuesta.figures.driver import AgentFigures, OddNode
from cuesta.figures.step import StepFigures
from cuesta.report.figure import head, write_count, write_duration
from cuesta.report.model import Cell, Folded, Part, Table, as_words
from cuesta.units import many, seconds, share

MOST_AGENTS = 8
"""Most agents of which each is listed; of more, those that stand out come first."""
STANDING_OUT = 2
"""How many agents with the largest of each figure are listed then."""
NOTABLE: tuple[Callable[[AgentFigures], float], ...] = (
    lambda agent: agent.echo.p50 or 0.0,
    lambda agent: agent.response.p50 or 0.0,
    lambda agent: agent.lateness.p99 or 0.0,
    lambda agent: agent.cpu + agent.run_wait,
)
OF_THE_MACHINE = ("lateness", CPU_PER_KEY)
"""Figures that differ because the node's machine does."""


def agents_parts(step: StepFigures) -> Iterator[Part]:
    """A table of the agents, if there are several; of many, one of those that stand out, and all of them folded."""
    if len(step.agents) <= 1:
        return
    if len(step.agents) <= MOST_AGENTS:
        yield agents_table(step.agents)
        return
    chosen = choose_agents(step)
    some = [agent for agent in step.agents if agent.agent in chosen]
    yield agents_table(some, f"of {many(len(step.agents), 'agent')} those with the largest figures")
    yield Folded(f"All {many(len(step.agents), 'agent')}", [agents_table(step.agents)])


def choose_agents(step: StepFigures) -> set[int]:
    """The numbers of those of odd nodes, and of those with the largest of each figure."""
    odd = {each.node for each in step.odd_nodes}
    largest = (each for figure in NOTABLE for each in sorted(step.agents, key=figure, reverse=True)[:STANDING_OUT])
    return {agent.agent for agent in (*(agent for agent in step.agents if agent.node in odd), *largest)}


def agents_table(agents: Sequence[AgentFigures], caption: str = "") -> Table:
    """With nodes it has more columns, of which a terminal has room for some."""
    columns: list[tuple[Cell, Callable[[AgentFigures], Cell]]] = [
        ("agent", lambda agent: str(agent.agent)),
        ("transactions", lambda agent: write_count(agent.response)),
        (head("response.p50"), lambda agent: write_duration(agent.response, "p50")),
        (head("response.p99"), lambda agent: write_duration(agent.response, "p99")),
        (head("lateness.p99"), lambda agent: seconds(agent.lateness.p99)),
        (head("driver.cpu", "CPU"), lambda agent: share(agent.cpu)),
        (head("driver.run_wait", "waiting for a CPU"), lambda agent: share(agent.run_wait)),
    ]
    on_nodes = any(agent.node for agent in agents)
    if on_nodes:
        columns[1:1] = [
            ("node", lambda agent: agent.node or "this machine"),
            (head("echo.p50"), lambda agent: write_duration(agent.echo, "p50")),
        ]
    rows = [[cell(agent) for _, cell in columns] for agent in agents]
    wide, wraps = ({3, 5, 8}, 1) if on_nodes else (set[int](), None)
    return Table([name for name, _ in columns], rows, caption, wide=wide, wraps=wraps)


def describe_odd_nodes(step: StepFigures) -> Iterator[str]:
    """A sentence on each odd node: `10.77.0.5: echo 12.0 ms at the median, the others 7.00 ms`, and what it may be."""
    for node in dict.fromkeys(odd.node for odd in step.odd_nodes):
        first, *more = [odd for odd in step.odd_nodes if odd.node == node]
        figures = [describe_first(first, step)]
        figures += [f"{name_figure(odd, step)} {seconds(odd.value)}, {seconds(odd.others)}" for odd in more]
        yield f"{node}: {'; '.join(figures)}: {guess_cause(first)}?"


def describe_first(odd: OddNode, step: StepFigures) -> str:
    if odd.figure == FAILING_USERS:
        return f"{share(odd.value)} of its users had no line or no answer, of the others' {share(odd.others)}"
    median = "" if odd.figure == CPU_PER_KEY else " at the median"
    return f"{name_figure(odd, step)} {seconds(odd.value)}{median}, the others {seconds(odd.others)}"


def name_figure(odd: OddNode, step: StepFigures) -> str:
    """Its name, with its transaction or group if there are several."""
    if odd.figure == CPU_PER_KEY:
        return "driver CPU a key"
    label = as_words(head(f"{odd.figure}.p50")).text.removesuffix(" p50")
    if odd.transaction is not None:
        return f"{label} of {odd.transaction}" if len(step.classes) > 1 else label
    return f"{label} of {odd.group}" if len(step.keys) > 1 else label


def guess_cause(odd: OddNode) -> str:
    slower, way = ("slower or busier", "another") if odd.value > odd.others else ("faster", "a shorter")
    return f"a {slower} machine" if odd.figure in OF_THE_MACHINE else f"{way} way to the host"
