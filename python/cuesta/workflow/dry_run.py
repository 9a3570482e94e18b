"""Shows what a run would do: its plan, groups, timeline and tapes, and how long it takes."""

from collections.abc import Sequence
from typing import Any

from cuesta.analysis.planned import write_swept_value
from cuesta.engine.engines import LOCAL
from cuesta.engine.job import SECOND, Job, seconds_of_run, timeline
from cuesta.engine.plan_warnings import list_warnings
from cuesta.engine.ssh import describe_unused, ssh_settings
from cuesta.engine.tapes import TapeFile
from cuesta.errors import CuestaError
from cuesta.line_kinds import row_of
from cuesta.plan import Group, PublishedFigure, PublishedTable, Segment, Step
from cuesta.plan.meter_places import hide_passwords
from cuesta.target import BUILTIN_HOST, kind_of
from cuesta.units import many, minutes


def show_plan(job: Job, ending: Sequence[str] = ()) -> str:
    """What a run of the job would do. `ending`: the last rows, if it is one run of several; by default its duration."""
    ending = ending or [f"It will take about {minutes(seconds_of_run(job))}."]
    parts = [
        _settings(job),
        _groups(job),
        _timeline(job),
        *_lines(job),
        *_left_behind(job),
        *_meters(job),
        *_tapes(job),
        *_warnings(job),
        "\n".join(ending),
    ]
    return "\n\n".join(parts)


def plan_data(job: Job) -> dict[str, Any]:
    """`show_plan` as data."""
    steps = [
        {"swept": dict(step.swept), **{name: ns / SECOND for name, ns in times.items()}, "segment": segment.folder}
        for segment in job.plan.segments()
        for step, times in _time_steps(segment)
    ]
    untraced = LOCAL.why_untraced(job.plan.settings.meters)
    return {
        "plan": job.plan.settings.model_dump(mode="json"),
        "steps": steps,
        "seconds": seconds_of_run(job),
        "untraced": untraced,
        "warnings": list(list_warnings(job)),
    }


def _lines(job: Job) -> list[str]:
    """Settings of the ssh configuration that have no effect in a run, or that make it fail."""
    groups = [group for step in job.plan.steps for group in step.settings.group if kind_of(group.target) == "ssh"]
    rows = dict.fromkeys(f"  {group.target}: {note}" for group in groups if (note := _ssh_note(job, group)))
    return ["\n".join(["LINES", *rows])] if rows else []


def _left_behind(job: Job) -> list[str]:
    """Traces that a run leaves on the host and on this machine."""
    groups = [group for step in job.plan.steps for group in step.settings.group]
    rows = []
    if any(row_of(group.target)["has_shell"] and not _ends_history(job.tape(group)) for group in groups):
        rows.append("  a shell's history keeps what users type, unless the tape begins with Type 'unset HISTFILE'")
    if any(kind_of(group.target) == "ssh" and "accept-new" in group.target for group in groups):
        rows.append("  known_hosts: hosts that are not in it yet are added (accept-new)")
    return ["\n".join(["LEFT BEHIND", *rows])] if rows else []


def _ends_history(tape: TapeFile) -> bool:
    """Whether a tape tells the shell to keep no history."""
    return any(variable in tape.text for variable in ("HISTFILE", "fish_history"))


def _ssh_note(job: Job, group: Group) -> str:
    try:
        unused, _ = ssh_settings(group.target, job.users_of(group).first(group.users))
    except CuestaError as error:
        return str(error)
    return describe_unused(unused) if unused else ""


def _time_steps(segment: Segment) -> list[tuple[Step, dict[str, int]]]:
    times = ({"begin": each.begin, "settled": each.settled, "end": each.end} for each in timeline(segment))
    return list(zip(segment.steps, times, strict=True))


def _settings(job: Job) -> str:
    apart = {"group", "host", "secrets", "validity", "sweep", "limits", "published", "published_table"}
    plain = job.plan.settings.model_dump(mode="json", exclude_none=True, exclude=apart)
    plain["nodes"] = job.plan.settings.node_count
    rows = [f"{name} = {_toml(value)}" for name, value in plain.items()]
    if secret := job.plan.settings.secrets.columns:
        rows.append(f"secret columns {', '.join(secret)}")
    rows += [f"limit {limit}" for limit in job.plan.settings.limits]
    rows += [f"published {_write_published(each)}" for each in job.plan.settings.published]
    rows += [f"published table {_write_published_table(each)}" for each in job.plan.settings.published_table]
    validity = job.plan.settings.validity.model_dump(mode="json")
    rows.append("valid if " + ", ".join(f"{name} {_toml(value)}" for name, value in validity.items()))
    return "\n".join(["PLAN " + job.plan.source, *(f"  {row}" for row in rows)])


def _write_published(figure: PublishedFigure) -> str:
    users = "" if figure.users is None else f", of {many(figure.users, 'user')}"
    return f"{figure.what}: {figure.figure} {figure.bound or '='} {figure.value}{users}, {figure.source}"


def _write_published_table(table: PublishedTable) -> str:
    when = ", ".join(f"{name} = {value}" for name, value in table.when.items())
    return f"{table.table.title}, {table.table.source}{f': beside steps with {when}' if when else ''}"


def _groups(job: Job) -> str:
    rows = ["GROUPS"]
    for group in job.plan.settings.group:
        values = group.model_dump(mode="json", exclude={"name", "tape", "data"}, exclude_none=True)
        values |= _swept(job, group)
        rows.append(f"  {group.name}: " + ", ".join(f"{name} {_toml(value)}" for name, value in values.items()))
        rows.append(f"    tape {group.tape}" + _users(job, group))
    if any(group.target == BUILTIN_HOST for group in job.plan.settings.group):
        host = job.plan.steps[0].settings.host.model_dump(mode="json", exclude={"service"}, exclude_none=True)
        values = {"service": str(job.service(job.plan.steps[0])), **host}
        rows.append("  built-in host: " + ", ".join(f"{name} {_toml(value)}" for name, value in values.items()))
    return "\n".join(rows)


def _swept(job: Job, group: Group) -> dict[str, str]:
    """The settings of a group that the plan sweeps, each with its values in all steps."""
    at = job.plan.settings.group.index(group)
    every = [step.settings.group[at].model_dump(mode="json") for step in job.plan.steps]
    values = {name: list(dict.fromkeys(str(each[name]) for each in every)) for name in every[0]}
    return {name: f"[{', '.join(each)}] (swept)" for name, each in values.items() if len(each) > 1}


def _users(job: Job, group: Group) -> str:
    return f", {job.describe_users(group)} from {group.data}" if group.data else ""


def _timeline(job: Job) -> str:
    rows = ["TIMELINE      begin    settled        end   users"]
    number = 1
    for segment in job.plan.segments():
        for step, times in _time_steps(segment):
            begin, settled, end = (f"{times[name] / SECOND:8.1f} s" for name in ("begin", "settled", "end"))
            swept = ", ".join(f"{path} = {write_swept_value(path, value)}" for path, value in step.swept.items())
            users = sum(group.users for group in step.settings.group)
            rows.append(f"  step {number:<3}{begin} {settled} {end} {users:7,}  {swept}".rstrip())
            number += 1
        if segment.first + len(segment.steps) < len(job.plan.steps):
            rows.append("  (the lines are opened again)")
    return "\n".join(rows)


def _meters(job: Job) -> list[str]:
    meters = job.plan.settings.meters
    untraced = LOCAL.why_untraced(meters)
    return [f"METERS  {hide_passwords(meters)}: not traced: {untraced}"] if untraced else []


def _tapes(job: Job) -> list[str]:
    return [
        "\n".join(
            [
                f"TAPE {tape.name}",
                *(f"  {row}" for row in tape.content.listing().splitlines()),
                *(f"  note: {note}" for note in tape.notes),
            ]
        )
        for tape in job.tapes.values()
    ]


def _warnings(job: Job) -> list[str]:
    rows = [f"  {each}" for each in list_warnings(job)]
    return ["\n".join(["WARNINGS", *rows])] if rows else []


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
