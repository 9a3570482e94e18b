"""Writes a comparison of runs, as text for a terminal and as data: the verdict, then the figures behind it."""

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from cuesta.analysis.compare.comparability import write_fact
from cuesta.analysis.compare.comparison import Comparison, Overall, list_notes, note_few_runs
from cuesta.analysis.compare.failures import Failing, FailureComparison
from cuesta.analysis.compare.sides import Side, relative_name
from cuesta.analysis.compare.verdict import ALPHA, MOST_RUNS, MetricComparison, RatioTest, Verdict
from cuesta.analysis.hodges_lehmann import CONFIDENCE, ConfidenceInterval
from cuesta.report import model
from cuesta.report.model import Cell, Part, Remark, Report, Section, Table, Tone, Words
from cuesta.report.render import text as rendered
from cuesta.terminal import Styled
from cuesta.units import ABSENT, AT_LEAST, in_unit, many, share, write_minus

TONES: dict[Verdict, Tone] = {Verdict.FASTER: "good", Verdict.SLOWER: "bad", Verdict.INCONCLUSIVE: "notice"}
SO_MANY_TIMES = 2.0
"""The ratio from which on a change is written as a factor instead of a percentage."""
SHORT = {Verdict.BELOW: "below margin"}


def text(comparison: Comparison, colour: bool | None = None) -> Styled:
    """The text for a terminal. `colour` None = coloured if standard output is a terminal and NO_COLOR is not set."""
    return rendered(report(comparison), colour, verbose=True)


def report(comparison: Comparison) -> Report:
    sections = [
        Section("Design", list(design(comparison))),
        Section("Left out", list(list_excluded(comparison))),
        Section("Failures", list(failures_table(comparison))),
        Section("Headline", [table(comparison.headline, "verdict")] if comparison.headline else []),
        Section("Power", list(power(comparison))),
        Section("Path", list(tell_path(comparison))),
        Section("Others", list(exploratory_table(comparison))),
        Section("Errors", list(errors(comparison))),
        Section(
            "Notes",
            [Remark(f"- {note}") for note in list_notes(comparison) if note != explain_inconclusive(comparison)],
        ),
    ]
    return Report("Comparison", headline(comparison), verdict(comparison), sections=sections)


def headline(comparison: Comparison) -> str:
    new, base = (side.folder.name for side in (comparison.new, comparison.base))
    who = f"pairs in {base}" if comparison.in_pairs else f"{new} against {base}"
    return f"{who}: {answer(comparison)}"


def answer(comparison: Comparison) -> str:
    match comparison.overall:
        case Overall.REFUSED:
            more = f", and {len(comparison.refused) - 1} more" if len(comparison.refused) > 1 else ""
            return f"refused: {comparison.refused[0]}{more}"
        case Overall.CHANGED:
            changes = [f"{each.test.verdict} in {each.metric.label}" for each in list_changed(comparison) if each.test]
            return ", ".join([*(describe_failures(each) for each in list_failing(comparison)), *changes])
        case Overall.UNCHANGED:
            return f"no change beyond ±{comparison.terms.margin * 100:g} %"
    return f"cannot tell: {explain_inconclusive(comparison)}{suggest_runs(comparison)}"


def suggest_runs(comparison: Comparison) -> str:
    """The number of further runs that would decide, if there are too few for any verdict."""
    judged = [each for each in comparison.headline if each.test and not each.interval]
    most = max(judged, key=lambda each: (each.test and each.test.more_runs) or MOST_RUNS + 1, default=None)
    return f"; {estimate_needed_runs(most, comparison)}" if most else ""


def explain_inconclusive(comparison: Comparison) -> str:
    """Why a comparison is inconclusive; empty if it is not."""
    if comparison.overall != Overall.INCONCLUSIVE:
        return ""
    if few := next(note_few_runs(comparison), ""):
        return few
    if unsure := [each for each in comparison.failures if each.verdict == Failing.UNKNOWN]:
        return "; ".join(f"{describe_failures(each)}, which may be chance" for each in unsure)
    undecided = [each for each in comparison.headline if each.test is None or each.test.verdict == Verdict.INCONCLUSIVE]
    names = ", ".join(each.metric.label for each in undecided)
    return f"{names} could have changed by more than ±{comparison.terms.margin * 100:g} %"


def verdict(comparison: Comparison) -> model.Verdict:
    """The verdict, what it rests on, and a sentence on each figure, the changed ones first."""
    word = comparison.overall.upper()
    if comparison.refused:
        *others, last = comparison.refused
        reasons = [*((why, "") for why in others), (last, comparison.remedy or "")]
        return model.Verdict(word, "these are not compared", good=False, reasons=reasons, name="VERDICT")
    rest = [each for each in comparison.headline if each.test and each.interval and not is_change(each)]
    failed = [(each, "") for each in (*map(describe_failures, list_failing(comparison)), *list_spoilt_runs(comparison))]
    confidence = f"exact {CONFIDENCE * 100:g} % intervals over runs (Hodges–Lehmann)"
    made = "" if comparison.in_pairs else ", made apart"
    how = f"{count_runs(comparison)}{made}; margin ±{comparison.terms.margin * 100:g} %; {confidence}"
    sentences = [(describe_figure(each, comparison), "") for each in (*list_changed(comparison), *rest)]
    return model.Verdict(word, how, is_good(comparison.overall), [*failed, *sentences], name="VERDICT")


def is_good(overall: Overall) -> bool | None:
    return None if overall == Overall.INCONCLUSIVE else overall == Overall.UNCHANGED


def list_failing(comparison: Comparison) -> list[FailureComparison]:
    return [each for each in comparison.failures if each.verdict in (Failing.MORE, Failing.FEWER)]


def describe_failures(failures: FailureComparison) -> str:
    """Which side fails more: `more failures in NEW: errors 5.1 %, in BASE 0 %`."""
    base, new = (share(statistics.fmean(side)) for side in (failures.base, failures.new))
    word = Failing.MORE if failures.difference > 0 else Failing.FEWER
    return f"{word} in NEW: {failures.metric.label} {new}, in BASE {base}"


def list_spoilt_runs(comparison: Comparison) -> Iterator[str]:
    for name, side in sides(comparison):
        bad = [run for run in side.runs if run.host_doubt]
        if bad:
            which = f"{many(len(bad), 'run')} of {name.strip()} would be INVALID for what the host did, and count"
            yield f"{which}: {relative_name(bad[0].folder, side.folder)}: {bad[0].host_doubt}"


def list_changed(comparison: Comparison) -> list[MetricComparison]:
    return [each for each in comparison.headline if is_change(each)]


def is_change(figure: MetricComparison) -> bool:
    return figure.test is not None and figure.test.verdict in (Verdict.FASTER, Verdict.SLOWER)


def describe_figure(figure: MetricComparison, comparison: Comparison) -> str:
    assert figure.test
    word, change = figure.test.verdict, write_change(figure.interval)
    if is_change(figure):
        return f"{figure.metric.label}: {word}, {change}"
    if word == Verdict.BELOW:
        return f"{figure.metric.label}: changed by less than matters, {change}"
    if word == Verdict.NOT_JUDGED:
        return f"{figure.metric.label}: not judged, {change}: a side that fails more is not faster"
    if word == Verdict.EQUIVALENT:
        return f"{figure.metric.label}: equivalent, {change}"
    reach = f"{change}{explain_uncertainty(figure, comparison)}"
    return f"{figure.metric.label}: inconclusive, {reach}; {estimate_needed_runs(figure, comparison)}"


def explain_uncertainty(figure: MetricComparison, comparison: Comparison) -> str:
    """Why a figure that changed is inconclusive; else empty."""
    assert figure.test
    assert figure.interval
    most = 1 + comparison.terms.margin
    judged = sum(each.test is not None for each in comparison.headline)
    if figure.interval.low > most or figure.interval.high < 1 / most:
        return f", beyond the margin by itself, but not with {judged} figures judged together"
    return ", it changed, maybe by more than the margin" if figure.test.p_equal <= ALPHA else ""


def estimate_needed_runs(figure: MetricComparison, comparison: Comparison) -> str:
    more = figure.test and figure.test.more_runs
    if not more:
        return f"over {MOST_RUNS} would be needed: the change is too close to the margin for this noise"
    what = many(more, "more pair") if comparison.in_pairs else f"{many(more, 'more run')} of each side"
    return f"about {what} would decide"


def design(comparison: Comparison) -> Iterator[Part]:
    if comparison.in_pairs:
        turned = "the runs of a pair follow each other, in alternating order"
        yield Remark(f"pairs in {comparison.base.folder}: {count_usable(comparison.base, 'pair')}, {turned}")
    else:
        rows = (f"{name}  {side.folder}: {count_usable(side, 'run')}" for name, side in sides(comparison))
        yield from (Remark(row) for row in rows)
    for each in comparison.host:
        yield Remark(f"host: {each.name}  {write_fact(each.base)} → {write_fact(each.new)}")
    if comparison.unlike:
        yield Remark(f"compared despite these differences: “{comparison.terms.despite}”")
    yield from (Remark(f"  {each}", "bad") for each in comparison.unlike)


def sides(comparison: Comparison) -> Iterator[tuple[str, Side]]:
    yield from (("BASE", comparison.base), ("NEW ", comparison.new))


def count_usable(side: Side, what: str) -> str:
    whole = len(side.runs) + len(side.excluded)
    return many(whole, what) if not side.excluded else f"{len(side.runs)} of {many(whole, what)} can be used"


def list_excluded(comparison: Comparison) -> Iterator[Part]:
    for name, side in () if comparison.refused else sides(comparison):
        yield from (Remark(f"{name} {relative_name(run.folder, side.folder)}: {run.why}") for run in side.excluded)


def failures_table(comparison: Comparison) -> Iterator[Part]:
    rows: list[tuple[Cell, ...]] = [
        (each.metric.label, *map(share, map(statistics.fmean, (each.base, each.new))), str(each.verdict))
        for each in comparison.failures
        if any((*each.base, *each.new))
    ]
    if rows:
        yield Table(("mean of the runs", "BASE", "NEW", "verdict"), rows, wraps=0)


def exploratory_table(comparison: Comparison) -> Iterator[Part]:
    seen = [each for each in comparison.exploratory if each.base or each.new]
    if seen:
        yield table(seen, "", "shown without a verdict: among so many figures, some differ by chance")


def tell_path(comparison: Comparison) -> Iterator[Part]:
    """Which hop of followed keys takes longer, and which less."""
    if slower := comparison.slower:
        yield Remark(f"what got slower most, in the mean: {slower}")
    if quicker := comparison.quicker:
        turned = replace(quicker, before=quicker.after, after=quicker.before)
        yield Remark(f"what got quicker most, in the mean: {turned}")


def table(figures: Iterable[MetricComparison], last: str, caption: str = "") -> Table:
    rows: list[tuple[Cell, ...]] = []
    missing = []
    for each in figures:
        word = each.test and each.test.verdict
        judgement = Words(SHORT.get(word, word), tone=TONES.get(word, "")) if word else ""
        rows.append((each.metric.label, *figure_cells(each), judgement))
        if each.missing is not None:
            missing.append(f"{each.metric.label}: {each.missing}")
        elif each.compensation:
            rows.append(
                ("┄ by BASE's method", *compensated_cells(each, each.compensation), Words("compensated", tone="faint"))
            )
    heads = ("median run", "BASE", "NEW", "ratio", "95 % interval", last)
    return Table(heads, rows, "; ".join(filter(None, (*missing, caption))), wraps=0)


def figure_cells(figure: MetricComparison) -> tuple[str, ...]:
    base, new = (
        AT_LEAST * is_bound + in_unit(value, figure.metric.unit)
        for value, is_bound in zip(medians(figure), figure.bounded, strict=True)
    )
    if figure.ratio is None:
        return base, new, ABSENT, ""
    return base, new, write_ratio(figure.ratio), write_interval(figure.interval)


def medians(figure: MetricComparison) -> tuple[float | None, float | None]:
    base, new = (statistics.median(values) if values else None for values in (figure.base, figure.new))
    return base, new


def compensated_cells(figure: MetricComparison, compensation: float) -> tuple[str, ...]:
    """The figure by the base's method: the dotted line of MPL-17."""
    _, new = medians(figure)
    return "", in_unit((new or 0.0) * compensation, figure.metric.unit), f"×{compensation:g}", ""


def write_ratio(ratio: float) -> str:
    """Write a ratio with four digits, at most three behind the point."""
    return f"{ratio:,.{3 if ratio < 9.9995 else 2 if ratio < 99.995 else 1}f}"


def write_interval(interval: ConfidenceInterval | None) -> str:
    return f"{write_ratio(interval.low)} – {write_ratio(interval.high)}" if interval else "too few runs"


def power(comparison: Comparison) -> Iterator[Part]:
    """The least change that these runs could detect."""
    judged = {each.metric.label: each.test for each in comparison.headline if each.test}
    together = f"{many(len(judged), 'figure')} judged together" if len(judged) > 1 else "judged alone"
    finds = [
        f"{write_least_change(at)} in {label}"
        for label, each in judged.items()
        if (at := each.least_change) is not None
    ]
    if finds:
        power_of_runs = f"{count_runs(comparison)} detect, four times in five, a change of {', '.join(finds)}"
        yield Remark(f"{power_of_runs}: by the spread that they had, {together}")
    missed = {label: each for label, each in judged.items() if misses_margin(each, comparison)}
    margin = f"a change of {comparison.terms.margin * 100:g} %"
    known = [
        f"{write_needed_runs(each, comparison)} in {label}" for label, each in missed.items() if knows_needed_runs(each)
    ]
    if known:
        yield Remark(f"{margin} would be found by {', '.join(known)}")
    if unknown := [label for label, each in missed.items() if not knows_needed_runs(each)]:
        yield Remark(f"cannot say how many runs would show {margin} in {', '.join(unknown)}")


def write_least_change(change: float) -> str:
    """The least change that is detected; without any spread that is any change."""
    return share(change) if change > 0 else "any size"


def misses_margin(judged: RatioTest, comparison: Comparison) -> bool:
    """Whether the power at the margin is below 80 %."""
    return judged.least_change is None or judged.least_change > comparison.terms.margin


def knows_needed_runs(judged: RatioTest) -> bool:
    return judged.runs_for_margin is not None or judged.least_change is not None


def write_needed_runs(judged: RatioTest, comparison: Comparison) -> str:
    if judged.runs_for_margin is None:
        return f"over {MOST_RUNS} runs"
    apart = f"{judged.runs_for_margin} + {judged.runs_for_margin} runs"
    return f"about {many(judged.runs_for_margin, 'pair') if comparison.in_pairs else apart}"


def count_runs(comparison: Comparison) -> str:
    base, new = len(comparison.base.runs), len(comparison.new.runs)
    return many(base, "pair") if comparison.in_pairs else f"{base} + {new} runs"


def write_change(interval: ConfidenceInterval | None) -> str:
    """An interval of a ratio as a change, `+3.1 % to +8.0 %`, or as a factor if it is large."""
    if not interval:
        return ""
    if interval.low > SO_MANY_TIMES:
        return f"{write_ratio(interval.low)} to {write_ratio(interval.high)} times as much"
    low, high = (write_minus(f"{(ratio - 1) * 100:+.1f} %") for ratio in (interval.low, interval.high))
    return f"{low} to {high}"


def errors(comparison: Comparison) -> Iterator[Part]:
    base, new = (sum(run.errors for run in side.runs) for side in (comparison.base, comparison.new))
    if base or new:
        yield Remark(f"{base:,} in BASE, {new:,} in NEW")


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
        "failures": [data_of_failures(each) for each in comparison.failures],
        "headline": [data_of_figure(each) for each in comparison.headline],
        "exploratory": [data_of_figure(each) for each in comparison.exploratory],
        "slower_hop": asdict(comparison.slower) if comparison.slower else None,
        "notes": list(list_notes(comparison)),
    }


def data_of_side(side: Side) -> dict[str, Any]:
    return {
        "folder": str(side.folder),
        "runs": [str(run.folder) for run in side.runs],
        "left_out": [{"run": str(run.folder), "why": run.why} for run in side.excluded],
        "spoilt": [{"run": str(run.folder), "why": run.host_doubt} for run in side.runs if run.host_doubt],
    }


def data_of_failures(failures: FailureComparison) -> dict[str, Any]:
    return {
        "metric": failures.metric.name,
        "unit": failures.metric.unit,
        "base": list(failures.base),
        "new": list(failures.new),
        "difference": failures.difference,
        "verdict": str(failures.verdict),
        "chance_unchanged": failures.p_equal,
    }


def data_of_figure(figure: MetricComparison) -> dict[str, Any]:
    judged = figure.test
    return {
        "metric": figure.metric.name,
        "unit": figure.metric.unit,
        "base": list(figure.base),
        "new": list(figure.new),
        "at_least": {"base": figure.bounded[0], "new": figure.bounded[1]},
        "compensation": figure.compensation,
        "ratio": figure.ratio,
        "interval": [figure.interval.low, figure.interval.high] if figure.interval else None,
        "confidence": figure.interval.confidence if figure.interval else None,
        "verdict": judged and str(judged.verdict),
        "chance_unchanged": judged and judged.p_equal,
        "chance_at_margin": judged and judged.p_at_margin,
        "more_runs": judged and judged.more_runs,
        "least_change": judged and judged.least_change,
        "runs_for_margin": judged and judged.runs_for_margin,
        "missing": figure.missing,
    }
