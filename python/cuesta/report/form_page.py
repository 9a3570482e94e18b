"""MPL-17's certification form as a page."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from markupsafe import Markup

from cuesta.ledger.record import RESTATED, Record, RecordFigure
from cuesta.plain_text import plain
from cuesta.report import form
from cuesta.report.model import Fact, Facts, Folded, Links, Part, Remark, Report, Section, Table, Verdict
from cuesta.report.render.page import html
from cuesta.units import many


def build_page(record: Record, folder: Path) -> Markup:
    """The form of a certification in a folder, to which its links are relative."""
    return html(build_report(record, folder), folder)


def build_report(record: Record, folder: Path) -> Report:
    """The form of a certification as a report."""
    word, sentence = form.verdict(record)
    reasons = [(reason, "") for reason in [*record.because, *record.warnings]]
    is_good = record.grade == "certified" and not record.warnings
    title = f"{form.title(record)}: {record.given.system}"
    return Report(title, "", Verdict(word, sentence, is_good, reasons), (), list(sections(record, folder)))


def sections(record: Record, folder: Path) -> Iterator[Section]:
    yield Section("I Variable settings: operating system", [name_facts(form.settings(record))])
    yield Section("II Hardware configuration", [name_facts(form.hardware(record))])
    yield Section("III Other factors expected to influence measurements", list(map(Remark, form.factors(record))))
    yield Section("IV Measurements", list(measurements(record)))
    files = f"{many(len(record.raw), 'file')} in this folder ({', '.join(form.list_folders(record))})"
    hashes = Folded("SHA-256 of every file", [Table(("file", "SHA-256"), list(record.raw.items()))])
    runs = Links([folder / run / "run.json" for run in form.list_folders(record)])
    about = f"{files}; `cuesta certify --verify` holds them against their hashes."
    yield Section("V Original run", [Remark(about), hashes, runs])
    yield Section("VI Comments", list(map(Remark, form.comments(record))))
    made = Table(form.RUN_HEADS, list(map(form.run_row, record.runs)), "Runs")
    checks = (
        (f"check: {check.name}", f"{'kept' if check.ok else 'NOT KEPT'}: {plain(check.said)}")
        for check in record.checks
    )
    yield Section("How it was measured", [name_facts(form.method_facts(record)), made, name_facts(checks)])


def name_facts(rows: Iterable[tuple[str, str]]) -> Facts:
    return Facts([Fact(name, value) for name, value in rows])


def measurements(record: Record) -> Iterator[Part]:
    """Part IV."""
    if not record.runs:
        return
    for part, caption in form.CAPTIONS.items():
        heads = {"figure": ""} if part == "d" else form.columns(record)
        rows = list(form.number_rows(getattr(record.measurements, part)))
        indented = {place for place, (_, row) in enumerate(rows) if row.key in RESTATED}
        cells = [
            (
                form.label(row).strip() if place in indented else f"{number}{form.label(row)}",
                *(write_with_interval(getattr(row, at), row.unit) for at in heads),
            )
            for place, (number, row) in enumerate(rows)
        ]
        yield Remark(f"{part}. {caption}", "title")
        yield Table(("", *heads.values()), cells, indented=indented)
    if record.published:
        yield Remark(form.PUBLISHED, "title")
        yield Table(form.BESIDE_HEADS, list(form.published_rows(record)))
    yield from (Remark(f"— {names}: {why}", "faint") for why, names in form.list_absences(record).items())
    formulas = [(f"{part}: {row.name.strip()}", row.formula) for part, row in form.all_rows(record)]
    yield Folded("How each figure is computed", [name_facts(formulas)])


def write_with_interval(figure: RecordFigure, unit: str) -> str:
    within = form.write_interval(figure, unit)
    return f"{form.write_figure(figure, unit)} [{within}]" if within else form.write_figure(figure, unit)
