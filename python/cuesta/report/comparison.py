"""Writes a comparison of runs, as text of 80 columns and as data: the verdict, then the figures behind it."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import Any

from rich.console import Console
from rich.text import Text

from cuesta.analysis.compare.comparability import shown
from cuesta.analysis.compare.comparison import Comparison, MetricComparison, Overall, medians
from cuesta.analysis.compare.power import MOST_RUNS
from cuesta.analysis.compare.sides import Side, name_in
from cuesta.analysis.compare.verdict import ALPHA, RatioTest, Verdict
from cuesta.analysis.hodges_lehmann import CONFIDENCE, ConfidenceInterval, least_runs
from cuesta.report.layout import grown, in_columns
from cuesta.report.phrases import plain
from cuesta.report.render.text import wrapped as text_wrapped
from cuesta.units import in_unit, many, share, signed

MARGIN = 11
GOOD, BAD, OPEN, FAINT = "bold green", "bold red", "bold yellow", "dim"
COLOURS = {
    Overall.UNCHANGED: GOOD,
    Overall.CHANGED: BAD,
    Overall.INCONCLUSIVE: OPEN,
    Overall.REFUSED: BAD,
    Verdict.FASTER: GOOD,
    Verdict.SLOWER: BAD,
    Verdict.INCONCLUSIVE: OPEN,
}
LABEL = 22
HEADS = ("BASE", "NEW", "ratio", "95 % interval")
WIDTHS = (9, 9, 7, 15)
"""The least widths of a table's columns, after which a remark may follow."""
TABLES = ("HEADLINE", "OTHERS")
"""Sections that also use the space of the margin."""
SO_MANY_TIMES = 2.0
"""The ratio from which on a change is written as a factor instead of a percentage."""
SHORT = {Verdict.BELOW: "below margin"}

Rows = Iterator[str | Text]


def text(comparison: Comparison, colour: bool | None = None) -> str:
    """The text for a terminal. `colour` None = coloured if standard output is a terminal and NO_COLOR is not set."""
    if colour is None:
        terminal = Console()
        colour = terminal.is_terminal and not terminal.no_color
    out = StringIO()
    console = Console(file=out, force_terminal=colour, color_system="standard" if colour else None, highlight=False)
    for title, section in SECTIONS.items():
        rows = [row if isinstance(row, Text) else Text(row) for row in section(comparison)]
        for number, row in enumerate([Text(), *rows] if rows and title in TABLES else rows):
            margin = "  " if title in TABLES and number else (title if number == 0 else "").ljust(MARGIN)
            line = Text().append(margin, "bold").append(row)
            line.rstrip()
            console.print(line, soft_wrap=True)
        if rows:
            console.print()
    return out.getvalue().rstrip("\n")


def verdict(comparison: Comparison) -> Rows:
    yield Text(comparison.overall.upper(), COLOURS[comparison.overall])
    for why in comparison.refused:
        yield from wrapped(f"- {why}")
    if comparison.refused:
        yield from (Text(row, FAINT) for row in wrapped(f"→ {comparison.remedy}", "  "))
    judged = [each for each in comparison.headline if each.test]
    for each in sorted(judged, key=lambda each: not is_change(each)):
        yield from wrapped(sentence(each, comparison), "  ")


def is_change(figure: MetricComparison) -> bool:
    return figure.test is not None and figure.test.verdict in (Verdict.FASTER, Verdict.SLOWER)


def sentence(figure: MetricComparison, comparison: Comparison) -> str:
    assert figure.test
    word, change = figure.test.verdict, by_percent(figure.interval)
    if is_change(figure):
        return f"{figure.metric.label}: {word}, {change}"
    if word == Verdict.BELOW:
        return f"{figure.metric.label}: changed by less than matters, {change}"
    if word == Verdict.EQUIVALENT:
        return f"{figure.metric.label}: equivalent, {change}"
    reach = f"{change}{why_open(figure, comparison)}" if figure.interval else "too few runs"
    return f"{figure.metric.label}: inconclusive, {reach}; {decided(figure, comparison)}"


def why_open(figure: MetricComparison, comparison: Comparison) -> str:
    """Why a figure is inconclusive, although it changed; else empty."""
    assert figure.test
    assert figure.interval
    most = 1 + comparison.terms.margin
    judged = sum(each.test is not None for each in comparison.headline)
    if figure.interval.low > most or figure.interval.high < 1 / most:
        return f", beyond the margin by itself, but not with {judged} figures judged together"
    return ", it changed, maybe by more than the margin" if figure.test.p_equal <= ALPHA else ""


def decided(figure: MetricComparison, comparison: Comparison) -> str:
    """How many more runs would decide."""
    more = figure.test and figure.test.more_runs
    if not more:
        return f"over {MOST_RUNS} would be needed: it lies too near the margin for its noise"
    return f"about {many(more, 'more pair')} would decide" if comparison.in_pairs else each_side(more)


def each_side(more: int) -> str:
    return f"about {many(more, 'more run')} of each side would decide"


def design(comparison: Comparison) -> Rows:
    """The design, the sides, and the differences between them."""
    how = "one run of each right after the other, the order turned each time" if comparison.in_pairs else "made apart"
    runs = f"{runs_of(comparison)}, {how}"
    margin, confidence = (f"{value * 100:g} %" for value in (comparison.terms.margin, CONFIDENCE))
    yield from wrapped(f"{runs}; margin ±{margin}; exact {confidence} intervals over runs (Hodges–Lehmann)")
    if comparison.in_pairs:
        yield plain(f"pairs in {comparison.base.folder}: {used(comparison.base, 'pair')}")
    else:
        yield from (plain(f"{name}  {side.folder}: {used(side, 'run')}") for name, side in sides(comparison))
    for each in comparison.host:
        yield from wrapped(f"host: {each.name}  {shown(each.base)} → {shown(each.new)}", "  ")
    if comparison.unlike:
        yield from wrapped(f"compared despite what is unlike: “{comparison.terms.despite}”")
    for each in comparison.unlike:
        yield from (Text(row, BAD) for row in wrapped(f"  {each}", "    "))


def sides(comparison: Comparison) -> Iterator[tuple[str, Side]]:
    yield from (("BASE", comparison.base), ("NEW ", comparison.new))


def used(side: Side, what: str) -> str:
    whole = len(side.runs) + len(side.excluded)
    return many(whole, what) if not side.excluded else f"{len(side.runs)} of {many(whole, what)} can be used"


def left_out(comparison: Comparison) -> Rows:
    if not comparison.refused:
        for name, side in sides(comparison):
            for run in side.excluded:
                yield from wrapped(f"{name} {name_in(run.folder, side.folder)}: {run.why}", "  ")


def headline(comparison: Comparison) -> Rows:
    yield from table(comparison.headline, "verdict")


def others(comparison: Comparison) -> Rows:
    seen = [each for each in comparison.exploratory if each.missing != "not measured"]
    if seen:
        yield from table(seen, "")
        yield from (Text(row, FAINT) for row in wrapped("shown and not judged: among so many, some differ by chance"))


def table(figures: Iterable[MetricComparison], last: str) -> Rows:
    """A row for each figure: the medians of the runs, their ratio and its interval."""
    rows = [(each, cells_of(each)) for each in figures]
    if not rows:
        return
    widths = grown(WIDTHS, (cells for _, cells in rows))
    yield Text(in_columns("median run", LABEL, HEADS, widths) + f"  {last}", "bold")
    for each, cells in rows:
        *above, label = textwrap.wrap(plain(each.metric.label), LABEL, subsequent_indent="  ")
        yield from above
        row = Text(in_columns(label, LABEL, cells, widths).rstrip())
        if each.missing is not None:
            yield row.append(f"  {each.missing}", FAINT)
            continue
        word = each.test and each.test.verdict
        yield row.append("  ").append(SHORT.get(word, word), COLOURS.get(word, "default")) if word else row
        if each.compensation:
            by_old = in_columns("┄ by BASE's method", LABEL, dotted(each, each.compensation), widths)
            yield Text(f"{by_old}  compensated", FAINT)


def cells_of(each: MetricComparison) -> tuple[str, ...]:
    base, new = (in_unit(value, each.metric.unit) for value in medians(each))
    if each.ratio is None:
        return base, new, "n/a", ""
    return base, new, of_ratio(each.ratio), between(each.interval)


def dotted(each: MetricComparison, compensation: float) -> tuple[str, ...]:
    """The figure as it would be by the base's method, like the dotted line of MPL-17."""
    _, new = medians(each)
    return "", in_unit((new or 0.0) * compensation, each.metric.unit), f"×{compensation:g}", ""


def of_ratio(ratio: float) -> str:
    """Write a ratio with four digits, at most three behind the point."""
    return f"{ratio:,.{3 if ratio < 9.9995 else 2 if ratio < 99.995 else 1}f}"


def between(interval: ConfidenceInterval | None) -> str:
    return f"{of_ratio(interval.low)} – {of_ratio(interval.high)}" if interval else "too few runs"


def power(comparison: Comparison) -> Rows:
    """How small a change these runs could detect."""
    judged = {each.metric.label: each.test for each in comparison.headline if each.test}
    if not judged:
        return
    have = runs_of(comparison)
    together = f"{many(len(judged), 'figure')} judged together" if len(judged) > 1 else "judged alone"
    finds = [
        f"{least_found(each.least_change)} in {label}"
        for label, each in judged.items()
        if each.least_change is not None
    ]
    if finds:
        yield from wrapped(
            f"{have} find, four times in five, a change of {', '.join(finds)}: by the spread that they had, {together}"
        )
    else:
        yield from wrapped(f"{have} find no change, however large: {too_few(comparison, len(judged))}")
    if coarse := [f"{label} {needed(each, comparison)}" for label, each in judged.items() if misses(each, comparison)]:
        yield from wrapped(f"to find the margin, {comparison.terms.margin * 100:g} %: {', '.join(coarse)}")


def least_found(change: float) -> str:
    """Write the least change that is detected; runs without any spread detect every change."""
    return share(change) if change > 0 else "any size"


def misses(judged: RatioTest, comparison: Comparison) -> bool:
    """Whether a change of the margin would be missed more often than one time in five."""
    return judged.least_change is None or judged.least_change > comparison.terms.margin


def needed(judged: RatioTest, comparison: Comparison) -> str:
    if judged.runs_for_margin is None:
        return "an unknown number" if judged.least_change is None else f"over {MOST_RUNS}"
    apart = f"{judged.runs_for_margin} + {judged.runs_for_margin} runs"
    return f"about {many(judged.runs_for_margin, 'pair') if comparison.in_pairs else apart}"


def too_few(comparison: Comparison, figures: int) -> str:
    """How many runs it takes to claim any change."""
    least = least_runs(1 - ALPHA / figures, comparison.in_pairs)
    takes = many(least, "pair") if comparison.in_pairs else f"{least} + {least} runs"
    return f"a claim among {many(figures, 'figure')} takes {takes}"


def runs_of(comparison: Comparison) -> str:
    base, new = len(comparison.base.runs), len(comparison.new.runs)
    return many(base, "pair") if comparison.in_pairs else f"{base} + {new} runs"


def by_percent(interval: ConfidenceInterval | None) -> str:
    """Write an interval of a ratio as a change, `+3.1 % to +8.0 %`; a large one as a factor."""
    if not interval:
        return ""
    if interval.low > SO_MANY_TIMES:
        return f"{of_ratio(interval.low)} to {of_ratio(interval.high)} times as much"
    low, high = (signed(f"{(ratio - 1) * 100:+.1f} %") for ratio in (interval.low, interval.high))
    return f"{low} to {high}"


def errors(comparison: Comparison) -> Rows:
    base, new = (sum(run.errors for run in side.runs) for side in (comparison.base, comparison.new))
    if base or new:
        yield f"{base:,} in BASE, {new:,} in NEW"


def notes(comparison: Comparison) -> Rows:
    for note in comparison.notes:
        yield from wrapped(f"- {note}", "  ")


def wrapped(row: str, indent: str = "") -> Iterator[str]:
    return text_wrapped(plain(row), indent)


SECTIONS: dict[str, Callable[[Comparison], Rows]] = {
    "VERDICT": verdict,
    "DESIGN": design,
    "LEFT OUT": left_out,
    "HEADLINE": headline,
    "POWER": power,
    "OTHERS": others,
    "ERRORS": errors,
    "NOTES": notes,
}


def data(comparison: Comparison) -> dict[str, Any]:
    """The object that `--json` prints."""
    return {
        "verdict": str(comparison.overall),
        "refused": list(comparison.refused),
        "design": "pairs" if comparison.in_pairs else "runs",
        "margin": comparison.terms.margin,
        "confidence": CONFIDENCE,
        "base": data_of_side(comparison.base),
        "new": data_of_side(comparison.new),
        "despite": comparison.terms.despite,
        "unlike": [
            {"kind": each.kind, "name": each.name, "base": each.base, "new": each.new} for each in comparison.unlike
        ],
        "host": [{"name": each.name, "base": each.base, "new": each.new} for each in comparison.host],
        "headline": [data_of_figure(each) for each in comparison.headline],
        "exploratory": [data_of_figure(each) for each in comparison.exploratory],
        "notes": list(comparison.notes),
    }


def data_of_side(side: Side) -> dict[str, Any]:
    return {
        "folder": str(side.folder),
        "runs": [str(run.folder) for run in side.runs],
        "left_out": [{"run": str(run.folder), "why": run.why} for run in side.excluded],
    }


def data_of_figure(each: MetricComparison) -> dict[str, Any]:
    judged = each.test
    return {
        "metric": each.metric.name,
        "unit": each.metric.unit,
        "base": list(each.base),
        "new": list(each.new),
        "compensation": each.compensation,
        "ratio": each.ratio,
        "interval": [each.interval.low, each.interval.high] if each.interval else None,
        "confidence": each.interval.confidence if each.interval else None,
        "verdict": judged and str(judged.verdict),
        "chance_unchanged": judged and judged.p_equal,
        "chance_at_margin": judged and judged.p_at_margin,
        "more_runs": judged and judged.more_runs,
        "least_change": judged and judged.least_change,
        "runs_for_margin": judged and judged.runs_for_margin,
        "missing": each.missing,
    }
