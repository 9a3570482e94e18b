"""Writes the saturation point of a predicted host and the users within a limit, with changes and without."""

import math
from collections.abc import Callable, Iterator

from cuesta.analysis.capacity.findings import describe_saturation_conflict
from cuesta.analysis.predict.prediction import BY_MODEL, SystemPrediction
from cuesta.analysis.predict.saturation import Conflict, Saturation
from cuesta.analysis.predict.what_if import Answer, Capacity, ChangedFigure, Estimate, describe_change
from cuesta.plain_text import plain
from cuesta.report.model import Cell, Part, Remark, Table
from cuesta.report.prediction_figures import hidden_columns, write_band, write_pace
from cuesta.units import ABSENT, count, digits, seconds


def saturation_table(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    if not system.saturations:
        return
    unit = plain(system.saturations[0].at.unit.name)
    heads = ["by", "configuration", "Z+K", answer.users_are, "90 % band", f"{unit}/s"]
    rows = [saturation_cells(each, system) for each in system.saturations]
    paced = all(each.at.is_paced for each in system.saturations)
    caption = "" if len(system.model.points) == len(system.points) else "from all rows, those that were held out too"
    yield Table(heads, rows, caption, wide={*hidden_columns(system), *([2] if paced else [])})
    for each in system.conflicts:
        yield Remark(describe_conflict(each, answer.users_are), "bad")
    if unmetered := [each.response.users for each in system.conflicts if each.response.users < each.meter.users]:
        yield Remark(
            f"until that is metered, the limit is at most {math.floor(min(unmetered))} {answer.users_are}", "faint"
        )


def describe_conflict(conflict: Conflict, users_are: str) -> str:
    response, meter = conflict.response, conflict.meter
    name = f"{plain(response.at.configuration)}: " if response.at.configuration else ""
    return f"{name}{describe_saturation_conflict(response.users, plain(meter.by), meter.users, users_are)}"


def saturation_cells(point: Saturation, system: SystemPrediction) -> list[Cell]:
    """A saturation point with its band, unless it is withheld."""
    is_open = point.by == BY_MODEL and not system.model.fit.freedom
    within = ABSENT if is_open else f"{digits(point.band.low)}–{digits(point.band.high)}"
    rate = digits(point.throughput * point.at.unit.per_transaction)
    own = "" if point.at.is_paced else write_pace(point.at)
    return [plain(point.by), plain(point.at.configuration), own, digits(point.users), within, rate]


def limit_remarks(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    if answer.limit is None or answer.largest_mean is None:
        return
    for each in answer.capacities[system]:
        yield Remark(f"{plain(str(answer.limit))}: {describe_allowed(each, answer, system)}")


def describe_allowed(capacity: Capacity, answer: Answer, system: SystemPrediction) -> str:
    several = len({now.at.own_time for own in answer.capacities.values() for now in own}) > 1
    pace = f"Z+K {write_pace(capacity.at)}" if several and not capacity.at.is_paced else ""
    subject = [plain(capacity.at.configuration), pace]
    name = f" ({', '.join(filter(None, subject))})" if any(subject) else ""
    if capacity.allowed is None or (capacity.allowed.value < 1 and not capacity.allowed.not_reported):
        return f"a single user misses it{name}"
    if not capacity.allowed.is_determined:
        return f"NOT REPORTED: {capacity.allowed.why_left_out}{name}"
    return f"{write_whole(capacity.allowed, system)} {answer.users_are}{name}"


def write_whole(estimate: Estimate | None, system: SystemPrediction) -> str:
    """A number of users with its band, rounded down."""
    return ABSENT if estimate is None else write_estimate(estimate, system, lambda users: count(math.floor(users)))


def write_estimate(estimate: Estimate, system: SystemPrediction, written: Callable[[float], str] = digits) -> str:
    """A number with its band, or why it is withheld."""
    if not estimate.is_determined:
        return "NOT REPORTED" if estimate.not_reported else "not determined"
    within = f" ({written(estimate.band.low)}–{written(estimate.band.high)})" if system.model.fit.freedom else ""
    return f"{written(estimate.value)}{within}"


def what_if_tables(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    if not answer.changes:
        return
    yield Remark("; ".join(plain(describe_change(system, change)) for change in answer.changes))
    rows = [
        [count(each.at.users), plain(each.at.configuration), *changed_cells(each)]
        for each in answer.changed[system].figures
    ]
    unit = plain(system.figures[0].at.unit.name)
    within = "90 % band" if system.model.fit.freedom else "by rounding"
    yield Table(
        [answer.users_are, "configuration", "R now", "R then", within, f"{unit}/s"], rows, wide=hidden_columns(system)
    )
    yield capacity_table(answer, system)
    yield Remark("it rests on the model above and on these changes: the changed host was never measured", "notice")


def changed_cells(figure: ChangedFigure) -> list[Cell]:
    if figure.response.not_reported:
        return [ABSENT] * 4
    rate = digits(figure.throughput * figure.at.unit.per_transaction)
    if figure.before.is_response_too_wide:
        return [ABSENT, ABSENT, write_band(figure.response.band), rate]
    return [seconds(figure.before.response), seconds(figure.response.value), write_band(figure.response.band), rate]


def capacity_table(answer: Answer, system: SystemPrediction) -> Table:
    pairs = zip(answer.capacities[system], answer.changed[system].capacities, strict=True)
    rows = [
        [plain(now.at.configuration), "" if now.at.is_paced else write_pace(now.at),
         *(write_estimate(each.saturation, system) for each in (now, then)),
         *(write_whole(each.allowed, system) for each in (now, then))]
        for now, then in pairs
    ]  # fmt: skip
    limit = plain(str(answer.limit)) if answer.limit and answer.largest_mean is not None else ""
    heads = ["configuration", "Z+K", "saturates now", "then", f"{limit} now", "then"]
    one_pace = len({row[1] for row in rows}) == 1
    left_out = {*({0} if hidden_columns(system) else ()), *({1} if one_pace else ()), *(() if limit else (4, 5))}
    return Table(heads, rows, f"in {answer.users_are}", wide=left_out)
