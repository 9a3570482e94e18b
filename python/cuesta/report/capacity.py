"""What limits the host: the sentence, and the section with its evidence."""

import math
from collections.abc import Iterator, Sequence

from cuesta.analysis.capacity import find_bottleneck
from cuesta.analysis.capacity.asymptotes import list_shared_resources
from cuesta.analysis.capacity.findings import Conflicting, DriverLimited, FewUsers
from cuesta.analysis.capacity.laws import LawCheck, check_laws
from cuesta.analysis.capacity.measured_step import MeasuredStep, Work, order_by_load
from cuesta.analysis.capacity.resources import Kind, Resource, read_resources
from cuesta.analysis.capacity.response_parts import ResponseParts, divide_response
from cuesta.analysis.capacity.unmetered import list_suspects
from cuesta.analysis.predict.from_runs import derive_points
from cuesta.analysis.predict.saturation import Saturation, saturations_by_meters
from cuesta.analysis.summary import Summary
from cuesta.errors import RefusedError
from cuesta.report.figure import write_rate
from cuesta.report.model import Cell, Part, Remark, Section, Table, Words
from cuesta.units import digits, seconds, share

TITLE = "What limits the host"
RESOURCES: tuple[Cell, ...] = (
    "resource",
    Words("busy", "utilization U: the share of its capacity in use"),
    Words("cost", "service demand D = m·U/X: time of one of its servers for each unit of work"),
    Words("wait", "time that work was ready and waited for it, for each unit of work, where it is metered"),
    Words("allows", "m/D: the throughput that saturates it"),
    Words("by the host", "the part of `busy` that is the host's own work, where that is known"),
    Words("at once", "m: how many it can serve at once: CPUs, servers, lines, characters"),
    "from",
)
ONLY_A_PAGE = {5, 6, 7}
"""Columns for which a terminal has no room."""
LEAST_STEPS = 4
"""Steps from which on straight lines of meters tell where their resources saturate."""
WRONG = "above 100 %: rejected"


def state_limit(summary: Summary) -> Remark:
    finding = find_bottleneck(summary)
    return Remark(str(finding), "notice" if isinstance(finding, Conflicting | DriverLimited | FewUsers) else "")


def section(summary: Summary) -> Section:
    """The evidence of the sentence; a terminal shows it with --verbose."""
    point = order_by_load(summary)[-1]
    measured = MeasuredStep(summary.recorded, point.step)
    known, work = read_resources(measured), measured.work
    if work is None:
        return Section(TITLE, name="CAPACITY")
    parts = divide_response(measured, known)
    at = f"at {point.text}" + (f", step {measured.step.step + 1}" if len(summary.steps) > 1 else "")
    more: list[Part] = [Remark(f"{at}: {write_rate(work.per_s)} {work.unit}s")]
    if known:
        more.append(resource_table(known))
    more.append(parts_table(parts, work))
    more += state_saturations(summary) if len(summary.steps) > 1 else map(Remark, state_bounds(measured, parts))
    if checks := check_laws(measured, known):
        more.append(Table(("law", "one side", "other", "", "from"), list(map(law_row, checks)), wide={4}, wraps=4))
    more.append(Remark(f"not metered, and therefore in no row: {', '.join(list_suspects(measured))}", "faint"))
    return Section(TITLE, more=more, name="CAPACITY")


def resource_table(known: Sequence[Resource]) -> Table:
    rows = [
        (
            Words(each.name, each.note),
            Words(share(each.busy), "" if each.is_believed else WRONG, "" if each.is_believed else "bad"),
            seconds(each.demand),
            seconds(each.waited),
            write_rate(each.most_per_s),
            share(each.own_busy),
            digits(each.servers) if each.servers % 1 else f"{each.servers:,.0f}",
            each.source,
        )
        for each in sorted(known, key=lambda each: (each.kind == Kind.LINES, -each.busy))
    ]
    return Table(RESOURCES, rows, wide=ONLY_A_PAGE, wraps=7)


def parts_table(parts: ResponseParts, work: Work) -> Table:
    shown = [part for part in parts.parts if part.seconds >= parts.response / 1000]
    rows = [(part.what, seconds(part.seconds), share(part.seconds / parts.response), part.source) for part in shown]
    rest = parts.unexplained
    rows.append(("explained by nothing that is metered", seconds(rest), share(rest / parts.response), "the rest"))
    answer = "response" if work.unit == "transaction" else "echo"
    head = f"of a mean {answer} of {seconds(parts.response)}"
    about = "a part of the host may be too large: its meters also count work outside of responses"
    return Table((head, "time", "share", "from"), rows, about, wide={3}, wraps=3)


def state_bounds(measured: MeasuredStep, parts: ResponseParts) -> Iterator[str]:
    """Both asymptotes by this step alone, by the host's own utilization."""
    own = [each for each in list_shared_resources(measured) if each.own_busy is not None]
    if not own or measured.step.law is None:
        return
    first = min(own, key=lambda each: each.most_per_s or math.inf)
    work = sum(part.seconds for part in parts.parts if not part.waits_for)
    cycle, most = work + measured.own_pace, first.most_per_s or 0.0
    alone = f"{seconds(work)} of work and line, {seconds(measured.own_pace)} of thinking and typing"
    yield (
        f"bounds by these figures: a user who never waits for others takes {seconds(cycle)} for a transaction "
        f"({alone}), and no more than {write_rate(most)} get through {first.name}: from {digits(cycle * most)} users "
        "on (N*) some wait. What is not metered may allow less"
    )


def state_saturations(summary: Summary) -> Iterator[Remark]:
    """The saturation point by each meter, from all steps of a sweep."""
    try:
        points = derive_points(summary) if len(summary.steps) >= LEAST_STEPS else []
    except RefusedError:  # an open load
        return
    if users := "; ".join(f"by {point.by} at {write_saturation(point)}" for point in saturations_by_meters(points)):
        yield Remark(f"saturates {users}; where the response says so: cuesta predict, which fits it")


def write_saturation(point: Saturation) -> str:
    return f"{digits(point.users)} users (90 %: {digits(point.band.low)} to {digits(point.band.high)})"


def law_row(check: LawCheck) -> tuple[Cell, ...]:
    verdict = Words("holds", tone="good") if check.holds else Words("broken", tone="bad")
    return check.law, check.one, check.other, verdict, check.source
