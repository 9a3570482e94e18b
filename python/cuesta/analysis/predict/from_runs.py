"""Rows of run folders: a point for each step of a run, a sweep or a search."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from cuesta.analysis.capacity.measured_step import MeasuredStep, Work, list_swept_besides_users
from cuesta.analysis.capacity.resources import Kind, Resource, read_resources
from cuesta.analysis.certainty import error_of_rate, error_of_response, sum_by_second
from cuesta.analysis.compare.comparability import HOST, collect_facts, list_differences
from cuesta.analysis.predict.points import KEYS, Conditions, Measurements, Point, Unit
from cuesta.analysis.quantity import Quantity
from cuesta.analysis.summary import Summary, summarise
from cuesta.errors import RefusedError
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.plan.fields import Load
from cuesta.units import share

ALIKE = ("machine", "tapes")
"""Kinds of facts that must be equal in runs of one system."""
PACE = ("name", "load", "think", "key_rate", "key_law", "line_speed")
"""The settings of a group that Z and K depend on, beside the tape."""
MOST_UNANSWERED = 0.01
"""The largest share of a step's transactions that may be unanswered: their times are censored."""
STATIONS = (Kind.CPU, Kind.DISK, Kind.NETWORK, Kind.SERVERS)
"""Kinds of resources at which transactions queue."""


def read_runs(folders: Sequence[Path]) -> Measurements:
    """Read the points of run folders.

    Raises InputError for a folder that cannot be read, RefusedError for an open load.
    """
    summaries = [summarise(folder) for folder in folders]
    for other in summaries[1:]:
        insist_on_one_system(summaries[0], other)
    notes = [note for summary in summaries for note in explain_left_out(summary)]
    return Measurements(", ".join(str(folder) for folder in folders), derive_points(*summaries), notes=notes)


def insist_on_one_system(base: Summary, other: Summary) -> None:
    """Raise RefusedError for runs of different machines, tapes or hosts."""
    one, two = (collect_facts(summary.recorded.run) for summary in (base, other))
    differences = list_differences(one, two, ALIKE)
    differences += [fact for fact in list_differences(one, two, [HOST]) if fact.name.startswith("host.")]
    if differences:
        raise RefusedError(
            f"{base.recorded.folder} and {other.recorded.folder} are not runs of one system: {differences[0]}",
            "predict from runs of one machine, tape and host at a time",
        )


def derive_points(*summaries: Summary) -> list[Point]:
    """A point for each valid step of runs of one system in which transactions or keys were timed."""
    steps = [
        (summary, step)
        for summary in summaries
        for step in summary.undoubted
        if share_unanswered(step) <= MOST_UNANSWERED
    ]
    own_times = pool_own_times([MeasuredStep(summary.recorded, step) for summary, step in steps])
    return [point for summary, step in steps for point in derive_point(summary, step, own_times)]


def share_unanswered(step: StepFigures) -> float:
    asked = step.transactions.count + step.unanswered
    return step.unanswered / asked if asked else 0.0


def pool_own_times(steps: Sequence[MeasuredStep]) -> dict[str, tuple[float, float]]:
    """Z and K in seconds by configured pace, as means of all transactions or keys of closed loads.

    Means of single steps differ by chance, and would make each step a load of its own. Steps in which waits failed
    count only where there are no others: their users also thought for transactions that never ended.
    """
    alike: dict[str, list[MeasuredStep]] = {}
    for measured in steps:
        if measured.step.load == "closed" and measured.work:
            alike.setdefault(configured_pace(measured), []).append(measured)
    pooled = {}
    for pace, steps_alike in alike.items():
        with_law = [measured for measured in steps_alike if measured.step.law] or steps_alike
        think, keying, counts = map(sum, zip(*map(sum_own_time, with_law), strict=True))
        pooled[pace] = think / counts, keying / counts
    return pooled


def sum_own_time(measured: MeasuredStep) -> tuple[float, float, int]:
    """The seconds that all users of a step thought and typed, and the number of transactions or keys.

    For keys, by the response-time law: X·K = N − X·R. A step may take back what the one before it counted after a key
    was due (`UserState::spend_until`), which makes a sum below 0 without think time.
    """
    step, work = measured.step, measured.work
    if work and work.unit == "key":
        keys = step.served_keys
        return 0.0, max(step.users * step.seconds - work.mean * keys, 0.0), keys
    think = sum_by_second(measured.recorded, step.step, lambda row: row.sums.think)
    keying = sum_by_second(measured.recorded, step.step, lambda row: row.sums.keying)
    return max(sum(think), 0.0), max(sum(keying), 0.0), step.served_transactions


def configured_pace(measured: MeasuredStep) -> str:
    """A key for all settings that Z and K depend on."""
    groups = [{name: group.get(name) for name in PACE} for group in measured.groups]
    swept = {name: value for name, value in measured.step.swept.items() if name != "users"}
    planned = [group.get("users") for group in measured.recorded.plan.get("group", [])] if len(groups) > 1 else []
    shares = [users / sum(planned) for users in planned]
    return repr((groups, sorted(swept.items()), shares))


def explain_left_out(summary: Summary) -> Iterator[str]:
    for doubted in summary.doubts:
        where = summary.recorded.folder.name if doubted.step is None else f"step {doubted.step + 1}"
        yield f"{where} is left out: {doubted.doubt}"
    for step in summary.undoubted:
        if share_unanswered(step) > MOST_UNANSWERED:
            never = f"{share(share_unanswered(step))} of its transactions were not answered"
            yield f"step {step.step + 1} is left out: {never}, so that its mean response is not known"


def derive_point(summary: Summary, step: StepFigures, own_times: Mapping[str, tuple[float, float]]) -> Iterator[Point]:
    """The point of a step, with pooled Z and K; nothing if nothing was timed in it."""
    measured = MeasuredStep(summary.recorded, step)
    work = measured.work
    if work is None or not work.mean:
        return
    unit = Unit(KEYS) if work.unit == "key" else Unit()
    error = 2 * error_of_rate(summary.recorded, [step.step])
    yield Point(
        place=f"{summary.recorded.folder}, step {step.step + 1}",
        at=derive_conditions(measured, summary, unit, own_times.get(configured_pace(measured), (0.0, 0.0))),
        throughput=with_relative_error(work.per_s, error),
        response=mean_response(summary, step, work),
        utilizations={each.name: utilization_by_demand(each, work.per_s) for each in queueing_resources(measured)},
        servers={each.name: each.servers for each in queueing_resources(measured)},
        is_fixed=measured.has_fixed_service,
        recorded=(summary.recorded.folder, step.step),
        percentiles=known_percentiles(step.response if work.unit == "transaction" else step.echo),
    )


def mean_response(summary: Summary, step: StepFigures, work: Work) -> Quantity:
    """The mean response of a step, with its interval; for keys no interval is known."""
    if work.unit != "transaction":
        return Quantity.exactly(work.mean)
    return with_relative_error(work.mean, 2 * error_of_response(summary.recorded, step.step))


def known_percentiles(durations: Distribution) -> dict[str, float]:
    """Seconds since due, by name; without censored percentiles."""
    known = [name for name in ("p50", "p95", "p99") if name not in durations.at_least]
    return {name: value for name in known if (value := getattr(durations, name)) is not None}


def queueing_resources(measured: MeasuredStep) -> Iterator[Resource]:
    """The resource of each kind that allows the least throughput: those of one kind and host overlap."""
    resources = [each for each in read_resources(measured) if each.demand]
    for kind, host in product(STATIONS, dict.fromkeys(each.host for each in resources)):
        if own := [each for each in resources if (each.kind, each.host) == (kind, host)]:
            yield min(own, key=lambda each: each.most_per_s or 0.0)


def utilization_by_demand(resource: Resource, per_s: float) -> Quantity:
    """U = D·X/m; the reading itself where the meter shows more than 100 %, so that it is rejected later."""
    by_demand = (resource.demand or 0.0) * per_s / resource.servers
    return Quantity.exactly(by_demand if resource.is_believed else max(resource.busy, by_demand))


def derive_conditions(
    measured: MeasuredStep, summary: Summary, unit: Unit, own_time: tuple[float, float]
) -> Conditions:
    """The load of a step. Each value of another swept setting is a configuration."""
    step = measured.step
    others = [name for name in list_swept_besides_users(summary) if not name.endswith(("think", "load"))]
    name = ", ".join(f"{each.rpartition('.')[2]} {step.swept.get(each)}" for each in others)
    loads = [Load.read(group["load"]) for group in measured.groups]
    if not loads or any(load.kind == "open" or load != loads[0] for load in loads):
        raise RefusedError(
            f"{summary.recorded.folder}: step {step.step + 1}: the load is {step.load}",
            "predict takes runs whose groups are all closed, or all paced by one cycle",
        )
    return Conditions(
        configuration=name,
        users=step.users,
        think=own_time[0],
        keying=own_time[1],
        cycle=loads[0].cycle / 1e9 if loads[0].kind == "paced" else None,
        demand=name,
        delays=(name,),
        unit=unit,
    )


def with_relative_error(value: float, error: float) -> Quantity:
    return Quantity(value * max(1 - error, 0.01), value, value * (1 + error))
