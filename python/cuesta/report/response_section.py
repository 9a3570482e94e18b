"""The section of response times: their distributions by class, and whether users were served alike."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.own_part import choose_quoted, why_void
from cuesta.analysis.probe import describe_probe
from cuesta.analysis.summary import Summary
from cuesta.analysis.unsteady import why_unsteady
from cuesta.figures import CATALOGUE
from cuesta.figures.durations import Distribution, KernelTimes, KeyTimes, TransactionClass, class_label
from cuesta.figures.probe import ProbeFigures
from cuesta.figures.step import Fairness, StepFigures
from cuesta.ledger.run_folder import PARTS
from cuesta.report.figure import (
    CENSORED,
    FEW,
    MARK,
    PERCENTILES,
    has_weak,
    head,
    percentiles,
    write_count,
    write_duration,
    write_percentile,
)
from cuesta.report.frames import describe_frames
from cuesta.report.model import Cell, Folded, Part, Plots, Remark, Section, Table
from cuesta.report.plots.distributions import plot_distributions
from cuesta.units import count, many, seconds

DUE_AND_SENT = "times count from when a key was due, so that no wait is left out; since sent: from when it was sent"
HEADS: tuple[Cell, ...] = ("", "count", "mean", *PERCENTILES.values())
NO_SIGN = "none"
"""A wait was met, and nothing had come since its key."""
MEAN = 2
"""The column that only a page has room for."""
BRIEF = ("p50", "p95", "p99", "max")
"""Statistics on a first screen."""
DistributionRow = tuple[str, Distribution | None, str]
"""A label, its distribution or None for a heading, and the figure's name in the catalogue."""
BELOW = {"echo_from_sent": 1, "response_from_sent": 1, "whole_frame": 2}
"""Rows that refine one above them, and how far below it they stand."""
LOADS = {
    "closed": "the next input is due a think time after the answer",
    "paced": "inputs are due at fixed times",
    "open": "inputs arrive at a given rate, whatever the host does",
}
FAIR, UNFAIR = 0.9, 0.7
"""Users are served alike from the first value of Jain's index on, and unlike below the second."""


def response_section(summary: Summary, step: StepFigures) -> Section:
    rows = list(distribution_rows(step))
    if not rows:
        return Section(
            "Response", [Remark(describe_load(step)), Remark("no transaction and no echo was measured", "notice")]
        )
    caveats = [*list_caveats(step), *probe_remarks(summary, step)]
    parts: list[Part] = [Remark(describe_load(step)), *caveats, times_table(rows)]
    if step.frames:
        parts.append(Remark(describe_frames(step.frames)))
    more: list[Part] = [*map(Remark, explain_load(step)), Plots(list(plot_distributions(summary.recorded, step)))]
    opening = [(name, each) for name, each in (opening_times(step) | opening_parts(step)).items() if each.total]
    if opening:
        cells = [(name, write_count(each), write_duration(each, "mean"), *percentiles(each)) for name, each in opening]
        about = "every line that was opened in the step, those of the ramp included"
        more.append(Folded("Connecting (ramp-up included)", [Table(HEADS, cells, about, wide={MEAN})]))
    if answers := [each for each in step.classes if each.characters.count]:
        more.append(Folded("Characters of an answer, echoes left out", [sizes_table(answers)]))
    if step.fairness:
        more.append(Remark(describe_fairness(step.fairness)))
    if step.kernel:
        more.append(Remark(describe_inflation(step.kernel), "faint"))
    since = Remark(f"{describe_load(step)}; times since due")
    return Section("Response", parts, more, brief=[since, *caveats, brief_table(step)])


def describe_load(step: StepFigures) -> str:
    short = step.seconds < step.planned_seconds - 0.5
    planned = f" of {seconds(step.planned_seconds)} planned" if short else ""
    probe = f" beside a probe of {count(step.probe.users)}" if step.probe else ""
    return f"{many(step.load_users, 'user')}{probe}, {step.load} load, measured for {seconds(step.seconds)}{planned}"


def explain_load(step: StepFigures) -> Iterator[str]:
    kind = step.load.partition(":")[0]
    if kind in LOADS:
        yield f"{kind} load: {LOADS[kind]}"


def list_caveats(step: StepFigures) -> Iterator[Remark]:
    """Why the percentiles below are not those of the host, or not only."""
    if why := why_unsteady(step):
        yield Remark(f"{why}: the times below are of this run alone", "notice")
    if own := why_void(step):
        yield Remark(f"{own}: the times below contain it", "notice")


def probe_remarks(summary: Summary, step: StepFigures) -> Iterator[Remark]:
    """What a probe says where it cannot tell, or there is something to explain; of a loaded driver a doubt tells."""
    match step.probe:
        case ProbeFigures(verdict="unknown" | "probe"):
            yield Remark(describe_probe(step.probe), "notice")
        case ProbeFigures(verdict="alike") if is_questioned(summary, step):
            yield Remark(describe_probe(step.probe), "notice")


def is_questioned(summary: Summary, step: StepFigures) -> bool:
    """Whether a reader asks where a step's times come from, and no doubt says that it is the driver."""
    doubts = [each.doubt for each in summary.doubts if each.step in (None, step.step)]
    if any(doubt.blames == "driver" for doubt in doubts):
        return False
    return bool(doubts) or not step.settled.steady or not all(limit.ok for limit in step.limits)


def distribution_rows(step: StepFigures) -> Iterator[DistributionRow]:
    several = len(step.keys) > 1
    for keys in step.keys:
        if keys.echo.total:
            yield f"keystroke echo{f' of {name_group(step, keys.group)}' if several else ''}", None, ""
            yield "echo", keys.echo, "echo"
            yield "since sent", keys.echo_from_sent, "echo_from_sent"
            if keys.whole_frame.total:
                yield "whole frame", keys.whole_frame, "whole_frame"
    classes = [each for each in step.classes if each.response.total]
    alone = len({each.group for each in classes}) == 1
    for each in classes:
        yield each.transaction if alone else label_class(step, each), None, ""
        yield "first sign", each.first_response, "first_response"
        yield "answer", each.response, "response"
        yield "since sent", each.response_from_sent, "response_from_sent"
    if sum(not is_probe(step, each) for each in classes) > 1:
        yield "all transactions", None, ""
        yield "first sign", step.first_response, "first_response"
        yield "answer", step.response, "response"
        yield "since sent", step.response_from_sent, "response_from_sent"


def brief_table(step: StepFigures) -> Table:
    """One row each for all echoes, all answers and, of several, each group's echoes and each class in the tape's order.

    What probes saw stands below the same of the others. Times are since due, or those since sent that the headline
    quotes as well.
    """
    echo, response = (choose_quoted(step, name) or name for name in ("echo", "response"))
    rows: list[tuple[str, Distribution]] = [
        (name_quoted("echo", echo), getattr(step, echo)),
        *([("whole frame", step.whole_frame)] if ends_later(step.whole_frame, step.echo) else []),
        *((f"{name_group(step, keys.group)}: echo", getattr(keys, echo)) for keys in step.keys if is_probe(step, keys)),
        (name_quoted("answer", response), getattr(step, response)),
    ]
    rows += rows_by_group(step, echo, response)
    known = [(label, durations) for label, durations in rows if durations.total]
    cells = [(label, write_count(each), *(write_percentile(each, name) for name in BRIEF)) for label, each in known]
    caption = "; ".join(
        mark
        for mark, sign in (("* fewer than 10 values", MARK), ("+ not answered: counts as at least its wait", "+"))
        if any(sign in cell for row in cells for cell in row[1:])
    )
    return Table(("", "count", *BRIEF), cells, caption, wraps=0, may_end_early=True)


def rows_by_group(step: StepFigures, echo: str, response: str) -> Iterator[tuple[str, Distribution]]:
    """Rows of several groups of the load, or several transactions of one; of probes, rows of each transaction."""
    keys = [each for each in step.keys if not is_probe(step, each)]
    classes = [each for each in step.classes if not is_probe(step, each)]
    probed = {(each.group, each.transaction): each for each in step.classes if is_probe(step, each)}
    groups = dict.fromkeys([*(each.group for each in keys), *(each.group for each in classes)])
    for group in groups if len(groups) > 1 else ():
        yield from ((f"{group}: echo", getattr(each, echo)) for each in keys if each.group == group)
        yield from ((each.label, getattr(each, response)) for each in classes if each.group == group)
    for each in classes if len(groups) == 1 < len(classes) else ():
        yield each.transaction, getattr(each, response)
        for name in [name for name in probed if name[1] == each.transaction]:
            same = probed.pop(name)
            yield label_class(step, same), getattr(same, response)
    yield from ((label_class(step, each), getattr(each, response)) for each in probed.values())


def is_probe(step: StepFigures, each: KeyTimes | TransactionClass) -> bool:
    return step.probe is not None and each.group in step.probe.groups


def name_group(step: StepFigures, group: str) -> str:
    """The name of a group of users: that of a probe says that it is one."""
    names_it = step.probe is None or group not in step.probe.groups or "probe" in group
    return group if names_it else f"probe {group}"


def label_class(step: StepFigures, each: TransactionClass) -> str:
    return class_label(name_group(step, each.group), each.transaction)


def name_quoted(label: str, series: str) -> str:
    return f"{label} since sent" if series.endswith("from_sent") else label


def times_table(rows: list[DistributionRow]) -> Table:
    """A table of the distributions; with one class of transactions a terminal shows no headings."""
    known = [durations for _, durations, _ in rows if durations]
    is_single = len(rows) - len(known) <= 2
    cells: list[tuple[Cell, ...]] = []
    details = set[int]()
    for number, (label, durations, name) in enumerate(rows):
        if durations is None:
            cells.append((label,))
        else:
            cells.append((head(f"{name}.p50", label), write_count(durations), *times_cells(name, durations)))
        if not is_news(rows, number) or (durations is None and is_single):
            details.add(number)
    weak, censored = any(map(has_weak, known)), any(durations.censored for durations in known)
    caption = "; ".join(filter(None, (FEW * weak, CENSORED * censored, DUE_AND_SENT)))
    return Table(HEADS, cells, caption, details=details, wide={MEAN})


def times_cells(name: str, durations: Distribution) -> list[str]:
    """The mean and the percentiles. No answer is as fast as its key: a first sign after 0 ns was none."""
    times = [write_duration(durations, "mean"), *percentiles(durations)]
    is_none = [name == "first_response" and time.rstrip(MARK) == seconds(0.0) for time in times]
    return [NO_SIGN if none else time for time, none in zip(times, is_none, strict=True)]


def is_news(rows: list[DistributionRow], number: int) -> bool:
    """Whether a row differs from the one above it that it refines."""
    _, durations, name = rows[number]
    above = rows[number - BELOW[name]][1] if name in BELOW else None
    if not durations or not above:
        return True
    if name == "whole_frame":
        return ends_later(durations, above)
    return is_longer(above, durations, "p99")


def ends_later(frame: Distribution, echo: Distribution) -> bool:
    """Whether frames end later than the echoes that they show, by more than a tenth."""
    return is_longer(frame, echo, "p50") or is_longer(frame, echo, "p99")


def is_longer(one: Distribution, other: Distribution, name: str) -> bool:
    """Whether a percentile is longer by more than a tenth."""
    longer, shorter = getattr(one, name), getattr(other, name)
    return bool(longer and shorter and longer > 1.1 * shorter)


def sizes_table(classes: Sequence[TransactionClass]) -> Table:
    names = ("min", "p5", "p50", "p95", "max")
    rows = [
        (
            each.label,
            *(count(getattr(each.characters, name)) for name in ("count", *names)),
        )
        for each in classes
    ]
    return Table(("", "count", *names), rows)


def opening_times(step: StepFigures) -> dict[str, Distribution]:
    return {
        "preparing": step.prepare,
        "connecting": step.connect,
        "TLS": step.tls,
        "upgrading": step.upgrade,
        "negotiating": step.negotiation,
        "logging in": step.login,
        "getting ready": step.session,
    }


def opening_parts(step: StepFigures) -> dict[str, Distribution]:
    """The parts of an ssh line's opening, and the wait for the first character."""
    names = {name: CATALOGUE[f"opening.{name}.p50"].label.removesuffix(" p50") for name in PARTS}
    return {f"– {label}": getattr(step.opening, name) for name, label in names.items()}


def describe_fairness(fair: Fairness) -> str:
    slowest = f"user {fair.worst_user} of {fair.worst_group}"
    return (
        f"Jain's index {fair.jain:.3f} of {many(fair.users, 'user')}: {rate_fairness(fair.jain)}; slowest: {slowest}, "
        f"mean response {seconds(fair.worst_mean)} (median of the users {seconds(fair.median)})"
    )


def rate_fairness(jain: float) -> str:
    return "good" if jain >= FAIR else "middling" if jain >= UNFAIR else "bad"


def describe_inflation(kernel: KernelTimes) -> str:
    k, extra = kernel.kernel_response, kernel.inflation
    u = kernel.user_response
    by = f"by {seconds(extra.p50)}, p99 by {seconds(extra.p99)}" if extra.p50 > 0 else "by nothing measurable"
    return (
        f"from the last key to the first sign of an answer, {many(k.count, 'transaction')}: the kernel saw "
        f"p50 {seconds(k.p50)} p99 {seconds(k.p99)}, the driver p50 {seconds(u.p50)} p99 {seconds(u.p99)}: "
        f"the driver inflates the median {by}"
    )
