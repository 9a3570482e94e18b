"""Writes a page of certifications side by side, each with a stacked bar of CPU time by cause, as in MPL-17 (1969)."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from cuesta.ledger.record import FormRow, Record
from cuesta.private_files import replace_private
from cuesta.report import form_page
from cuesta.report.model import Cell, Links, Part, Plots, Remark, Report, Section, Table, Verdict
from cuesta.report.plots.causes import plot_bars
from cuesta.report.render.page import html
from cuesta.report.several import NO_COMPARISON
from cuesta.units import ABSENT, seconds

PHASE_TITLES = {"command": "Command sequence", "creation": "Process creation"}
TOTAL = "Total"
UNLIKE = "These systems played different scripts: each has its own plots, and their times cannot be compared."


def write_systems(records: Mapping[str, tuple[Path, Record]], file: Path) -> None:
    """Write the page of several certifications; a single one is shown as its form."""
    if len(records) == 1:
        ((folder, record),) = records.values()
        return replace_private(file, form_page.build_page(record, folder))
    return replace_private(file, html(build_report(records), file.absolute().parent))


def build_report(records: Mapping[str, tuple[Path, Record]]) -> Report:
    """The report of several certifications, by name, each with its folder."""
    systems = {name: record for name, (_, record) in records.items()}
    lesser = [name for name, record in systems.items() if record.grade != "certified"]
    reasons = [(f"{name}: {why}", "") for name in lesser for why in systems[name].because]
    verdict = Verdict("NOT ALL CERTIFIED" if lesser else "CERTIFIED", ", ".join(lesser), not lesser, reasons)
    forms = [folder / "record.html" for folder, _ in records.values() if (folder / "record.html").exists()]
    sections = [*list_sections(systems), Section("Forms", [Links(forms)])]
    return Report(f"{len(systems)} systems side by side", "", verdict, (), sections)


def list_sections(records: Mapping[str, Record]) -> Iterator[Section]:
    unlike = [Remark(UNLIKE)] if len(group_by_script(records)) > 1 else []
    about = Table(("", *records), list(about_rows(records.values())))
    yield Section("Systems", [about, *unlike, Remark(NO_COMPARISON, "faint")])
    for script, alike in group_by_script(records).items():
        for phase, title in PHASE_TITLES.items():
            named = title if len(alike) == len(records) else f"{title}, {script}"
            yield Section(named, list(phase_parts(alike, phase, title)))


def about_rows(records: Collection[Record]) -> Iterator[tuple[Cell, ...]]:
    yield "grade", *(record.grade for record in records)
    yield "system", *(record.given.system for record in records)
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


def phase_parts(records: Mapping[str, Record], phase: str, title: str) -> Iterator[Part]:
    costs = {name: cost for name, record in records.items() if (cost := cpu_by_cause(record, phase))}
    if not costs:
        return
    causes = list(dict.fromkeys(cause for cost in costs.values() for cause in cost))
    errors = {name: cpu_by_cause(record, phase, "standard_error") for name, record in records.items()}
    about = "CPU time of one process, mean of runs"
    yield Plots(list(plot_bars(f"{title}, by cause", costs, about, causes, errors)))
    cells = [(cause, *(seconds(costs.get(name, {}).get(cause)) for name in records)) for cause in causes]
    totals = [seconds(sum(costs[name].values())) if name in costs else ABSENT for name in records]
    heads, source = ("CPU time of one process", *records), "part IV b of the form, over the number of users"
    yield Table(heads, [*cells, (TOTAL, *totals)], source)


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
