"""Whose CPU time the network's was, in words: shared over loopback, each side's own where they are isolated."""

from collections.abc import Iterator, Mapping
from typing import Any

from cuesta import units
from cuesta.figures.host import HostFigures
from cuesta.ledger.meters import Sheet
from cuesta.report.tiers import in_brackets
from cuesta.units import between, many, under

ISOLATED = 2
LOOPBACK = (3, 4)
"""Places in the order of honesty (docs/meters.md)."""
OTHERS = 5.0
"""Percent of the host's CPUs from which on others are named."""


def network(host: HostFigures) -> Iterator[str]:
    """Whose CPU time the network's was; nothing for a host on another machine."""
    if host.meters is None or host.sheet is None or "network" not in host.sheet:
        return
    if host.meters.order == ISOLATED:
        yield each_side(host.sheet)
        if host.cpu and (host.cpu.others or 0.0) > OTHERS:
            others = f"others took {host.cpu.others:.1f} % of the host's CPUs"
            yield f"{others}: that these were busy is not the host's alone"
    elif host.meters.order in LOOPBACK:
        yield from shared(host.sheet)


def each_side(sheet: Sheet) -> str:
    """How busy each side's CPUs were: everything on them is its own, the network included."""
    sides = {"host": sheet["per_cpu"], "driver": sheet["beside"]}
    parts = (f"{side} {busy(cpus)}" for side, cpus in sides.items() if cpus)
    tier = in_brackets(*(figure for cpus in sides.values() for each in cpus.values() for figure in each.values()))
    return f"busy by CPU, the network included: {'; '.join(parts)}{tier}"


def busy(cpus: Mapping[str, Any]) -> str:
    used = {cpu: [shares[name].get("value") for name in ("usr", "sys", "irq")] for cpu, shares in cpus.items()}
    return ", ".join(f"CPU {cpu} {sum(parts):.1f} %" for cpu, parts in used.items() if None not in parts)


def shared(sheet: Sheet) -> Iterator[str]:
    """What the network took that is neither side's alone."""
    of, cpus = sheet["network"], len(sheet["per_cpu"]) + len(sheet["beside"])
    percent, own = of["percent"].get("value"), of["in_subject"].get("value")
    if percent is None:
        return
    machine = f"% of the machine's {many(cpus, 'CPU')}"
    if own is None:
        yield f"network, shared: at most {percent:.1f} {machine} (all soft interrupts, by clock ticks)"
        return
    inside = 100 * own / (sheet["seconds"] * cpus)
    low, high = of.get("interval", {}).get("value") or (percent, percent)
    if not percent:
        of_cpus = f"of the machine's {many(cpus, 'CPU')}{in_brackets(of['percent'])}"
        yield f"network, shared: no sample met it: {under(high)} {of_cpus}"
        return
    within = f" [{between(low, high)}]" if low < high else ""
    error = (high - low) / 4
    yield (
        f"network, shared: {units.percent(percent, error)}{within} {machine} "
        f"({of['percent']['tier']}); {units.percent(inside, error)} of it stands "
        "in the host's CPU time, the rest in the driver's or another's"
    )
