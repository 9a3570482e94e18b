"""Several runs on one page, side by side: columns of figures, and their curves in one plot."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cuesta.analysis.causes import cost_by_cause, error_by_cause
from cuesta.analysis.summary import Summary
from cuesta.ledger import raw_files
from cuesta.report import columns
from cuesta.report.model import Plot
from cuesta.report.page import Cell, folded, links, page, paragraph, plots, section, table, verdict
from cuesta.report.phrases import doubts, how_it_ended
from cuesta.report.plots import bars, overlaid, overlaid_sweeps
from cuesta.units import many

KINDS: Mapping[str, str] = {
    "kept": "kept",
    "crossed": "crossed",
    "not kept": "crossed",
    "VALID": "kept",
    "INVALID": "crossed",
}
"""How the last words of cells look."""


def several(runs: Mapping[str, Summary], place: Path) -> str:
    """Give the page of runs by name; `place` is the folder that the page is for, where its links begin."""
    return page(f"{many(len(runs), 'run')} side by side", _parts(runs, place))


def _parts(runs: Mapping[str, Summary], place: Path) -> Iterator[str]:
    yield of_validity(runs)
    heads, *rows = columns.what_was_run(runs)
    unlike = list(columns.differences(runs))
    differ = [folded("In what else they differ", [_table(heads, unlike)])] if unlike else []
    yield section("What was run", [_table(heads, rows), *differ])
    yield section("Limits", [_table(heads, limits)] if (limits := list(columns.limits(runs))) else [])
    yield section("Figures", [_table(heads, columns.figures(runs)), paragraph(columns.NO_COMPARISON, "faint")])
    yield section("Sweeps", [drawn] if (drawn := plots(overlaid_sweeps(runs))) else [])
    yield section("Response", [plots(_curves(runs))])
    yield section("Host CPU by cause", host(runs))
    yield section("Records", (_record(name, run, place) for name, run in runs.items()))


def of_validity(runs: Mapping[str, Summary]) -> str:
    """Say first which of them can be trusted."""
    bad = [name for name, run in runs.items() if not run.valid]
    reasons = [(f"{name}: {said}", advice) for name, run in runs.items() for said, advice in doubts(run)]
    word, said = ("INVALID", f"do not rely on {', '.join(bad)}") if bad else ("VALID", "every one of them")
    early = [f"{name}: {how}" for name, run in runs.items() if (how := how_it_ended(run))]
    return verdict(word, said, reasons, not bad) + "".join(paragraph(each, "notice") for each in early)


def host(runs: Mapping[str, Summary]) -> Iterator[str]:
    """Draw what a transaction cost each host, as MPL-17 drew its systems."""
    costs = {name: cost for name, run in runs.items() if (cost := cost_by_cause(run.last))}
    about = "CPU time of the host for each transaction"
    errors = {name: error_by_cause(runs[name].last) for name in costs}
    yield plots(bars("Host CPU for each transaction, by cause", costs, about, errors=errors))
    if costs and len(costs) < len(runs):
        without = ", ".join(name for name in runs if name not in costs)
        yield paragraph(f"no CPU time by cause: {without}", "faint")


def _curves(runs: Mapping[str, Summary]) -> Iterator[Plot]:
    for series, title in (
        ("response", "Response by percentile"),
        ("echo", "Keystroke echo by percentile"),
        ("lateness", "Driver delay by percentile"),
    ):
        yield from overlaid(runs, series, title)


def _record(name: str, run: Summary, place: Path) -> str:
    folder = run.recorded.folder
    own = [folder / "report.html"] if (folder / "report.html").exists() else []
    return folded(name, [links([*own, *raw_files(folder)], place)])


def _table(heads: tuple[str, ...], rows: Iterator[columns.Row] | list[columns.Row]) -> str:
    return table(heads, [[_cell(cell) for cell in row] for row in rows])


def _cell(text: str) -> Cell:
    kind = KINDS.get(text.rpartition(", ")[2])
    return (text, kind) if kind else text
