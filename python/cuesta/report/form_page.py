"""MPL-17's certification form as a page."""

from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from cuesta.ledger.record import RESTATED, FormRow, ProcessRow, Record, RecordFigure
from cuesta.plain_text import plain
from cuesta.report import form
from cuesta.report import page as html
from cuesta.units import many


def build_page(record: Record, folder: Path) -> Markup:
    word, sentence = form.verdict(record)
    marks: list[tuple[str, str]] = [(plain(reason), "") for reason in [*record.because, *record.warnings]]
    return html.page(
        f"{form.title(record)}: {plain(record.given.system)}",
        [
            html.verdict(word, sentence, marks, good=record.grade == "certified" and not record.warnings),
            html.section("I Variable settings: operating system", [html.facts(form.settings(record))]),
            html.section("II Hardware configuration", [html.facts(form.hardware(record))]),
            html.section(
                "III Other factors expected to influence measurements", map(html.paragraph, form.factors(record))
            ),
            html.section("IV Measurements", list(tables(record))),
            html.section("V Original run", raw_files_part(record)),
            html.section("VI Comments", map(html.paragraph, form.comments(record))),
            html.section(
                "How it was measured", [html.facts(form.method_facts(record)), runs_table(record), checks_table(record)]
            ),
            html.links([folder / run / "run.json" for run in form.list_folders(record)], folder),
        ],
    )


def raw_files_part(record: Record) -> list[Markup]:
    files = f"{many(len(record.raw), 'file')} in this folder ({', '.join(form.list_folders(record))})"
    about = f"{files}; `cuesta certify --verify` holds them against their hashes."
    return [
        html.paragraph(about),
        html.folded("SHA-256 of every file", [html.table(("file", "SHA-256"), record.raw.items())]),
    ]


def tables(record: Record) -> Iterator[Markup]:
    """Part IV."""
    if not record.runs:
        return
    for part, caption in form.CAPTIONS.items():
        heads = {"figure": ""} if part == "d" else form.columns(record)
        cells = [
            (named_cell(number, each), *(write_with_interval(getattr(each, at), each.unit) for at in heads))
            for number, each in form.number_rows(getattr(record.measurements, part))
        ]
        yield html.paragraph(f"{part}. {caption}", "title") + html.table(("", *heads.values()), cells)
    if record.published:
        yield html.paragraph(form.PUBLISHED, "title") + html.table(form.BESIDE_HEADS, form.published_rows(record))
    yield from (html.paragraph(f"— {names}: {why}", "faint") for why, names in form.list_absences(record).items())
    formulas = [(f"{part}: {each.name.strip()}", each.formula) for part, each in form.all_rows(record)]
    yield html.folded("How each figure is computed", [html.facts(formulas)])


def runs_table(record: Record) -> Markup:
    return html.table(form.RUN_HEADS, map(form.run_row, record.runs), "Runs")


def checks_table(record: Record) -> Markup:
    return html.facts(
        (f"check: {check.name}", f"{'kept' if check.ok else 'NOT KEPT'}: {plain(check.said)}")
        for check in record.checks
    )


def named_cell(number: str, row: FormRow | ProcessRow) -> html.Cell:
    """Cell of a row's name; a restated row is indented."""
    return (form.label(row).strip(), "in") if row.key in RESTATED else f"{number}{form.label(row)}"


def write_with_interval(one: RecordFigure, unit: str) -> str:
    within = form.write_interval(one, unit)
    return f"{form.write_figure(one, unit)} [{within}]" if within else form.write_figure(one, unit)
