"""Writes a comparison of two versions: the answer in a sentence, then the figures behind it."""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cuesta.analysis.compare.metrics import FAILED
from cuesta.analysis.compare.paired_figure import Claim, Estimate, PairedFigure
from cuesta.analysis.compare.versions import Verdict, VersionComparison
from cuesta.figures import Unit
from cuesta.ledger.versions import VersionsRecord
from cuesta.private_files import replace_private
from cuesta.report import model, render
from cuesta.report.comparison import write_ratio
from cuesta.report.model import Cell, Part, Remark, Report, Section, Table, Tone, Words
from cuesta.terminal import Styled
from cuesta.units import (
    ABSENT,
    in_unit,
    join_words,
    many,
    minutes,
    seconds,
    seconds_between,
    share,
    unit_of,
    write_minus,
)

SUBJECTS = {"echo": "echoes a key", "response": "answers", "first_response": "begins to answer", "frame": "shows a key"}
"""What a version does, by the series of a figure that is judged."""
SLOW_SUBJECTS = {"echo": "echoes one key in twenty", "response": "gives one answer in twenty"}
"""The same of a 95th percentile."""
OF_SLOW = {"echo": "One key in twenty", "response": "One answer in twenty"}
TONES: dict[Verdict, Tone] = {Verdict.NO_WORSE: "good", Verdict.WORSE: "bad", Verdict.CANNOT_TELL: "notice"}


def answer(comparison: VersionComparison, record: VersionsRecord) -> str:
    """The answer in one sentence, or in two if slow keys could hide a change."""
    match comparison.verdict:
        case Verdict.NOT_VALID:
            return f"not valid: {'; '.join([*comparison.why, *record.spoilt[:1]])}"
        case Verdict.REFUSED:
            return f"refused: {'; '.join(comparison.why)}"
        case Verdict.WORSE:
            sentences = [f"{state_difference(each, comparison)}: {name_change(each)}" for each in comparison.worse]
            return "; ".join(sentences)
        case Verdict.NO_WORSE:
            first = "; ".join(
                f"{state_difference(each, comparison)}: {name_change(each)}" for each in comparison.judged
            )
            return ". ".join([first, *explain_guards(comparison)])
    return f"cannot tell: {explain_doubt(comparison, record)}"


def state_changes(figures: Sequence[PairedFigure], comparison: VersionComparison) -> str:
    return "; ".join(f"{state_difference(each, comparison)}: {name_change(each)}" for each in figures)


def state_difference(figure: PairedFigure, comparison: VersionComparison) -> str:
    """By how much a figure of the new version differs: `1.5 echoes a key 24.8 ms later than 1.4 [24.1–25.6 ms]`."""
    base, new = comparison.terms.names
    series, statistic, difference = figure.metric.series, figure.metric.statistic, figure.difference
    subjects = SLOW_SUBJECTS if statistic == "p95" else SUBJECTS if statistic == "p50" else {}
    if figure.metric.unit == Unit.SECONDS and series in subjects:
        does, size = subjects[series], seconds(abs(difference.value))
        if figure.claim == Claim.NO_WORSE and includes_zero(difference):
            return f"{new} {does} as quickly as {base}{write_bounds(difference, figure.metric.unit)}"
        word = ("later", "sooner")[difference.value < 0]
    else:
        size, word = in_unit(abs(difference.value), figure.metric.unit), ("more", "less")[difference.value < 0]
        does = f"has {figure.metric.label}"
    return f"{new} {does} {size} {word} than {base}{write_bounds(difference, figure.metric.unit)}"


def includes_zero(difference: Estimate) -> bool:
    return difference.low is not None and difference.high is not None and difference.low <= 0 <= difference.high


def write_bounds(difference: Estimate, unit: Unit) -> str:
    """The interval of a difference, ` [24.1–25.6 ms]`; without signs if it has only one."""
    if difference.low is None or difference.high is None:
        return ""
    low, high = difference.low, difference.high
    if high < 0:
        low, high = -high, -low
    if unit != Unit.SECONDS:
        return f" [{in_unit(low, unit)} to {in_unit(high, unit)}]"
    return f" [{seconds_between(low, high)}]" if low > 0 else f" [{write_range(low, high)}]"


def write_range(low: float, high: float) -> str:
    """An interval of durations that may reach below zero: `−0.12 to 0.31 ms`."""
    unit, factor = unit_of(max(abs(low), abs(high)))
    places = 2 if max(abs(low), abs(high)) * factor < 9.995 else 1
    return f"{write_minus(f'{low * factor:.{places}f}')} to {write_minus(f'{high * factor:.{places}f}')} {unit}"


def name_change(figure: PairedFigure) -> str:
    """The change in a word or two: `slower`, `faster`, `no worse`."""
    is_duration, difference = figure.metric.unit == Unit.SECONDS, figure.difference
    if figure.claim == Claim.WORSE:
        return "slower" if is_duration else "worse"
    gain = difference.low if figure.metric.more_is_better else None if difference.high is None else -difference.high
    if gain is not None and gain > 0:
        return "faster" if is_duration else "better"
    return f"no worse within {figure.margin}"


def explain_guards(comparison: VersionComparison) -> Iterator[str]:
    """What the guards could still hide, a sentence each."""
    for figure in comparison.guards:
        subject = OF_SLOW.get(figure.metric.series)
        if figure.claim == Claim.NO_WORSE or subject is None:
            continue
        if figure.missing:
            yield f"{subject}: not judged, {figure.missing}"
        elif figure.ratio and figure.ratio.high is not None:
            yield f"{subject}: these pairs cannot exclude +{share(figure.ratio.high - 1)}"


def explain_doubt(comparison: VersionComparison, record: VersionsRecord) -> str:
    """Why nothing can be told, and what would help."""
    if not comparison.figures:
        return explain_no_pairs(record)
    figure = next(each for each in comparison.judged if each.claim != Claim.NO_WORSE)
    if figure.missing:
        return f"{figure.metric.label}: {figure.missing}"
    so_far = f"{state_difference(figure, comparison)} in {many(comparison.pairs, 'pair')}"
    return f"{so_far}, which may be more or less than {figure.margin}; {suggest_budget(figure, record)}"


def explain_no_pairs(record: VersionsRecord) -> str:
    if record.ended == "interrupted":
        return "interrupted before the first pair was complete"
    needed = minutes(6 * record.seconds_per_pair + 60)
    pair = f"a pair takes {record.seconds_per_pair:.0f} s, and at least 6 are needed"
    return f"{minutes(record.budget)} are too short: {pair}; give about {needed}: --budget"


def suggest_budget(figure: PairedFigure, record: VersionsRecord) -> str:
    """How many more pairs would decide, and how long they take."""
    if (more := figure.more_pairs) is None:
        return "the change is too close to the margin for this noise: more pairs would hardly decide"
    needed = record.budget + more * record.seconds_per_pair
    return f"about {many(more, 'more pair')} would decide: --budget {needed / 60:.0f}m"


def text(comparison: VersionComparison, record: VersionsRecord, colour: bool | None = None) -> Styled:
    return render.text(report(comparison, record), colour, verbose=True)


def markdown(comparison: VersionComparison, record: VersionsRecord) -> str:
    return render.markdown(report(comparison, record))


def write_page(comparison: VersionComparison, record: VersionsRecord, file: Path) -> None:
    from cuesta.report.render.page import html  # noqa: PLC0415, slow, and only pages need it

    replace_private(file, html(report(comparison, record), file.absolute().parent))


def report(comparison: VersionComparison, record: VersionsRecord) -> Report:
    sections = [
        Section("Figures", list(figures_table(comparison))),
        Section("Design", list(design(comparison, record))),
        Section("Repeated", [Remark(spoilt) for spoilt in record.spoilt]),
    ]
    return Report("Comparison", answer(comparison, record), verdict(comparison), sections=sections)


def verdict(comparison: VersionComparison) -> model.Verdict:
    word = comparison.verdict.upper()
    how = "nothing was judged" if not comparison.figures else describe_method(comparison)
    return model.Verdict(word, how, comparison.verdict == Verdict.NO_WORSE, name="VERDICT")


def describe_method(comparison: VersionComparison) -> str:
    judged = join_words(figure.metric.label for figure in comparison.judged)
    return f"{judged} over {many(comparison.pairs, 'pair')} of runs; margin {comparison.terms.margin}"


def figures_table(comparison: VersionComparison) -> Iterator[Part]:
    if not comparison.figures:
        return
    base, new = comparison.terms.names
    rows: list[tuple[Cell, ...]] = []
    for each in comparison.figures:
        if each.metric == FAILED and not any((*each.base, *each.new)):
            continue
        rows.append((each.metric.label, *figure_cells(each), Words(*claim_cell(each))))
    yield Table(("median run", base, new, "ratio", "95 % interval", "verdict"), rows, wraps=0)


def figure_cells(figure: PairedFigure) -> tuple[str, ...]:
    if figure.missing:
        return ABSENT, ABSENT, ABSENT, figure.missing
    base, new = (in_unit(statistics.median(side), figure.metric.unit) for side in (figure.base, figure.new))
    if figure.ratio is None:
        return base, new, ABSENT, ""
    ratio = figure.ratio
    bounds = "" if ratio.low is None or ratio.high is None else f"{write_ratio(ratio.low)} – {write_ratio(ratio.high)}"
    return base, new, write_ratio(ratio.value), bounds or "too few pairs"


def claim_cell(figure: PairedFigure) -> tuple[str, str, Tone]:
    tones: dict[Claim | None, Tone] = {Claim.WORSE: "bad", Claim.NO_WORSE: "good", None: "notice"}
    return figure.claim or "cannot tell", "", tones[figure.claim]


def design(comparison: VersionComparison, record: VersionsRecord) -> Iterator[Part]:
    for name, target in zip(record.names, record.targets, strict=True):
        yield Remark(f"{name}: {target}")
    which = f"tape {record.tape}" + (", because no other was named (--tape)" if record.is_default_tape else "")
    yield Remark(which)
    for each in comparison.unlike:
        yield Remark(f"{each}; compared despite it: “{record.despite}”", "bad")


def data(comparison: VersionComparison, record: VersionsRecord) -> dict[str, Any]:
    """The object that `--json` prints."""
    return {
        "verdict": str(comparison.verdict),
        "sentence": answer(comparison, record),
        "design": "versions",
        "names": list(record.names),
        "targets": list(record.targets),
        "commits": record.commits and list(record.commits),
        "tape": record.tape,
        "default_tape": record.is_default_tape,
        "margin": {"share": record.margin_share, "difference": record.margin_difference},
        "budget": record.budget,
        "pairs": comparison.pairs,
        "planned": list(record.planned),
        "seconds_per_pair": record.seconds_per_pair,
        "measure": record.measure,
        "ended": record.ended,
        "why": list(comparison.why),
        "despite": record.despite,
        "unlike": [
            {"kind": each.kind, "name": each.name, "base": each.base, "new": each.new} for each in comparison.unlike
        ],
        "figures": [figure_data(each) for each in comparison.figures],
        "repeated": list(record.spoilt),
        "left_out": [{"folder": str(run.folder), "why": run.why} for run in comparison.left_out],
        "folder": str(comparison.folder),
    }


def figure_data(figure: PairedFigure) -> dict[str, Any]:
    known = not figure.missing and bool(figure.base)
    return {
        "metric": figure.metric.name,
        "unit": str(figure.metric.unit),
        "judged": not figure.guards,
        "base": list(figure.base),
        "new": list(figure.new),
        "difference": estimate_data(figure.difference) if known else None,
        "ratio": estimate_data(figure.ratio) if known and figure.ratio else None,
        "confidence": figure.confidence,
        "claim": figure.claim and str(figure.claim),
        "more_pairs": figure.more_pairs if known and figure.claim is None else None,
        "missing": figure.missing or None,
    }


def estimate_data(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
