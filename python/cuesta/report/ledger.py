"""Writes a ledger, as text and as data: measured systems above a dotted line, planned improvements below it."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len

from cuesta.analysis.history.projection import (
    EstimatedShare,
    GoalChance,
    Ledger,
    MeasuredSystem,
    PlannedImprovement,
    Projection,
    ReleaseOutcome,
)
from cuesta.analysis.hodges_lehmann import RUNS_FOR_INTERVAL
from cuesta.columns import align_left, align_right, cut
from cuesta.plain_text import plain
from cuesta.units import ABSENT, share

WIDTH, WIDEST, SHORT = 110, 56, 8
"""Columns of the whole text; at most of a name; and of a name that fits into a head."""
FINEST = 6
"""The most decimals of a chance."""
DOTTED = "·" * WIDTH


def text(ledger: Ledger) -> str:
    return "\n".join(row.rstrip() for row in _rows(ledger))


def data(ledger: Ledger) -> dict[str, Any]:
    """Shares are fractions, elapsed times in the ledger's unit."""
    return {
        "title": ledger.title,
        "workload": ledger.workload,
        "unit": ledger.unit,
        "base": ledger.base and ledger.base.name,
        "systems": [_system_data(ledger, each) for each in ledger.systems],
        "planned": ledger.planned and _projection_data(ledger, ledger.planned),
        "came": [
            {**asdict(each), "system": each.system.name, "before": each.before.name}
            | {"gained": each.gained, "miss": each.miss}
            for each in ledger.outcomes
        ],
        "rebased": ledger.rebased and _projection_data(ledger, ledger.rebased),
    }


def _system_data(ledger: Ledger, system: MeasuredSystem) -> dict[str, Any]:
    percent, interval = ledger.percent_with_interval(system)
    return {**asdict(system), "date": system.date.isoformat(), "percent": percent, "percent_interval": interval}


def _projection_data(ledger: Ledger, projection: Projection) -> dict[str, Any]:
    return {
        "since": projection.since.name,
        "improvements": [
            {
                **asdict(each.planned),
                "elapsed": {"mean": each.mean, "low": each.shortest, "high": each.longest},
                "percent": ledger.percent(each.mean),
            }
            for each in projection.projected
        ],
        "goal": projection.chance
        and {
            **asdict(projection.chance),
            "projected": projection.final_elapsed,
            "met": projection.final_elapsed <= projection.chance.goal,
        },
    }


def _rows(ledger: Ledger) -> Iterator[str]:
    yield plain(ledger.title)
    if ledger.workload:
        yield plain(ledger.workload)
    if ledger.base and not _is_short(ledger.base.name):
        yield f"base: {plain(ledger.base.name)}, {ledger.base.date}"
    yield ""
    yield from _list_systems(ledger)
    if ledger.planned:
        yield DOTTED
        yield from _list_projected(ledger, ledger.planned, "planned after")
    for outcome in ledger.outcomes:
        yield ""
        yield from _describe_outcome(ledger, outcome)
    if ledger.rebased and ledger.rebased.projected:
        yield ""
        yield from _list_projected(ledger, ledger.rebased, "re-based on")


def _list_systems(ledger: Ledger) -> Iterator[str]:
    graded = any(each.grade for each in ledger.systems)
    beside = [ledger.percent_with_interval(each) for each in ledger.systems]
    ranges = [f"{interval[0]:.2f} .. {interval[1]:.2f}" if interval else "" for _, interval in beside]
    interval = "95 % interval" if any(ranges) else ""
    width = max(map(len, [interval, *ranges]))
    head = f"  {align_left(interval, width)}" if interval else ""
    yield _head(ledger, "system", "date", "elapsed") + head + ("  grade" if graded else "")
    for each, (percent, _), range_ in zip(ledger.systems, beside, ranges, strict=True):
        place = f"{_name(ledger, each.name)}  {each.date}  {_write_elapsed(ledger, each.elapsed, percent)}"
        yield f"{place}{f'  {align_left(range_, width)}' if interval else ''}  {_write_grade(each)}"
    if not ledger.systems:
        yield "none yet"
    if ledger.base and any(percent is None for percent, _ in beside):
        yield f"— no percentage: it has an interval over runs, which takes {RUNS_FOR_INTERVAL} of each system"


def _write_grade(system: MeasuredSystem) -> str:
    return f"{system.grade}: {plain(system.doubt)}" if system.doubt else system.grade


def _list_projected(ledger: Ledger, projection: Projection, title: str) -> Iterator[str]:
    since = plain(projection.since.name)
    if cell_len(f"{title} {since}") > _width(ledger):  # it does not fit into the column
        yield f"{title} {since}:"
        since, title = "", "improvement"
    title = f"{title} {since}".rstrip()
    yield f"{_head(ledger, title, 'when', 'mean')}  all high .. all low  saves"
    for each in projection.projected:
        ends = align_left(f"{each.shortest:.2f} .. {each.longest:.2f}", 19)
        name, date = _name(ledger, each.planned.name), align_left(plain(each.planned.date), 10)
        elapsed = _write_elapsed(ledger, each.mean, ledger.percent(each.mean))
        yield f"{name}  {date}  {elapsed}  {ends}  {_describe_saving(each.planned)}"
    if projection.chance:
        yield from _describe_goal(ledger, projection, projection.chance)


def _describe_goal(ledger: Ledger, projection: Projection, chance: GoalChance) -> Iterator[str]:
    ends, verdict = projection.final_elapsed, "would be met" if projection.final_elapsed <= chance.goal else "NOT MET"
    base = ledger.base
    faster = f", {base.elapsed / ends:.2f} times as fast as {plain(base.name)}" if base else ""
    yield f"goal {chance.goal:.2f} {ledger.unit}: projected {ends:.2f}{faster}: {verdict}"
    yield (
        f"chance to meet it {_write_chance(chance)} ({chance.draws:,} draws, each estimate uniform and independent); "
        f"90 in 100 end from {chance.low:.1f} to {chance.high:.1f}"
    )


def _write_chance(chance: GoalChance) -> str:
    """Write a chance to the place of its error."""
    if not chance.error:
        return f"{chance.share:.2f}"
    places = min(max(2, -math.floor(math.log10(chance.error))), FINEST)
    return f"{chance.share:.{places}f} ± {chance.error:.1g}"


def _describe_outcome(ledger: Ledger, outcome: ReleaseOutcome) -> Iterator[str]:
    system = outcome.system
    yield f"{plain(system.name)} came with: {', '.join(map(plain, system.brings))}"
    miss = f"{share(abs(outcome.miss))} {'longer' if outcome.miss > 0 else 'shorter'}"
    yield (
        f"  measured {system.elapsed:.2f} {ledger.unit}, expected {outcome.expected:.2f}: {miss}; "
        f"it saved {share(outcome.gained)} of {plain(outcome.before.name)}, and {share(outcome.estimated)} was planned"
    )
    if system.zero_idle:
        busy = system.elapsed * (1 - system.zero_idle)
        yield (
            f"  {share(system.zero_idle)} of it was zero idle: {busy:.1f} {ledger.unit} busy. "
            "An idle benchmark cannot show what a change of CPU time is worth"
        )


def _describe_saving(planned: PlannedImprovement) -> str:
    touched = "" if planned.touches == EstimatedShare(1.0, 1.0) else f" of {_write_range(planned.touches)}"
    return f"{_write_range(planned.saves)}{touched}" + ("" if planned.in_benchmark else ", not in the benchmark")


def _write_range(estimate: EstimatedShare) -> str:
    low, high = f"{100 * estimate.low:g}", f"{100 * estimate.high:g}"
    return f"{low} %" if low == high else f"{low}–{high} %"


def _head(ledger: Ledger, what: str, when: str, figure: str) -> str:
    base = ""
    if ledger.base:
        base = f"% of {plain(ledger.base.name) if _is_short(ledger.base.name) else 'base'}"
    what, figure = align_left(what, _width(ledger)), align_right(f"{figure} {ledger.unit}", 11)
    return f"{what}  {align_left(when, 10)}  {figure}  {align_right(base, SHORT + 5)}"


def _is_short(name: str) -> bool:
    return cell_len(plain(name)) <= SHORT


def _write_elapsed(ledger: Ledger, elapsed: float, percent: float | None) -> str:
    missing = ABSENT if ledger.base else ""
    shown = missing if percent is None else f"{percent:.2f}"
    return f"{elapsed:>11.2f}  {align_right(shown, SHORT + 5)}"


def _width(ledger: Ledger) -> int:
    names = [each.name for each in ledger.systems]
    names += [each.planned.name for each in ledger.planned.projected] if ledger.planned else []
    return min(WIDEST, max(cell_len(plain(name)) for name in ["system", *names]))


def _name(ledger: Ledger, name: str) -> str:
    width = _width(ledger)
    return align_left(cut(plain(name), width), width)
