"""The report of two versions of a program: the answer in a sentence, both distributions, and the figures behind it."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuesta.analysis.compare.metrics import FAILED
from cuesta.analysis.compare.paired_figure import Claim, Estimate, PairedFigure
from cuesta.analysis.compare.versions import Verdict, VersionComparison
from cuesta.analysis.waits import Waits, add_waits
from cuesta.ledger.versions import VersionsRecord
from cuesta.private_files import replace_private
from cuesta.report import model, render
from cuesta.report.box_plot import draw_boxes
from cuesta.report.comparison import write_ratio
from cuesta.report.model import (
    Cell,
    Fact,
    Facts,
    Folded,
    Part,
    Plots,
    Remark,
    Report,
    Screen,
    Section,
    Table,
    Tone,
    Words,
)
from cuesta.report.version_answer import answer
from cuesta.terminal import Styled
from cuesta.units import ABSENT, in_unit, join_words, many, minutes, seconds

COMMIT = 10
"""Shown characters of a commit."""
POOLED = ("p50", "p90", "p95", "p99", "max")
"""Figures of the values of all runs together, which are shown without a verdict."""


def text(comparison: VersionComparison, colour: bool | None = None) -> Styled:
    return render.text(build_report(comparison), colour)


def markdown(comparison: VersionComparison) -> str:
    return render.markdown(build_report(comparison))


def write_page(comparison: VersionComparison, file: Path) -> None:
    from cuesta.report.render.page import html  # noqa: PLC0415, slow, and only pages need it

    replace_private(file, html(build_plotted_report(comparison), file.absolute().parent))


def build_plotted_report(comparison: VersionComparison) -> Report:
    """With plots of both distributions."""
    from cuesta.report.plots.versions import plot_differences, plot_shares  # noqa: PLC0415, slow, and only pages need it

    parts: list[Part] = []
    if comparison.figures:
        pooled, what = pool_values(comparison), name_values(comparison)
        plots = [*plot_shares(pooled, what), *plot_differences(comparison.judged[0], comparison.record.names)]
        parts = [Plots(plots), pooled_table(pooled, what)]
    return build_report(comparison, parts)


def build_report(comparison: VersionComparison, plots: Sequence[Part] = ()) -> Report:
    """With `plots` in place of the boxes, if there are any."""
    record = comparison.record
    sections = [
        Section("Both versions", plots) if plots else Section("Both", list(boxes(comparison))),
        Section("Figures", list(figures_table(comparison))),
        Section("Design", [Facts([*describe_versions(record), *describe_pairs(comparison)])]),
        Section("Unlike", [Remark(f"{each}", "bad") for each in comparison.unlike]),
        Section("Machine", [Facts(list(describe_machine(comparison)))], brief=[]),
    ]
    if record.spoilt:
        spoilt = Folded(
            "runs that do not count, and whose pairs were repeated", [Remark(each) for each in record.spoilt]
        )
        sections.append(Section("Repeated", [spoilt], brief=[]))
    return Report("Comparison", answer(comparison), verdict(comparison), sections=sections)


def verdict(comparison: VersionComparison) -> model.Verdict:
    word = comparison.verdict.upper()
    if not comparison.figures:
        return model.Verdict(word, "nothing was judged", is_good(comparison.verdict), name="VERDICT")
    judged = join_words(figure.metric.label for figure in comparison.judged)
    how = f"{judged} over {many(comparison.pairs, 'pair')} of runs; margin {comparison.margin}"
    return model.Verdict(word, how, is_good(comparison.verdict), name="VERDICT")


def is_good(verdict: Verdict) -> bool | None:
    return None if verdict == Verdict.CANNOT_TELL else verdict == Verdict.NO_WORSE


def name_values(comparison: VersionComparison) -> str:
    """What the values are of which the first figure is one."""
    return "answers" if comparison.judged[0].metric.series in ("response", "first_response") else "keys"


def pool_values(comparison: VersionComparison) -> dict[str, Waits]:
    """The values of all runs of each version, by its name."""
    sides = zip(comparison.record.names, (comparison.base, comparison.new), strict=True)
    return {name: add_waits(run.waits for run in side) for name, side in sides}


def boxes(comparison: VersionComparison) -> Iterator[Part]:
    """Both distributions in a row each, for where there are no plots."""
    if comparison.figures and (rows := draw_boxes(pool_values(comparison))):
        yield Screen(rows)
        yield Remark(
            f"5 to 95 % of all {name_values(comparison)}; the thick part is half of them, | the median", "faint"
        )


def pooled_table(pooled: Mapping[str, Waits], what: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, waits in pooled.items():
        found = waits.distribution()
        rows.append((name, f"{found.count:,}", *(seconds(getattr(found, each)) for each in POOLED)))
    caption = f"all {what} of all pairs together; the verdict rests on pairs of runs, not on {what}"
    return Table((f"all {what}", what, *POOLED), rows, caption, wraps=0)


def figures_table(comparison: VersionComparison) -> Iterator[Part]:
    if not comparison.figures:
        return
    base, new = comparison.record.names
    rows: list[tuple[Cell, ...]] = [
        (each.metric.label, *figure_cells(each), claim_cell(each))
        for each in comparison.figures
        if each.metric != FAILED or any((*each.base, *each.new))
    ]
    levels = {f"{100 * each.confidence:g} %" for each in comparison.figures}
    caption = f"intervals hold for all looks at the pairs together: {' and '.join(sorted(levels))}"
    yield Table(("median run", base, new, "ratio", "interval", "verdict"), rows, caption, wraps=0)


def figure_cells(figure: PairedFigure) -> tuple[str, ...]:
    if figure.missing:
        return ABSENT, ABSENT, ABSENT, figure.missing
    base, new = (in_unit(statistics.median(side), figure.metric.unit) for side in (figure.base, figure.new))
    if (ratio := figure.ratio) is None:
        return base, new, ABSENT, ""
    bounds = "" if ratio.low is None or ratio.high is None else f"{write_ratio(ratio.low)} – {write_ratio(ratio.high)}"
    return base, new, write_ratio(ratio.value), bounds or "too few pairs"


def claim_cell(figure: PairedFigure) -> Words:
    tones: dict[Claim | None, Tone] = {
        Claim.WORSE: "bad",
        Claim.NO_WORSE: "good",
        None: "" if figure.guards else "notice",
    }
    return Words(str(figure.claim or "cannot tell"), tone=tones[figure.claim])


def describe_versions(record: VersionsRecord) -> Iterator[Fact]:
    commits = [f", commit {commit[:COMMIT]}" for commit in record.commits or ()] or ["", ""]
    for name, target, commit in zip(record.names, record.targets, commits, strict=True):
        yield Fact(name, f"{target}{commit}")


def describe_pairs(comparison: VersionComparison) -> Iterator[Fact]:
    """What was typed, how many pairs were made, and why no more."""
    record = comparison.record
    yield Fact("tape", record.tape + (", because no other was named (--tape)" if record.is_default_tape else ""))
    if record.key_rate is not None:
        yield Fact("typed", f"{record.key_rate:g} keys a second: faster ones would queue for their echoes")
    if record.planned:
        most, looks = record.planned[-1], join_words(map(str, record.planned))
        yield Fact("pairs", f"{comparison.pairs} of at most {most}, looked at after {looks}: {ENDINGS[record.ended]}")
        yield Fact("run", f"measures for {seconds(record.measure)}; a pair takes {record.seconds_per_pair:.0f} s")
    yield Fact("budget", minutes(record.budget))
    if record.spoilt:
        yield Fact("repeated", many(len(record.spoilt), "pair"))
    if record.despite:
        yield Fact("compared despite differences", record.despite)


ENDINGS = {
    "decided": "it could tell",
    "budget": "the budget was used up",
    "interrupted": "it was interrupted",
    "obstacle": "nothing could be measured",
    None: "it goes on, or was cut off",
}
"""Why no more pairs are made."""


def describe_machine(comparison: VersionComparison) -> Iterator[Fact]:
    """The machine and the driver; only what is known."""
    for run in comparison.base[:1]:
        facts = {**run.compared.facts["machine"], "Cuesta": run.compared.facts["driver"].get("version")}
        yield from (Fact(name, str(value)) for name, value in facts.items() if value and name != "id")


def data(comparison: VersionComparison) -> dict[str, Any]:
    """The object that `--json` prints."""
    record = comparison.record
    return {
        "verdict": str(comparison.verdict),
        "sentence": answer(comparison),
        "design": record.compared,
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
        "key_rate": record.key_rate,
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
