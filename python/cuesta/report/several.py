"""Builds the report of several runs: a column for each, and their curves in one plot. It gives no verdict on them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from cuesta.analysis.causes import cost_by_cause, error_by_cause
from cuesta.analysis.compare.comparability import collect_facts, write_fact
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE
from cuesta.figures.step import UNDONE, LimitResult, StepFigures
from cuesta.ledger import raw_files
from cuesta.private_files import replace_private
from cuesta.report import render
from cuesta.report.capacity import TITLE, state_limit
from cuesta.report.figure import explain_marks, head, write_duration, write_figure, write_marked
from cuesta.report.headline import state_result
from cuesta.report.limits import describe_limit_value, limit_status, limit_tone
from cuesta.report.model import (
    Cell,
    Folded,
    Links,
    Part,
    Plot,
    Plots,
    Remark,
    Report,
    Section,
    Table,
    Verdict,
    Words,
    combine,
)
from cuesta.report.plots.against_users import overlay_sweeps
from cuesta.report.plots.causes import plot_bars
from cuesta.report.plots.distributions import overlay_distributions
from cuesta.report.render.page import html
from cuesta.report.run_report import build_report
from cuesta.report.validity import describe_ending, list_doubts
from cuesta.units import ABSENT, count, many, seconds, share

MOST_ANSWERS = 3
"""Runs that the headline names one by one."""
MOST_DIFFERENCES = 40
"""Facts in which runs differ that are listed."""
NO_COMPARISON = "side by side is no comparison: `cuesta compare BASE NEW` says whether a difference is real"

FIGURES = (
    *("transactions.per_s", "transactions.count", "response.p50", "response.p95", "response.p99"),
    *("response_from_sent.p99", "echo.p50", "echo.p99", "stalls.longest", "errors.count", *UNDONE, "law.error"),
)
"""Figures of each run's last step; those that none of the runs has are left out."""
DRIVER = ("lateness.p99", "driver.cpu")

Cells = tuple[Cell, ...]
"""A row of a table."""


def name_runs(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of paths that distinguish the runs."""
    paths = [folder.absolute().parts for folder in folders]
    most = max(map(len, paths))
    for length in range(1, most + 1):
        tails = ["/".join(parts[-length:]) for parts in paths]
        if len(set(tails)) == len(tails):
            return tails
    return [f"{folder.absolute()!s} ({number})" for number, folder in enumerate(folders, 1)]


def markdown(runs: Mapping[str, Summary]) -> str:
    return render.markdown(build_joint_report(runs))


def write_page(runs: Mapping[str, Summary], file: Path) -> None:
    replace_private(file, build_page(runs, file.absolute().parent))


def build_page(runs: Mapping[str, Summary], place: Path) -> Markup:
    """The page of one run, or of several by name; its links begin in the folder `place`."""
    return html(build_joint_report(runs), place)


def build_joint_report(runs: Mapping[str, Summary]) -> Report:
    if len(runs) == 1:
        return build_report(next(iter(runs.values())))
    title = f"{many(len(runs), 'run')} side by side"
    limits_ok = combine([run.limits_ok for run in runs.values()])
    return Report(title, headline(runs), verdict(runs), sections=list(sections(runs)), limits_ok=limits_ok)


def headline(runs: Mapping[str, Summary]) -> str:
    """The result of each run if they are few; else the range of their responses."""
    if len(runs) <= MOST_ANSWERS:
        return "; ".join(f"{name}: {state_result(run.last)}" for name, run in runs.items())
    steady = [run.last.response for run in runs.values() if run.last.settled.steady]
    known = sorted((each for each in steady if each.p50 is not None), key=lambda each: each.p50 or 0.0)
    ends = [write_duration(each, "p50") for each in (*known[:1], *known[-1:])]
    median = f"median response from {' to '.join(ends)}" if known else ""
    unsteady = f"{count(len(runs) - len(steady))} had no steady state" if len(steady) < len(runs) else ""
    answers = median or ("" if unsteady else "none had an answer")
    return f"{many(len(runs), 'run')}: {', '.join(filter(None, (answers, unsteady)))}"


def verdict(runs: Mapping[str, Summary]) -> Verdict:
    bad = [name for name, run in runs.items() if not run.valid]
    reasons = [(f"{name}: {reason}", advice) for name, run in runs.items() for reason, advice in list_doubts(run)]
    word, reason = ("INVALID", f"do not rely on {', '.join(bad)}") if bad else ("VALID", "every one of them")
    early = [f"{name}: {how}" for name, run in runs.items() if (how := describe_ending(run))]
    return Verdict(word, reason, not bad, reasons, early)


def sections(runs: Mapping[str, Summary]) -> Iterator[Section]:
    heads = ("", *runs)
    unlike = list(list_differences(runs))
    differ: list[Part] = [Folded("Other differences", [Table(heads, unlike)])] if unlike else []
    yield Section("What was run", [Table(heads, list(what_was_run(runs))), *differ])
    if judged_limits := list(limit_rows(runs)):
        yield Section("Limits", [Table(heads, judged_limits)])
    rows = list(figure_rows(runs))
    explained = [Remark(note, "faint") for note in explain_marks(cell for _, *cells in rows for cell in cells)]
    sentences = [(name, state_limit(run).text) for name, run in runs.items()]
    yield Section(TITLE, [Table(("run", "limited by"), sentences, wraps=1)])
    yield Section("Figures", [Table(heads, rows), *explained, Remark(NO_COMPARISON, "faint")])
    yield Section("Sweeps", more=[Plots(list(overlay_sweeps(runs)))])
    yield Section("Response", more=[Plots(list(plot_curves(runs)))])
    yield Section("Host CPU by cause", more=list(plot_hosts(runs)))
    files: list[Part] = [Folded(name, [Links(list(list_files(run)))]) for name, run in runs.items()]
    yield Section("Records", more=files)


def what_was_run(runs: Mapping[str, Summary]) -> Iterator[Cells]:
    yield (
        "validity",
        *(Words("VALID", tone="good") if run.valid else Words("INVALID", tone="bad") for run in runs.values()),
    )
    yield "ended", *(run.ended for run in runs.values())
    yield "name", *(str(run.recorded.run.get("name", ABSENT)) for run in runs.values())
    yield "started", *(str(run.recorded.run.get("started", ABSENT)) for run in runs.values())
    yield "users", *(write_steps(run) for run in runs.values())
    yield "load", *(run.last.load for run in runs.values())
    yield "measured for", *(seconds(run.last.seconds) for run in runs.values())


def write_steps(run: Summary) -> str:
    users = list(dict.fromkeys(step.users for step in run.steps))
    return count(users[0]) if len(users) == 1 else f"{', '.join(map(count, users[:-1]))}; below: {count(users[-1])}"


def list_differences(runs: Mapping[str, Summary]) -> Iterator[Cells]:
    facts = [collect_facts(run.recorded.run) for run in runs.values()]
    names = list(dict.fromkeys((kind, name) for run in facts for kind in run for name in run[kind]))
    unlike = [(kind, name, [run[kind].get(name) for run in facts]) for kind, name in names]
    unlike = [(kind, name, values) for kind, name, values in unlike if any(value != values[0] for value in values)]
    for kind, name, values in unlike[:MOST_DIFFERENCES]:
        yield f"{kind}: {name}", *(write_fact(value) for value in values)
    if len(unlike) > MOST_DIFFERENCES:
        yield many(len(unlike) - MOST_DIFFERENCES, "more fact"), *("" for _ in runs)


def figure_rows(runs: Mapping[str, Summary]) -> Iterator[Cells]:
    steps = [run.last for run in runs.values()]
    rows: list[tuple[Cell, list[str]]] = [
        (head(name), [write_marked(name, step) for step in steps]) for name in FIGURES
    ]
    rows += [(label, [write(step) for step in steps]) for label, write in OF_HOST.items()]
    rows += [(head(name), [write_marked(name, step) for step in steps]) for name in DRIVER]
    yield from ((label, *cells) for label, cells in rows if any(cell != ABSENT for cell in cells))


def limit_rows(runs: Mapping[str, Summary]) -> Iterator[Cells]:
    results = [(run, {each.limit: each for each in run.last.limits}) for run in runs.values()]
    for limit in dict.fromkeys(name for _, each in results for name in each):
        yield limit, *(judge_limit(limits[limit], run) if limit in limits else ABSENT for run, limits in results)


def judge_limit(result: LimitResult, run: Summary) -> Words:
    return Words(f"{describe_limit_value(result, run)}, {limit_status(result)}", tone=limit_tone(result))


def plot_curves(runs: Mapping[str, Summary]) -> Iterator[Plot]:
    for series, title in (
        ("response", "Response by percentile"),
        ("echo", "Keystroke echo by percentile"),
        ("lateness", "Driver delay by percentile"),
    ):
        yield from overlay_distributions(runs, series, title)


def plot_hosts(runs: Mapping[str, Summary]) -> Iterator[Part]:
    """CPU time per transaction by cause, as MPL-17 has it."""
    costs = {name: cost for name, run in runs.items() if (cost := cost_by_cause(run.last))}
    errors = {name: error_by_cause(runs[name].last) for name in costs}
    about = "CPU time of the host for each transaction"
    yield Plots(list(plot_bars("Host CPU per transaction, by cause", costs, about, errors=errors)))
    if costs and len(costs) < len(runs):
        without = ", ".join(name for name in runs if name not in costs)
        yield Remark(f"no CPU time by cause: {without}", "faint")


def list_files(run: Summary) -> Iterator[Path]:
    folder = run.recorded.folder
    if (folder / "report.html").exists():
        yield folder / "report.html"
    yield from raw_files(folder)


def write_host_use(step: StepFigures) -> str:
    cpu = step.host.cpu
    return ABSENT if cpu is None else share((cpu.usr + cpu.sys) / 100)


OF_HOST: dict[Cell, Callable[[StepFigures], str]] = {
    Words("host CPU", f"{CATALOGUE['host.cpu.usr'].meaning} {CATALOGUE['host.cpu.sys'].meaning}"): write_host_use,
    head("host.per_transaction.cpu_ms"): lambda step: write_figure("host.per_transaction.cpu_ms", step),
}
