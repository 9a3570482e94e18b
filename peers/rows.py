"""Plays the tools of a comparison and makes its table."""

from dataclasses import replace
from statistics import median

from peers.comparisons import Comparison
from peers.job import Told, Tool
from peers.measure import STALL_LOAD, STOP, Cost, Load, Stall, ToolError, cost, stall
from peers.stall import hidden, true_p99
from peers.table import duration, size, table

ROUNDS = 3
UNREADABLE = 2 << 20
"""Bytes by which the memory of a tool differs from one run to the next: a smaller growth says only what it is below."""


def cost_rows(comparison: Comparison) -> tuple[str, list[str]]:
    """Play all tools in turn, some rounds, and once with fewer users. Returns the table and what failed."""
    costs: dict[str, list[Cost]] = {tool.name: [] for tool in comparison.tools}
    memory: dict[str, str] = {}
    failures = []
    for turn in range(ROUNDS):
        for tool in comparison.tools:
            try:
                costs[tool.name].append(cost(tool, comparison.load))
                if turn == 0 and comparison.fewer:
                    memory[tool.name] = memory_of_a_user(tool, comparison.load, comparison.fewer, costs[tool.name][0])
            except ToolError as failure:
                failures.append(f"{comparison.title}: {failure}")
    unit = comparison.load.work.value
    head = ["", f"CPU a {unit}", "smallest - largest", "x Cuesta", f"{unit}s/s at the host", "memory a user"]
    head.append("lateness p50, p99")
    base = median(played.cpu for played in costs["Cuesta"]) if costs["Cuesta"] else None
    return table(head, [cost_row(name, played, base, memory.get(name, "")) for name, played in costs.items()]), failures


def memory_of_a_user(tool: Tool, load: Load, fewer: int, more: Cost) -> str:
    """The growth of a tool's memory from fewer users to more, for each of them."""
    ramp = max(1.0, load.ramp * fewer / load.users)
    growth = more.memory - cost(tool, replace(load, users=fewer, ramp=ramp)).memory
    below = "" if growth >= UNREADABLE else "below "
    return below + size(max(growth, UNREADABLE) / (load.users - fewer))


def cost_row(name: str, costs: list[Cost], base: float | None, memory: str) -> list[str]:
    if not costs:
        return [name, "failed", "", "", "", "", ""]
    rate = median(played.rate for played in costs)
    cpu = sorted(played.cpu for played in costs)
    return [
        name,
        duration(median(cpu)),
        f"{duration(cpu[0])} - {duration(cpu[-1])}",
        f"{median(cpu) / base:.2g}" if base else "",
        f"{rate:,.4g}" if costs[0].rate < 1000 else f"{rate:,.0f}",
        memory,
        lateness(costs[0].told),
    ]


def lateness(told: Told) -> str:
    return "not told" if told.lateness_p50 is None else f"{duration(told.lateness_p50)}, {duration(told.lateness_p99)}"


def stall_rows(comparison: Comparison) -> tuple[str, list[str]]:
    """Play each tool at a host that stops once. Returns the table and what failed."""
    true = true_p99(STOP, STALL_LOAD)
    rows, failures = [], []
    for tool in comparison.tools:
        try:
            rows.append(stall_row(tool.name, stall(tool, comparison.load), true))
        except ToolError as failure:
            rows.append([tool.name, "failed", "", "", "", ""])
            failures.append(f"{comparison.title}: {failure}")
    head = ["", "p99 told", "true p99", "longest told", "inputs around the stop", "the p99 hides the stop"]
    return table(head, rows), failures


def stall_row(name: str, played: Stall, true: float) -> list[str]:
    told = played.told
    verdict = {True: "yes", False: "no", None: "not told"}[hidden(told.p99, true)]
    return [name, duration(told.p99), duration(true), duration(told.longest), f"{played.kept:.0%}", verdict]
