"""What the meters say of the host over a measurement interval. It is the host's word, not the driver's."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuesta.figures.host import BuiltInHost, CpuUse, HostFigures, Metering, PerTransaction
from cuesta.ledger import HostRow, Interval, Recorded, Step
from cuesta.ledger.meters import Row, Sheet
from cuesta.plan.fields import tracing_tier
from cuesta.target import OWN_PROGRAMS, kind_of

NOT_RECORDED = "no meter data: this run recorded no meters"
PARTS = ("usr", "sys", "irq", "iowait", "steal", "idle")
OWN_PARTS = ("usr", "sys", "irq")
UNMETERED = 1.0
"""Seconds without meters at the end of a measurement interval that are told of."""
COUNTS = ("minor_faults", "major_faults", "switches", "system_calls", "ios")


def host(recorded: Recorded, number: int, step: Step, counted: Sequence[Interval]) -> HostFigures:
    """Take what meters say of a step's measurement interval, in which the agents counted these rows."""
    shares = [(row, share) for row in recorded.host if (share := share_within(row, step)) > 0]
    sheet = recorded.metered.sheets.get(number)
    rows = [(row, share) for row in recorded.metered.rows if (share := share_within(row, step)) > 0]
    cpu = cpu_of_sheet(sheet) if sheet else cpu_of_rows(rows)
    end = recorded.metered.ends.get(number, step.end)
    too_little = mostly_others(recorded, number, sheet, counted, end) if sheet else None
    each = per_transaction(sheet, done_by(counted, sheet, end)) if sheet and not too_little else None
    return HostFigures(
        cpu=cpu,
        cpu_missing=None if cpu else missing(recorded, number),
        cpu_by_cause=by_cause(sheet),
        per_transaction=each,
        per_transaction_missing=too_little,
        cpu_by_cause_se=by_cause(sheet, "standard_error"),
        cpu_by_cause_interval=intervals_by_cause(sheet),
        meters=meters(recorded, number, step, sheet, rows),
        sheet=sheet,
        builtin=built_in(shares),
        programs=programs(recorded, number),
    )


def mostly_others(recorded: Recorded, number: int, sheet: Sheet, counted: Sequence[Interval], end: float) -> str | None:
    """Say why a machine's CPU time is not divided by transactions: its driver used more of it than all the rest."""
    about, used = recorded.metered.about(number), sheet["own"]["seconds"].get("value")
    if about is None or (about.source, about.subject) != ("here", "machine") or used is None:
        return None
    driver = within(counted, sheet, end, lambda row: row.cpu)
    if driver <= used - driver:
        return None
    return (
        f"not divided by transactions: of the machine's {used:.1f} s of CPU the driver used {driver:.1f} s, "
        "more than the host can have used; name the host with --meters pid:N or cgroup:PATH"
    )


def programs(recorded: Recorded, number: int) -> dict[str, int]:
    """Count the users of each command that a step starts."""
    steps = recorded.run.get("steps", [])
    users = Counter[str]()
    for group in steps[number]["group"] if number < len(steps) else []:
        if kind_of(group.get("target", "")) in OWN_PROGRAMS:
            users[group["target"]] += group["users"]
    return dict(users)


def share_within(row: HostRow | Row, step: Step) -> float:
    """Give what share of a row lies in the measurement interval: its second is cut on the host's own schedule."""
    overlap = min(row.end, step.end) - max(row.end - row.length, step.settled)
    return max(overlap / row.length, 0.0) if row.length else 0.0


def cpu_of_sheet(sheet: Sheet) -> CpuUse | None:
    """Take the CPUs' time from a sheet; nothing of a subject that has ended, whose time the CPUs' is not."""
    own = sheet["own"]
    if "why" in own["seconds"]:
        return None
    figures = uses(sheet)
    parts = {name: figures[name].get("value") for name in PARTS}
    known = all(value is not None for name, value in parts.items() if name != "irq")
    return CpuUse(**parts, others=own["others"].get("value")) if known else None


def uses(sheet: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the figures of the CPUs' use: of a part of what runs on them its own, and interrupts beside it."""
    own, cpu = sheet["own"], sheet["cpu"]
    return {**cpu, **{name: own[name] for name in OWN_PARTS if name in own}} if "value" in own["others"] else cpu


def cpu_of_rows(rows: Sequence[tuple[Row, float]]) -> CpuUse | None:
    """Put the CPUs' time together from rows: of a step whose sheet was never written."""
    known = [(row, row.length * share) for row, share in rows if tells_cpu(row.figures)]
    seconds = sum(weight for _, weight in known)
    if not seconds:
        return None

    def mean(of: Callable[[Mapping[str, Any]], float]) -> float:
        return sum(of(row.figures) * weight for row, weight in known) / seconds

    is_part = all("others" in row.figures.get("own", {}) for row, _ in known)

    def part(name: str) -> float:
        place = "own" if is_part and name in OWN_PARTS else "cpu"
        return mean(lambda figures: figures[place].get(name, 0.0))

    others = mean(lambda figures: figures["own"]["others"]) if is_part else None
    parts = {name: part(name) for name in PARTS if name != "irq"}
    apart = not is_part or all("irq" in row.figures["own"] for row, _ in known)
    return CpuUse(**parts, irq=part("irq") if apart else None, others=others)


def tells_cpu(figures: Mapping[str, Any]) -> bool:
    """Say whether a row has the CPUs' time and the subject's; one of a subject that has ended lacks its own."""
    return {*PARTS} <= {*figures.get("cpu", {})} and "usr" in figures.get("own", {})


def missing(recorded: Recorded, number: int) -> str:
    """Say why the host's CPUs are not known."""
    about, gaps, sheet = recorded.metered.about(number), recorded.metered.gaps, recorded.metered.sheets.get(number)
    if about is None:
        return NOT_RECORDED
    ended = sheet and sheet["own"]["seconds"].get("why")
    return f"no meter data: {ended or (gaps[-1].why if gaps else about.why)}"


def by_cause(sheet: Sheet | None, figure: str = "percent") -> Mapping[str, float] | None:
    """Give the shares of CPU by cause, or another figure of them, if they were metered."""
    found = sheet and sheet["by_cause"].get("value")
    if not found:
        return None
    shares = {name: cause.get(figure, {}).get("value") for name, cause in found["causes"].items()}
    return {name: value for name, value in shares.items() if value is not None}


def intervals_by_cause(sheet: Sheet | None) -> Mapping[str, tuple[float, float]] | None:
    """Give the interval of each share that was sampled; that of a cause which no sample met begins at nothing."""
    found = sheet and sheet["by_cause"].get("value")
    if not found:
        return None
    limits = {name: cause.get("interval", {}).get("value") for name, cause in found["causes"].items()}
    known = {name: (each[0], each[1]) for name, each in limits.items() if each}
    bound = found.get("bound", {}).get("value")
    return known if bound is None else known | dict.fromkeys(found.get("unmet", ()), (0.0, bound))


def done_by(counted: Sequence[Interval], sheet: Sheet, end: float) -> float:
    """Count the transactions of the interval of a sheet: meters may begin late, and their subject may end."""
    return within(counted, sheet, end, lambda row: row.transactions)


def within(counted: Sequence[Interval], sheet: Sheet, end: float, of: Callable[[Interval], float]) -> float:
    """Sum up a figure of the agents' rows over the interval of a sheet; a row that it cuts counts by its part."""
    begin = end - sheet["seconds"]
    shares = ((row, min(row.start + row.length, end) - max(row.start, begin)) for row in counted if row.length)
    return sum((of(row) * overlap / row.length for row, overlap in shares if overlap > 0), 0.0)


def per_transaction(sheet: Sheet, transactions: float) -> PerTransaction | None:
    """Divide what was metered by the transactions of the same interval."""
    if not transactions:
        return None
    cpu = sheet["own"]["seconds"].get("value")
    counts = {name: sheet["counts"][name].get("value") for name in COUNTS}
    estimated = None if counts["system_calls"] else estimated_calls(sheet)
    return PerTransaction(
        transactions=transactions,
        cpu_ms=None if cpu is None else 1e3 * cpu / transactions,
        system_calls_estimated=None if estimated is None else estimated / transactions,
        **{name: None if count is None else count["count"] / transactions for name, count in counts.items()},
        of_machine=[name for name in COUNTS if name in sheet["counts"]["of_machine"]],
    )


def estimated_calls(sheet: Sheet) -> float | None:
    """Take how many system calls the sampler thinks that there were; it says so if enough samples tell."""
    about: Mapping[str, Any] = sheet["by_cause"].get("value", {}).get("about", {})
    calls: float | None = about.get("calls_estimated", {}).get("value")
    return calls


def meters(
    recorded: Recorded, number: int, step: Step, sheet: Sheet | None, rows: Sequence[tuple[Row, float]]
) -> Metering | None:
    """Say where the figures come from."""
    about = recorded.metered.about(number)
    if about is None:
        return None
    seconds = sheet["seconds"] if sheet else sum(row.length * share for row, share in rows)
    until_the_end = [gap for gap in recorded.metered.gaps if gap.at <= step.end]
    gaps = [gap.why for gap in until_the_end if gap.at >= step.begin]
    if not (gaps or sheet or rows):
        gaps = [gap.why for gap in until_the_end[-1:]]  # the meter was given up before the step began
    if sheet and step.end - recorded.metered.ends[number] > UNMETERED:
        gaps.append(f"the figures are of {seconds:.1f} s: nothing was metered behind them")
    closes = sheet["closure"]["closes"] if sheet and "value" in sheet["closure"]["accounted"] else None
    own = sheet["own"] if sheet else {}
    return Metering(
        source=about.source,
        subject=about.subject,
        why=about.why,
        honesty=about.honesty,
        order=about.order,
        seconds=seconds,
        closes=closes,
        gaps=gaps,
        accounting=own.get("source"),
        doubt=own.get("doubt"),
        untraced=untraced(recorded, sheet),
    )


def untraced(recorded: Recorded, sheet: Sheet | None) -> str | None:
    """Say why the kernel was not traced though the plan asked for it, by a figure that only tracers give."""
    if tracing_tier(str(recorded.plan.get("meters"))) is None:
        return None
    figure: Mapping[str, str] = sheet["traffic"]["page_waits"] if sheet else {"why": "nothing was metered"}
    return figure.get("why")


def built_in(shares: Sequence[tuple[HostRow, float]]) -> BuiltInHost | None:
    """Sum up rows by their shares; none if there are none."""
    length = sum(row.length * share for row, share in shares)
    if not length:
        return None
    rows = [row for row, _ in shares]
    last = rows[-1].figures

    def total(table: str, name: str) -> float:
        return float(sum(row.figures[table][name] * share for row, share in shares))

    def mean(name: str) -> float | None:
        known = [(row, share) for row, share in shares if row.figures["servers"][name] is not None]
        busy = sum(row.figures["servers"][name] * row.length * share for row, share in known)
        return busy / length if known else None

    return BuiltInHost(
        seconds=length,
        lines=max(row.figures["lines"]["connected"] for row in rows),
        served_per_s=total("messages", "in") / length,
        answered_per_s=total("messages", "out") / length,
        line_in_per_s=total("characters", "line_in") / length,
        line_out_per_s=total("characters", "line_out") / length,
        pool_size=last["pool"]["size"],
        pool_used=last["pool"]["size"] - last["pool"]["least_free"],
        servers=last["servers"]["number"],
        busy=mean("busy"),
        queue=mean("mean_queue"),
        cpu=total("cpu", "process") / length,
    )
