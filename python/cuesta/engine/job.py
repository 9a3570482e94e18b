"""A job: a plan with its tapes and users, read and checked. Preparing one neither contacts a host nor writes a file."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from cuesta._native import show_duration
from cuesta.engine.sharing import count_probes, share_groups
from cuesta.engine.tapes import TapeFile, is_cast, read_tape
from cuesta.engine.users import Users, read_users
from cuesta.errors import InputError
from cuesta.figures.reference import Reference
from cuesta.line_kinds import columns_of, without_settings
from cuesta.plan import Group, Plan, Segment, Service, Settings, Step
from cuesta.plan.meter_places import list_hosts
from cuesta.plan.sweep import setting_at
from cuesta.shipped_tapes import read_shipped_tape, word_of
from cuesta.target import BUILTIN_HOST, kind_of
from cuesta.units import many
from cuesta.validation import suggest

SECOND = 1_000_000_000
DRAIN = 2 * SECOND
"""Nanoseconds after the end in which answers under way may still complete."""
NO_USERS = Users((), ())
FurtherReading = Literal["kernel threads", "runnable tasks", "linkage"]
"""CPU time of the kernel's own threads; how many tasks want a CPU; what dynamic linkers bind."""


@dataclass(frozen=True, slots=True)
class Job:
    """A plan with everything that it refers to."""

    plan: Plan
    tapes: Mapping[str, TapeFile]
    """By `tape_key(group)`."""
    users: Mapping[str, Users]
    """By the group's `data`."""
    metered_every: float | None = None
    """Seconds between the meters' readings; None = 1. If given, users start only when the meters read, so that their
    starting is metered too."""
    readings: tuple[FurtherReading, ...] = ()
    """What else is read while it runs."""

    def tape(self, group: Group) -> TapeFile:
        return self.tapes[tape_key(group)]

    def users_of(self, group: Group) -> Users:
        """The users of a group; empty if it names no file."""
        return self.users[group.data] if group.data else NO_USERS

    def describe_users(self, group: Group) -> str:
        """How many users a group's file has, and what of them its tape types."""
        return self.users_of(group).describe(self.tape(group).content.columns())

    def service(self, step: Step) -> Service:
        """The built-in host's service: the plan's, else one that fits the first tape that is played at the host."""
        at_host = (group for group in step.settings.group if group.target == BUILTIN_HOST)
        return step.settings.host.service or fit_service(self.tape(next(at_host)))

    def with_step(self, step: Step) -> Self:
        """The same job with this step alone."""
        return replace(self, plan=self.plan.with_step(step))


@dataclass(frozen=True, slots=True)
class PlannedTimes:
    """When a step begins, when measuring starts and when it ends; nanoseconds from the start of its segment."""

    begin: int
    settled: int
    end: int


def prepare(plan: Plan) -> Job:
    """Read the tapes and users that the plan names, and check that they go together."""
    groups = list(dict.fromkeys(group for step in plan.steps for group in step.settings.group))
    by_key = {tape_key(group): group for group in groups}
    tapes = _distinct({key: read_tape(group.tape, _is_closed(group)) for key, group in by_key.items()})
    named = plan.settings.secrets.columns
    users = {where: read_users(where, named) for where in dict.fromkeys(group.data for group in groups) if where}
    job = Job(plan, tapes, users)
    _check_secrets(job)
    for group in groups:
        _check_work(job, group)
        _check_place(plan, group)
        _check_columns(job, group)
        _check_target_columns(job, group)
    for step in plan.steps:
        _check_network(step)
        _check_pairs(job, step)
        for group in step.settings.group:
            _check_grid(group)
            _check_terminal(job, step, group)
    _check_figures(job)
    _check_published_tables(plan)
    _check_nodes(plan)
    _check_agents(plan)
    _check_cast(job)
    return job


def timeline(segment: Segment) -> list[PlannedTimes]:
    """The times of each step. A step's ramp starts the users that it adds, or lets those leave that it removes.

    The driver computes the same times for its schedule (`spec.rs`). The engine needs them for the meters' marks, and to
    tell how long a run takes.
    """
    times: list[PlannedTimes] = []
    before = [0] * len(segment.steps[0].settings.group)
    for step in segment.steps:
        settings = step.settings
        ramps = [abs(group.users - users) * group.stagger for group, users in zip(settings.group, before, strict=True)]
        before = [group.users for group in settings.group]
        begin = times[-1].end if times else 0
        settled = begin + max(ramps) + settings.settle
        times.append(PlannedTimes(begin, settled, settled + settings.measure))
    return times


def seconds_of_run(job: Job) -> float:
    """How long a run of the job takes."""
    return sum(timeline(segment)[-1].end + DRAIN for segment in job.plan.segments()) / SECOND


def most_users(segment: Segment) -> int:
    """The most lines that are open at once in a segment."""
    return sum(most_users_by_group(segment))


def most_users_by_group(segment: Segment) -> list[int]:
    columns = zip(*(step.settings.group for step in segment.steps), strict=True)
    return [max(group.users for group in column) for column in columns]


def most_users_at(job: Job, *kinds: str) -> int:
    """The number of users at targets of some kinds, in the step with most of them."""
    return max(
        sum(group.users for group in step.settings.group if kind_of(group.target) in kinds) for step in job.plan.steps
    )


def fit_service(tape: TapeFile) -> Service:
    """A service that answers what a tape waits for.

    `transaction N` if it waits for N characters, `form 150` if for a keyboard to unlock, `bsc-loop` if for the delivery
    of messages, `echo` if for nothing but echoes, else `transaction 150`.
    """
    waits = [(word, amount) for word, amount in tape.content.outline() if word.startswith("Wait")]
    if any(word == "Wait+Unlock" for word, _ in waits):
        return Service("form", "150")
    if any(word == "Wait+Delivered" for word, _ in waits):
        return Service("bsc-loop")
    for word, characters in waits:
        if word in ("Wait+Bytes", "Wait+Characters") and characters is not None:
            return Service("transaction", f"{characters:.0f}")
    return Service("echo") if all(word == "Wait+Echo" for word, _ in waits) else Service("transaction", "150")


def tape_key(group: Group) -> str:
    """The key of a group's tape in `Job.tapes`. A cast makes two tapes: for closed loads, and with its own instants."""
    return group.tape if _is_closed(group) else f"{group.tape} as recorded"


def _is_closed(group: Group) -> bool:
    return not is_cast(group.tape) or group.load.kind == "closed"


def _check_work(job: Job, group: Group) -> None:
    if job.tape(group).content.is_idle():
        raise InputError(f"{group.tape}: its users would do nothing", 'let it type, think or wait: Type "ls" Enter')


def _check_place(plan: Plan, group: Group) -> None:
    """The built-in host answers neither as the host of a recording nor as a program, unless its service is a shell."""
    if group.target != BUILTIN_HOST or plan.settings.host.service is not None:
        return
    word = word_of(group.tape)
    if word and (shipped := read_shipped_tape(word)).target != BUILTIN_HOST:
        what = f"the tape `{word}` is not for the built-in host, which is the target if none is given"
        raise InputError(what, f"say what users type at: --target {shlex.quote(shipped.target)}")
    if is_cast(group.tape):
        remedy = "name the host to type at, for example --target pty:bash"
        raise InputError(f"{group.tape}: the built-in host does not behave like the recorded host", remedy)


def _check_terminal(job: Job, step: Step, group: Group) -> None:
    """The kind of terminal at a target must have the keys that a tape presses, and the waits that it uses."""
    service = job.service(step) if group.target == BUILTIN_HOST else None
    why = job.tape(group).content.misfit(service.listen_at() if service else group.target)
    if why:
        raise InputError(f"{group.tape}, at {f'the built-in host: {service}' if service else group.target}: {why}")


def count_looped_lines(job: Job, step: Step) -> int:
    """The number of lines at the built-in host's service `bsc-loop`, which joins them in pairs."""
    users = sum(group.users for group in step.settings.group if group.target == BUILTIN_HOST)
    return users if users and job.service(step).name == "bsc-loop" else 0


def _check_pairs(job: Job, step: Step) -> None:
    """`bsc-loop` needs an even number of lines: it joins them in pairs."""
    users = count_looped_lines(job, step)
    if users % 2:
        raise InputError(f"users: {users} lines at `bsc-loop` leave one without another", "take an even number")


def _check_network(step: Step) -> None:
    """`tmux` and `defer` need `isolate`; `cpus:host` needs `pin` or `isolate`."""
    settings = step.settings
    for name in ("tmux", "defer"):
        if getattr(settings, name) is not None and not settings.isolate:
            what = f"{name}: it works on the wire between driver and host, and without `isolate` there is none"
            raise InputError(what, "give each a network of its own: isolate = true or --isolate, as root")
    of_host = any(host.where.endswith("cpus:host") for host in list_hosts(settings.meters))
    if of_host and not (settings.pin or settings.isolate):
        what = "meters: `cpus:host`: the host has no CPUs of its own"
        raise InputError(what, "give it some: --pin, or --isolate as root")


def _check_grid(group: Group) -> None:
    """Instants stay on a grid if the cycle is a multiple of it."""
    if group.align is None:
        return
    if group.load.kind != "paced":
        what = f"group {group.name}: align: only a paced load has instants that can be aligned, not `{group.load}`"
        raise InputError(what, 'give it a cycle, such as load = "paced:200ms", or leave `align` out')
    if not group.align or group.load.cycle % group.align:
        grid = show_duration(group.align)
        what = f"group {group.name}: align: the cycle of `{group.load}` is no multiple of {grid}"
        raise InputError(what, "give a grid that divides the cycle, such as a tenth of it")


def _check_agents(plan: Plan) -> None:
    """Each agent needs a user, else it measures nothing."""
    for segment in plan.segments():
        users = most_users_by_group(segment)
        for group, count in zip(segment.steps[0].settings.group, users, strict=True):
            if count < group.probe_nodes:
                nodes = many(group.probe_nodes, "node")
                what = f"group {group.name}: {nodes} cannot share {many(count, 'user')}: each needs one"
                raise InputError(what, f"give it users = {group.probe_nodes} or more")
        _check_agents_of_load(segment.steps[0].settings, users)


def _check_agents_of_load(settings: Settings, by_group: Sequence[int]) -> None:
    sharing = share_groups(settings)
    load = next(agents for agents, group in zip(sharing.players, settings.group, strict=True) if not group.is_probe)
    users = sum(count for count, agents in zip(by_group, sharing.players, strict=True) if agents == load)
    if len(load) > users:
        nodes = len(load) // settings.agents
        what = f"{len(load)} agents cannot share {users} users: each needs one"
        where = f" on {nodes} nodes" if nodes > 1 else ""
        most = users + count_probes(settings)
        most_nodes = f"name {most} machines at most" if settings.engine.kind == "ssh" else f"--nodes {most} is the most"
        raise InputError(what, f"--agents {users // nodes} is the most here{where}" if users >= nodes else most_nodes)


def _check_nodes(plan: Plan) -> None:
    """This machine is one node, and `ssh` names its nodes."""
    engine, nodes = plan.settings.engine, plan.settings.nodes
    if engine.kind == "local" and nodes > 1:
        raise InputError(f"nodes: {nodes}, and this machine is one", "name an engine of more: --engine ray:ADDRESS")
    if engine.kind == "ssh" and nodes not in (1, len(engine.addresses)):
        raise InputError(f"nodes: {nodes}, and {engine} names {len(engine.addresses)}", "leave `nodes` out")


def _check_cast(job: Job) -> None:
    wanted, users = job.plan.settings.cast, min(most_users(segment) for segment in job.plan.segments())
    if wanted is not None and wanted >= users:
        raise InputError(f"there is no user {wanted} to make a cast of", f"users are numbered from 0 to {users - 1}")


def _check_columns(job: Job, group: Group) -> None:
    # A tape may type a shell's own ${HOME}: a name in capitals without such a column is typed literally.
    columns = [name for name in job.tape(group).content.columns() if not name.isupper()]
    missing = [name for name in columns if name not in job.users_of(group).columns]
    if not missing:
        return
    request = f"the tape `{job.tape(group).name}` asks for ${{{missing[0]}}}"
    if not group.data:
        raise InputError(f"{request}, and no users are given", "give a CSV with that column: --data USERS.csv")
    known = [name for name in columns if name not in missing]
    header = "its first row must name the columns; it is not shown, because it may be a user"
    remedy = f"of the tape's columns it has: {', '.join(known)}" if known else header
    raise InputError(f"{group.data}: no column `{missing[0]}`: {request}", remedy)


def _check_target_columns(job: Job, group: Group) -> None:
    """Each of a group's users needs what its target names: else all lines of theirs would fail."""
    target, users = without_settings(group.target), job.users_of(group)
    for name in columns_of(group.target):
        what = f"the target {target} names the column `{name}` of the users' table"
        if not group.data:
            raise InputError(f"{what}, and no users are given", "give a CSV with that column: --data USERS.csv")
        if name not in users.columns:
            header = "its first row must name the columns; it is not shown, because it may be a user"
            raise InputError(f"{group.data}: no column `{name}`: {what}", header)
        if (user := users.find_empty(name, group.users)) is not None:
            raise InputError(f"{group.data}: user {user + 1} of its users has no `{name}`: {what}", "fill that cell")


def _check_secrets(job: Job) -> None:
    """A secret column that no table has is a mistake: its cells would be shown."""
    known = [name for users in job.users.values() for name in users.columns]
    if unknown := next((name for name in job.plan.settings.secrets.columns if name not in known), None):
        raise InputError(f"secrets: no users' table has a column `{unknown}`", "see the first row of --data FILE")


def _check_figures(job: Job) -> None:
    """Limits and published figures may name only transactions, groups and hosts of the plan."""
    groups = {
        group.name: [*job.tape(group).content.transactions(), job.tape(group).name]
        for step in job.plan.steps
        for group in step.settings.group
    }
    hosts = [host.name for host in list_hosts(job.plan.settings.meters)]
    for limit in (limit for step in job.plan.steps for limit in step.settings.limits):
        _check_reference(f"limit `{limit}`", limit.figure, groups, hosts)
    for published in job.plan.settings.published:
        _check_reference(f"published `{published.what}`", published.figure, groups, hosts)


def _check_published_tables(plan: Plan) -> None:
    """Each row of a published table must have a step with its settings, else it could not be shown."""
    whole = plan.settings.model_dump(mode="json")
    for each in plan.settings.published_table:
        for wanted in [each.when, *({**each.when, **row} for row in each.rows.values())]:
            values = [{name: setting_at(step.swept, whole, name) for name in wanted} for step in plan.steps]
            if wanted not in values:
                what = ", ".join(f"{name} = {value}" for name, value in wanted.items())
                known = ", ".join(f"{name} = {value}" for name, value in values[0].items())
                title = each.table.title
                raise InputError(f"published table `{title}`: no step has {what}", f"the first step has {known}")


def _check_reference(what: str, figure: Reference, groups: Mapping[str, list[str]], hosts: list[str]) -> None:
    known = figure.selectable(groups, hosts)
    if figure.transaction is not None and figure.transaction not in known:
        has_transactions = len(known) > len(groups)
        kind = "no tape has this transaction" if has_transactions else f"`{figure.metric}` is of groups"
        kind = "--meters names no such host" if figure.host else kind
        raise InputError(f"{what}: {kind}{suggest(figure.transaction, known)}")


def _distinct(tapes: dict[str, TapeFile]) -> dict[str, TapeFile]:
    """Number tapes that share a name, being from different folders."""
    taken: set[str] = set()
    for where, tape in tapes.items():
        names = (tape.name, *(f"{tape.name}-{number}" for number in range(2, len(tapes) + 1)))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        tapes[where] = replace(tape, name=name)
    return tapes
