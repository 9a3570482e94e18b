"""Writes a page of certifications side by side, each with a stacked bar of CPU time by cause, as in MPL-17 (1969)."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from markupsafe import Markup

from cuesta.ledger.record import FormRow, Record
from cuesta.report import form_page
from cuesta.report.page import Cell, links, page, paragraph, plots, section, table, verdict, write
from cuesta.report.plots.causes import plot_bars
from cuesta.report.several import NO_COMPARISON
from cuesta.units import ABSENT, seconds

PHASE_TITLES = {"command": "Command sequence", "creation": "Process creation"}
TOTAL = "Total"
UNLIKE = "These systems played different scripts: each has its own plots, and their times cannot be compared."


def write_systems(records: Mapping[str, tuple[Path, Record]], file: Path) -> None:
    """Write the page of several certifications; a single one is shown as its form."""
    if len(records) == 1:
        ((folder, record),) = records.values()
        return write(file, form_page.build_page(record, folder))
    of = {name: record for name, (_, record) in records.items()}
    folders = [folder for folder, _ in records.values()]
    return write(file, page(f"{len(of)} systems side by side", _parts(of, folders, file.absolute().parent)))


def _parts(records: Mapping[str, Record], folders: list[Path], place: Path) -> Iterator[Markup]:
    lesser = [name for name, record in records.items() if record.grade != "certified"]
    reasons = [(f"{name}: {why}", "") for name in lesser for why in records[name].because]
    yield verdict("CERTIFIED" if not lesser else "NOT ALL CERTIFIED", ", ".join(lesser), reasons, not lesser)
    unlike = [paragraph(UNLIKE)] if len(group_by_script(records)) > 1 else []
    about = table(("", *records), about_rows(records.values()))
    yield section("Systems", [about, *unlike, paragraph(NO_COMPARISON, "faint")])
    for script, alike in group_by_script(records).items():
        for phase, title in PHASE_TITLES.items():
            yield section(title if len(alike) == len(records) else f"{title}, {script}", _phase(alike, phase, title))
    yield section(
        "Forms", [links([each / "record.html" for each in folders if (each / "record.html").exists()], place)]
    )


def about_rows(records: Collection[Record]) -> Iterator[tuple[Cell, ...]]:
    yield "grade", *(record.grade for record in records)
    yield "system", *((record.given.system, "wraps") for record in records)
    yield "started", *(record.given.started for record in records)
    yield "users", *(f"{record.workload.users}, {record.workload.attached}" for record in records)
    yield "script", *(short_script(record) for record in records)
    yield "runs that count", *(str(record.method.runs) for record in records)


def group_by_script(records: Mapping[str, Record]) -> dict[str, dict[str, Record]]:
    """By script, because a plot has bars of one script only."""
    groups: dict[str, dict[str, Record]] = {}
    for name, record in records.items():
        groups.setdefault(f"{record.given.kind}, script {short_script(record)}", {})[name] = record
    return groups


def short_script(record: Record) -> str:
    return record.workload.sha256[:12]


def _phase(records: Mapping[str, Record], phase: str, title: str) -> Iterator[Markup]:
    costs = {name: cost for name, record in records.items() if (cost := cpu_by_cause(record, phase))}
    if not costs:
        return
    causes = list(dict.fromkeys(cause for cost in costs.values() for cause in cost))
    errors = {name: cpu_by_cause(record, phase, "standard_error") for name, record in records.items()}
    yield plots(plot_bars(f"{title}, by cause", costs, "CPU time of one process, mean of runs", causes, errors))
    cells = [(cause, *(seconds(costs.get(name, {}).get(cause)) for name in records)) for cause in causes]
    totals = [seconds(sum(costs[name].values())) if name in costs else ABSENT for name in records]
    heads, source = ("CPU time of one process", *records), "part IV b of the form, over the number of users"
    yield table(heads, [*cells, (TOTAL, *totals)], source)


def cpu_by_cause(record: Record, phase: str, part: str = "value") -> Mapping[str, float]:
    """CPU time of one process in a phase by cause, in seconds, or its standard error; empty if unmetered."""
    figures = {line.key: (name_cause(line), getattr(line, phase)) for line in record.measurements.b}
    if not record.workload.users or figures.pop("total")[1].value is None:
        return {}
    values = {name: getattr(figure, part) for name, figure in figures.values()}
    return {name: value / record.workload.users for name, value in values.items() if value is not None}


def name_cause(line: FormRow) -> str:
    name = line.name.removesuffix(" time")
    return f"{name} ({line.today})" if line.today else name
