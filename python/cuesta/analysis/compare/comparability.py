"""Tells whether runs are comparable: the facts of each run, and where two runs differ.

The facts are from `run.json`, by kind. All kinds except the host must be alike, else a ratio tells nothing about the
host. The host is what is compared, so its settings and address may differ between the sides, but not within one.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cuesta.analysis.planned import count_nodes
from cuesta.ledger import JsonObject
from cuesta.ledger.record import CertificationSetup
from cuesta.ledger.versions import Compared
from cuesta.line_kinds import OWN_PROGRAMS

KINDS = ("machine", "driver", "tapes", "population", "neighbours", "think times", "lines", "method")
"""Kinds of facts that must be alike."""
HOST = "host"
NEIGHBOURS = "neighbours"
"""The kind of what runs beside the users: a command, other sessions."""

MACHINE = ("id", "cpu", "cpus", "architecture", "kernel", "virtualisation", "governor", "affinity")
NOT_OF_DRIVER = {
    *("name", "seed", "limits", "group", "host", "published", "published_table", "sweep"),
    *("settle", "measure", "meters", "path", "beside", "validity", "engine", "nodes"),
}
"""Settings of a plan that belong to another kind, or that change no figure. All others are the driver's."""
THINK = ("think", "key_rate", "key_law")
LINES = ("line_speed", "columns", "rows")
SESSIONS = ("sessions", "sessions_tape", "background")
NOT_OF_POPULATION = {*THINK, *LINES, *SESSIONS, "name", "tape", "target", "stagger", "data"}
"""Settings of a group that belong to another kind. All others are the population's. Files are compared by hash."""
GIB = 2**30

RunFacts = Mapping[str, Mapping[str, object]]
"""By kind, then by name."""


def kinds_but(compared: Compared) -> list[str]:
    """Kinds of facts that must be alike: all, without that of the neighbours if these are compared."""
    return [kind for kind in KINDS if compared != "neighbours" or kind != NEIGHBOURS]


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact in which two runs differ."""

    kind: str
    name: str
    base: object
    new: object

    def __str__(self) -> str:
        return f"{self.kind}: {self.name} {write_fact(self.base)} against {write_fact(self.new)}"


def collect_facts(run: JsonObject) -> RunFacts:
    """By kind, from `run.json`."""
    plan, machine = run.get("plan", {}), run.get("machine", {})
    facts: dict[str, dict[str, object]] = {kind: {} for kind in (*KINDS, HOST)}
    memory = machine.get("memory")  # in steps of 0.1 GiB, because kernels reserve slightly different amounts
    facts["machine"] = {name: machine.get(name) for name in MACHINE}
    facts["machine"]["memory"] = None if memory is None else f"{memory / GIB:.1f} GiB"
    allowed = {f"validity.{name}": value for name, value in plan.get("validity", {}).items()}
    facts["driver"] = {"version": run.get("cuesta"), **allowed} | _select_others(NOT_OF_DRIVER, plan) | _place(plan)
    facts["population"] = {"columns of users": list(run.get("users", {}).values())}
    facts["tapes"] = {name: tape.get("sha256") for name, tape in run.get("tapes", {}).items()}
    path = plan.get("path", "none")  # older records lack it
    facts["method"] = {"meters": plan.get("meters"), "path": None if path == "none" else path}
    beside = plan.get("beside", "off")  # older records lack it
    facts[NEIGHBOURS] = {"beside": None if beside == "off" else beside}
    facts[HOST] = {f"host.{name}": value for name, value in plan.get("host", {}).items()}
    steps = run.get("steps", [])
    for number, step in enumerate(steps, 1):
        _add_step(facts, step, f"step {number} " if len(steps) > 1 else "")
    return facts


def add_setup(run: RunFacts, setup: CertificationSetup) -> RunFacts:
    """Add the facts of a certification; the system's variable settings belong to the host."""
    script = hashlib.sha256(setup.script.encode()).hexdigest()
    return {
        **run,
        "tapes": {**run["tapes"], "script, with what it sources": script},
        "method": {**run["method"], "certifier": setup.kind, "pause": setup.pause},
        HOST: {**run[HOST], "system": setup.system, **setup.settings},
    }


def list_differences(base: RunFacts, new: RunFacts, kinds: Sequence[str] = KINDS) -> list[Difference]:
    names = ((kind, name) for kind in kinds for name in {**base[kind], **new[kind]})
    found = (Difference(kind, name, base[kind].get(name), new[kind].get(name)) for kind, name in names)
    return [difference for difference in found if difference.base != difference.new]


def write_fact(value: object) -> str:
    if value is None:
        return "(none)"
    text = str(value)
    return f"{text[:12]}…" if len(text) == 64 and text.isalnum() else text  # a hash


def _add_step(facts: dict[str, dict[str, object]], step: JsonObject, place: str) -> None:
    facts["method"] |= {f"{place}{name}": step.get(name) for name in ("settle", "measure")}
    groups = step.get("group", [])
    for group in groups:
        at = f"{place}{group['name']}." if len(groups) > 1 else place
        own = {f"{at}{name}": value for name, value in _select_others(NOT_OF_POPULATION, group).items()}
        facts[NEIGHBOURS if group.get("background") else "population"] |= own
        facts[NEIGHBOURS] |= {f"{at}sessions": group.get("sessions")}
        facts["think times"] |= {f"{at}{name}": group.get(name) for name in THINK}
        way, address = _split_target(group.get("target", ""))
        facts["lines"] |= {f"{at}{name}": group.get(name) for name in LINES} | {f"{at}line": way}
        facts["method"][f"{at}stagger"] = group.get("stagger")
        facts[HOST][f"{at}target"] = address


def _place(plan: JsonObject) -> dict[str, object]:
    """Where the users are: the kind of engine, and the number of nodes. Older records are of this machine."""
    engine = plan.get("engine", "local")
    return {"engine": engine.partition(":")[0], "nodes": count_nodes(plan)}


def _select_others(names: Collection[str], table: JsonObject) -> dict[str, object]:
    """The other settings of a table that are not off: older records lack those that are."""
    return {name: value for name, value in table.items() if name not in names and value != "off"}


def _split_target(target: str) -> tuple[str, str]:
    """The kind of line with its settings, and the address."""
    scheme, colon, rest = target.partition(":")
    if scheme in OWN_PROGRAMS:  # the rest is a command, which may contain a question mark
        return scheme + colon, rest
    address, mark, settings = rest.partition("?")
    return f"{scheme}{colon}{mark}{settings}", address.removeprefix("//")
