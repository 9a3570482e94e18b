"""Builds the report of one run: the headline, what is unusual, then a section for each topic."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cuesta.analysis.planned import write_swept_value
from cuesta.analysis.summary import Summary
from cuesta.figures.step import UNDONE, StepFigures
from cuesta.json_text import json_text
from cuesta.ledger import raw_files
from cuesta.report import (
    capacity,
    features,
    host_section,
    marks_section,
    neighbour_section,
    path_section,
    published_tables,
    render,
    samples,
    search,
    sweep,
)
from cuesta.report.driver_section import driver_section
from cuesta.report.figure import fact
from cuesta.report.headline import big_figures, headline, unusual_section
from cuesta.report.law import law_section
from cuesta.report.limits import limits_section, published_section
from cuesta.report.model import (
    Fact,
    Facts,
    Folded,
    Links,
    Listing,
    Part,
    Plots,
    Rank,
    Remark,
    Report,
    Section,
    Spare,
    Table,
)
from cuesta.report.plots.over_time import plot_course
from cuesta.report.response_section import response_section
from cuesta.report.validity import judge_run
from cuesta.terminal import Styled
from cuesta.units import ABSENT, count, digits, list_counts, seconds

AS_THE_TAPE_SAYS = "as the tape says"
MOST_LINES = 100
"""Lines that the page lists: the worst ones."""


def text(summary: Summary, colour: bool | None = None, *, verbose: bool = False) -> Styled:
    return render.text(build_report(summary), colour, verbose=verbose)


def build_report(summary: Summary) -> Report:
    name = str(summary.recorded.run.get("name", "run"))
    figures, parts = list(big_figures(summary)), list(sections(summary))
    sentence, limited_by = headline(summary), capacity.state_limit(summary)
    return Report(name, sentence, judge_run(summary), figures, parts, summary.limits_ok, limited_by)


def sections(summary: Summary) -> Iterator[Section]:
    step = summary.last
    yield from search.section(summary)
    if summary.search is None:
        yield limits_section(summary)
    yield from unusual_section(summary)
    yield from samples.sections(summary)
    yield from features.list_sweep_sections(summary)
    yield from sweep.section(summary)
    yield from published_tables.sections(summary)
    yield capacity.section(summary)
    of_step = leave_out_of_sweeps if summary.planned_steps > 1 else lambda section: section
    yield of_step(response_section(summary, step))
    yield from map(of_step, path_section.sections(step))
    yield Section("Course of the run", more=[Plots(list(plot_course(summary.recorded)))])
    yield from marks_section.section(summary)
    yield of_step(throughput_section(step))
    yield law_section(step)
    yield from published_section(summary)
    yield from host_section.sections(summary)
    yield from neighbour_section.section(step)
    yield from features.list_step_sections(step)
    yield driver_section(summary, step)
    yield Section("Users and lines", more=list(line_parts(summary, step)), name="USERS")
    yield Section("What was run", more=list(run_parts(summary)), name="RUN")
    yield record_section(summary)


def leave_out_of_sweeps(section: Section) -> Section:
    """A section on the last step alone: a first screen has room for it after what is of all steps."""
    brief = section.parts if section.brief is None else section.brief
    return replace(section, brief=[], spare=[Spare(Rank.LAST_STEP, part) for part in brief])


def throughput_section(step: StepFigures) -> Section:
    by_name, oldest = list_counts(step.errors.by_name), seconds(step.unfinished.oldest)
    most_usual, *others = UNDONE
    done = [
        fact("transactions.per_s", step, f" ({count(step.transactions.count)} counted)"),
        fact("keystrokes.per_s", step),
        fact("errors.count", step, f" ({by_name})" if by_name else ""),
        fact(most_usual, step),
    ]
    rest = [
        *(fact(name, step) for name in ("characters.in_per_s", "characters.in_per_s_per_user", "characters.out_per_s")),
        *(fact(name, step) for name in ("characters.line_in_per_s", "characters.line_out_per_s")),
        *(fact(name, step) for name in (*others, "never_at_work")),
        Fact("due by the load", str(step.due or ""), "what became of everything that was due"),
        fact("unfinished.count", step, f", the oldest since {oldest}" if step.unfinished.count else ""),
    ]
    return Section("Throughput", [Facts(done)], [Facts(rest)])


def line_parts(summary: Summary, step: StepFigures) -> Iterator[Part]:
    planned = summary.recorded.run.get("steps", [])
    groups = planned[step.step]["group"] if step.step < len(planned) else []
    if groups:
        heads = ("lines of", "users", "line speed", "load", "think", "keys", "target")
        yield Table(heads, list(map(group_cells, groups)), name_swept(step), wraps=6)
    users = [row for agent in summary.recorded.agents for row in agent.users if row.step == step.step]
    if not users:
        yield Remark("no record of single lines: it is written when a step ends", "faint")
        return
    rows = [
        (
            str(row.user),
            row.group,
            count(row.transactions),
            *((seconds(row.mean), seconds(row.max)) if row.transactions else (ABSENT, ABSENT)),
            row.lost or (f"waits for {row.waits} since {seconds(row.waited)}" if row.waits else ""),
        )
        for row in sorted(users, key=lambda row: (row.lost is None, -row.mean))[:MOST_LINES]
    ]
    which = f"the {count(len(rows))} slowest of {count(len(users))} users" if len(users) > len(rows) else "each user"
    about = "response since due, in the measurement interval; users without a transaction have none"
    of_users = ("user", "of", "transactions", "mean response", "longest", "at the end")
    yield Folded(f"Response of {which}, the slowest first", [Table(of_users, rows, about)])


AS_WRITTEN = ("name", "load", "think", "target")
"""Settings of a group that are shown as in the plan."""


def group_cells(group: dict[str, object]) -> tuple[str, ...]:
    speed, keys = group.get("line_speed"), group.get("key_rate")
    bits = AS_THE_TAPE_SAYS if speed is None else f"{count(float(str(speed)))} bit/s" if speed else "as fast as it goes"
    rate = f"{digits(float(str(keys)))}/s" if keys else AS_THE_TAPE_SAYS
    name, load_of, think, target = (str(group.get(each) or AS_THE_TAPE_SAYS) for each in AS_WRITTEN)
    return name, count(float(str(group["users"]))), bits, load_of, think, rate, target


def name_swept(step: StepFigures) -> str:
    settings = ", ".join(f"{name} {write_swept_value(name, value)}" for name, value in step.swept.items())
    return f"swept: {settings}" if settings else ""


def run_parts(summary: Summary) -> Iterator[Part]:
    run = summary.recorded.run
    tapes = (f"{name} ({tape.get('sha256', '')[:12]})" for name, tape in run.get("tapes", {}).items())
    yield Facts(
        [
            Fact("target", ", ".join(map(str, run.get("host", {}).get("targets", [])))),
            Fact("started", str(run.get("started", ""))),
            Fact("ended", summary.ended),
            Fact("command", " ".join(str(word) for word in run.get("command", []))),
            Fact("tapes", ", ".join(tapes)),
            Fact("seed", str(run.get("seed", ""))),
            Fact("agents", str(run.get("agents", ""))),
            Fact("cuesta", str(run.get("cuesta", ""))),
        ]
    )
    machine = [Fact(name, value) for name, value in list_machine_facts(run.get("machine", {}))]
    if machine:
        yield Folded("The machine that the driver ran on", [Facts(machine)])


def record_section(summary: Summary) -> Section:
    folder = summary.recorded.folder
    casts = sorted(folder.glob("**/agent-*/user-*.cast"))
    watch = [Remark(f"{cast.stem.replace('-', ' ')} can be watched: asciinema play {cast}") for cast in casts]
    plan = json_text(summary.recorded.plan, indent=1)
    more: list[Part] = [
        *(Remark(damage, "notice") for damage in summary.recorded.damage),
        Folded("Raw files, from which all of this can be derived again", [Links(raw_files(folder))]),
        Folded("The plan, resolved", [Listing(plan)]),
    ]
    place = Remark(f"{folder} (more: --verbose, report.html)")
    return Section("Record", [Remark(str(folder)), *watch], more, name="RUN FOLDER", brief=[place, *watch])


def list_machine_facts(facts: Mapping[str, object]) -> list[tuple[str, str]]:
    """Without unknown ones."""
    memory = facts.get("memory")
    known = {**facts, "memory": f"{memory / 2**30:.1f} GiB" if isinstance(memory, int | float) else None}
    return [(name, _list_value(value)) for name, value in known.items() if value not in (None, "", [])]


def _list_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
