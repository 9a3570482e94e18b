"""What the plan says of a step, as `run.json` holds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuesta.figures.limit import Limit
from cuesta.ledger import JsonObject, Recorded
from cuesta.line_kinds import trusts_any_host, without_settings
from cuesta.plan.fields import Load
from cuesta.plan.published import PublishedFigure, PublishedTable
from cuesta.plan.schema import Validity
from cuesta.plan.sweep import FILES, setting_at

SAME_WORK = ("tape", "target", "line_speed", "columns", "rows")
"""Settings of groups that decide what the host is asked, and how long its answers take on the line."""


@dataclass(frozen=True, slots=True)
class PlannedProbe:
    """A group with the role of a probe."""

    group: str
    users: int
    beside: Mapping[str, int]
    """Users of each group of the load that does the same work."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One step of the plan."""

    users: int
    background: Mapping[str, int]
    """Users of each group in the background."""
    probes: Sequence[PlannedProbe]
    load: str
    """`closed`, `paced:200ms`, `open:30/s`; of groups that differ, `clerks closed, typists paced:200ms`."""
    swept: Mapping[str, object]
    """The swept settings and their values in this step, as written."""
    asked: str | None
    """What somebody asked for who changed the users while the run went on; None for steps of the plan."""
    fixed: bool
    """Whether the plan's number of users is at work at all times; false where sessions come and go."""
    paced_per_s: float
    """Passes a second that paced loads make due."""
    open_per_s: float
    """Passes or sessions a second that open loads make due."""
    any_closed: bool
    """Whether some users wait for the answer before they go on."""

    @property
    def closed(self) -> bool:
        """Whether every user waits for the answer and thinks before the next input."""
        return self.load == "closed"


def list_unchecked(recorded: Recorded) -> list[str]:
    """The targets, without settings, whose hosts were trusted although no certificate was checked."""
    targets: list[str] = recorded.run.get("host", {}).get("targets", [])
    return [without_settings(target) for target in targets if trusts_any_host(target)]


def list_left_behind(recorded: Recorded) -> list[str]:
    """What the agents' users left at web terminals, one sentence each."""
    endings = (agent.ending for agent in recorded.agents if agent.ending)
    return [left for ending in endings for left in ending.get("left_behind", [])]


def read_planned(recorded: Recorded, step: int) -> Planned | None:
    """Read what was planned for a step; None if `run.json` lacks it."""
    steps: list[JsonObject] = recorded.run.get("steps", [])
    if step >= len(steps):
        return None
    groups = steps[step]["group"]
    in_front = [group for group in groups if group["users"] and not group.get("background")]
    loads = {group["name"]: group["load"] for group in in_front}
    same = len(set(loads.values())) == 1
    read = [(group["users"], Load.read(group["load"])) for group in in_front]
    return Planned(
        users=sum(group["users"] for group in groups),
        background={group["name"]: group["users"] for group in groups if group.get("background")},
        probes=[_read_probe(group, in_front) for group in groups if is_probe(group)],
        load=next(iter(loads.values())) if same else ", ".join(f"{name} {load}" for name, load in loads.items()),
        swept=steps[step].get("swept", {}),
        asked=steps[step].get("asked"),
        fixed=not any(group["load"].endswith(":sessions") for group in groups if group["users"]),
        paced_per_s=sum(users / (load.cycle / 1e9) for users, load in read if load.kind == "paced"),
        open_per_s=sum(load.per_s for _, load in read),
        any_closed=any(load.kind == "closed" for _, load in read),
    )


def list_requests(run: JsonObject) -> list[str]:
    """By what users were changed while the run went on, as `users +10 at 63.2 s`; empty if they stayed as planned."""
    return [step["asked"] for step in run.get("steps", []) if step.get("asked")]


def is_probe(group: JsonObject) -> bool:
    """Whether a group of the plan has the role of a probe; older records have no roles."""
    return group.get("role") == "probe"


def count_nodes(plan: JsonObject) -> int:
    """How many machines have users, by the plan; older records are of one."""
    engine = plan.get("engine", "local")
    nodes: int = engine.count(",") + 1 if engine.startswith("ssh:") else plan.get("nodes", 1)
    return nodes


def has_own_nodes(recorded: Recorded) -> bool:
    """Whether each probe has a machine of its own: several nodes may be on one."""
    probes = sum(group.get("nodes") or 1 for group in recorded.plan.get("group", ()) if is_probe(group))
    machines = [node["machine"].get("id") for node in recorded.run.get("nodes", ())]
    return count_nodes(recorded.plan) > probes and len(set(machines)) == len(machines)


def _read_probe(probe: JsonObject, groups: Sequence[JsonObject]) -> PlannedProbe:
    same = [each for each in groups if all(each.get(name) == probe.get(name) for name in SAME_WORK)]
    return PlannedProbe(
        probe["name"], probe["users"], {each["name"]: each["users"] for each in same if not is_probe(each)}
    )


def place_transaction(recorded: Recorded, group: str, transaction: str) -> tuple[int, int]:
    """Where a transaction comes: by the plan's groups, then by the tape. Those that neither names come last."""
    by_group: Mapping[str, Sequence[str]] = recorded.run.get("transactions", {})
    groups, names = list(by_group), by_group.get(group, ())
    place = groups.index(group) if group in groups else len(groups)
    return place, list(names).index(transaction) if transaction in names else len(names)


def read_setting(recorded: Recorded, step: int, name: str) -> str | None:
    """A setting by which segments differ (`tmux`, `host.path`) in a step; None if the plan lacks it."""
    of_step = read_planned(recorded, step)
    return setting_at(of_step.swept if of_step else {}, recorded.plan, name)


def last_part(name: str) -> str:
    """The name of a setting without its place: `users` of `group.typists.users`."""
    return name.rpartition(".")[2]


def write_swept_value(name: str, value: object) -> str:
    """The value of a swept setting for people: of a file only its name."""
    return Path(str(value)).name if last_part(name) in FILES else str(value)


class Allowed(Validity):
    """The thresholds of validity, and whether advice may ask for CPUs of the driver's own."""

    may_pin: bool = True
    """Whether the driver had none: not with `pin` or `isolate`, nor on other machines, where these are refused."""


def read_allowed(recorded: Recorded) -> Allowed:
    """Read the thresholds of validity; the defaults where the plan has none."""
    plan = recorded.plan
    may_pin = plan.get("engine", "local") == "local" and not (plan.get("pin") or plan.get("isolate"))
    return Allowed.model_validate({**plan.get("validity", {}), "may_pin": may_pin})


def read_limits(recorded: Recorded) -> list[Limit]:
    return [Limit.read(text) for text in recorded.plan.get("limits", [])]


def read_published(recorded: Recorded) -> list[PublishedFigure]:
    return [PublishedFigure.model_validate(row) for row in recorded.plan.get("published", [])]


def read_published_tables(recorded: Recorded) -> list[PublishedTable]:
    return [PublishedTable.model_validate(row) for row in recorded.plan.get("published_table", [])]
