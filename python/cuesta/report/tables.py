"""Tables that the text and the HTML report share: cells as text, not yet laid out."""

from collections.abc import Iterator, Mapping

from cuesta.analysis.summary import Summary
from cuesta.figures.step import ENOUGH_FOR_P999, Distribution, StepFigures
from cuesta.report.cells import duration, number, percent, whole
from cuesta.report.phrases import beside, class_of, plain
from cuesta.report.tiers import in_brackets
from cuesta.units import ABSENT, count, digits, many, seconds

HEADS = ("p50", "p90", "p95", "p99", "p99.9", "max")

DUE_AND_SENT = "due: when the key should have gone, so that no wait is left out; sent: when it went"
AS_THE_TAPE_SAYS = "as the tape says"
FEW = f"* of fewer than {count(ENOUGH_FOR_P999)}: it rests on a handful of values"


def distributions(step: StepFigures) -> Iterator[tuple[str, Distribution | None]]:
    """Give the rows of the response table; a label without a distribution is a heading."""
    for keys in step.keys:
        if keys.echo.count:
            yield f"keys of {plain(keys.group)}", None
            yield "echo − due", keys.echo
            yield "echo − sent", keys.echo_from_sent
    for each in step.classes:
        if each.response.count:
            yield class_of(each.group, each.transaction), None
            yield "first − due", each.first_response
            yield "done − due", each.response
            yield "done − sent", each.response_from_sent
    opening = {"connect": step.connect, "negotiation": step.negotiation, "login": step.login}
    if any(phase.count for phase in opening.values()):
        yield "opening lines, before measuring too", None
        yield from ((name, phase) for name, phase in opening.items() if phase.count)
    if len(step.classes) > 1:
        yield "all transactions", None
        yield "first − due", step.first_response
        yield "done − due", step.response
        yield "done − sent", step.response_from_sent


def cells(d: Distribution) -> tuple[str, ...]:
    """Give the cells below HEADS; 999 in 1000 of few values is marked."""
    p999 = seconds(d.p999) + ("*" if few(d) else "")
    return *map(seconds, (d.p50, d.p90, d.p95, d.p99)), p999, seconds(d.max)


def few(d: Distribution | None) -> bool:
    """Say whether there are too few values for 999 in 1000."""
    return d is not None and 0 < d.count < ENOUGH_FOR_P999


def sweep(summary: Summary) -> Iterator[tuple[str, ...]]:
    """Give the heads, then a row for each step; the last cell says whether it is in doubt."""
    swept = list(dict.fromkeys(name for step in summary.steps for name in step.swept)) or ["users"]
    names = (name.removeprefix("group.") for name in swept)
    yield *names, "X /s", "p50", "p95", "p99", "echo", "errors", "late", ""
    for step in summary.steps:
        yield (
            *(point(step, name) for name in swept),
            ABSENT if step.transactions.per_s is None else digits(step.transactions.per_s),
            *map(seconds, (step.response.p50, step.response.p95, step.response.p99, step.echo.p99)),
            count(step.errors.count),
            seconds(step.lateness.p99),
            "INVALID" if any(doubted.step == step.step for doubted in summary.doubts) else "",
        )


def lateness(step: StepFigures) -> Iterator[tuple[str, Distribution]]:
    """Give the driver's own lateness, of each group and of all."""
    yield from ((plain(keys.group), keys.lateness) for keys in step.keys if keys.lateness.count)
    if len(step.keys) > 1:
        yield "all keys", step.lateness


def devices(step: StepFigures) -> Iterator[tuple[str, ...]]:
    """Give the heads, then a row for each block device of the host; nothing where none was metered."""
    found = step.host.sheet["devices"] if step.host.sheet else {}
    if found:
        yield "device", "reads", "writes", "ATB", "queue", "response", "service", "% busy", "errors"
    for name, of in found.items():
        yield (
            plain(name),
            *(f"{digits(of[way]['per_s'])}/s" for way in ("reads", "writes")),
            duration(of["atb"]),
            number(of["queue"]),
            *map(duration, (of["response"], of["service"])),
            percent(of["busy"]),
            whole(of["errors"]),
        )


def devices_tier(step: StepFigures) -> str:
    """Say how the figures of the block devices were had."""
    found = step.host.sheet["devices"].values() if step.host.sheet else ()
    return in_brackets(*(figure for of in found for figure in of.values() if isinstance(figure, Mapping)))


def groups(summary: Summary, step: StepFigures) -> Iterator[tuple[str, ...]]:
    """Give the heads, then a row for each group of lines, as planned."""
    planned = summary.recorded.run.get("steps", [])
    yield "lines of", "users", "line speed", "load", "keys", "target"
    for group in planned[step.step]["group"] if step.step < len(planned) else ():
        speed, keys = group.get("line_speed"), group.get("key_rate")
        yield (
            plain(group["name"]),
            count(group["users"]),
            _speed(speed),
            plain(group["load"]),
            f"{digits(keys)}/s" if keys else AS_THE_TAPE_SAYS,
            plain(group["target"]),
        )


def _speed(bits: int | None) -> str:
    if bits is None:
        return AS_THE_TAPE_SAYS
    return f"{count(bits)} bit/s" if bits else "as fast as it goes"


def lines(summary: Summary, step: StepFigures) -> list[tuple[str, ...]]:
    """Give a row for each line, the worst first: lost ones, then by mean response."""
    users = [row for agent in summary.recorded.agents for row in agent.users if row.step == step.step]
    worst_first = sorted(users, key=lambda row: (row.lost is None, -row.mean))
    return [
        (
            str(row.user),
            plain(row.group),
            count(row.transactions),
            *((seconds(row.mean), seconds(row.max)) if row.transactions else (ABSENT, ABSENT)),
            plain(row.lost or ""),
        )
        for row in worst_first
    ]


def published(summary: Summary) -> Iterator[tuple[str, ...]]:
    """Give a row for each published figure: what it is of, how many users, measured, published, and their ratio."""
    users = {step.step: step.users for step in summary.steps}
    for each in summary.published:
        number = each.users if each.step is None else users[each.step]
        yield plain(each.what), many(number or 0, "user"), *beside(each)


def sources(summary: Summary) -> str:
    """Name where the published figures are from."""
    return "; ".join(dict.fromkeys(plain(each.source) for each in summary.published))


def point(step: StepFigures, name: str) -> str:
    """Give the value of a swept setting in a step."""
    return plain(str(step.swept.get(name, step.users if name == "users" else ABSENT)))


def about_sweep(summary: Summary) -> str:
    """Say what the columns of a sweep are, and what is missing."""
    missing = summary.planned_steps - len(summary.steps)
    lacks = f" {missing} of {summary.planned_steps} steps were not measured." if missing else ""
    columns = "X: transactions counted; p50 to p99: response since due; echo, late: p99 of echo and of lateness."
    return f"{columns}{lacks} Below: step {summary.last.step + 1}."
