"""Several runs side by side: rows of figures with a column for each run. Nothing is judged here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from cuesta.analysis.compare.comparability import facts, shown
from cuesta.analysis.summary import Summary
from cuesta.figures.step import LimitResult, StepFigures
from cuesta.report.phrases import kept, limit_value, per_s, plain
from cuesta.units import ABSENT, count, many, seconds, share

MOST_DIFFERENCES = 40
"""Facts in which runs differ that are listed."""
NO_COMPARISON = "side by side is no comparison: `cuesta compare BASE NEW` says what a difference is worth"

Row = tuple[str, ...]


def names(folders: Sequence[Path]) -> list[str]:
    """Name each run by as much of the end of its path as tells it from the others."""
    paths = [folder.absolute().parts for folder in folders]
    most = max(map(len, paths))
    for length in range(1, most + 1):
        tails = ["/".join(parts[-length:]) for parts in paths]
        if len(set(tails)) == len(tails):
            return [plain(tail) for tail in tails]
    return [f"{plain('/'.join(parts))} ({number})" for number, parts in enumerate(paths, 1)]


def what_was_run(runs: Mapping[str, Summary]) -> Iterator[Row]:
    """Say what each was."""
    yield "", *runs
    yield "validity", *("VALID" if run.valid else "INVALID" for run in runs.values())
    yield "ended", *(run.ended for run in runs.values())
    yield "name", *(plain(str(run.recorded.run.get("name", ABSENT))) for run in runs.values())
    yield "started", *(plain(str(run.recorded.run.get("started", ABSENT))) for run in runs.values())
    yield "users", *(of_steps(run) for run in runs.values())
    yield "load", *(plain(run.last.load) for run in runs.values())
    yield "measured for", *(seconds(run.last.seconds) for run in runs.values())


def of_steps(run: Summary) -> str:
    """Give the number of users, from the first step to the last."""
    users = list(dict.fromkeys(step.users for step in run.steps))
    return count(users[0]) if len(users) == 1 else f"{', '.join(map(count, users[:-1]))}; below: {count(users[-1])}"


def differences(runs: Mapping[str, Summary]) -> Iterator[Row]:
    """Give the facts in which they differ."""
    of_runs = [facts(run.recorded.run) for run in runs.values()]
    found = list(dict.fromkeys((kind, name) for run in of_runs for kind in run for name in run[kind]))
    unlike = [(kind, name, [run[kind].get(name) for run in of_runs]) for kind, name in found]
    unlike = [(kind, name, values) for kind, name, values in unlike if any(value != values[0] for value in values)]
    for kind, name, values in unlike[:MOST_DIFFERENCES]:
        yield f"{kind}: {plain(name)}", *(plain(shown(value)) for value in values)
    if len(unlike) > MOST_DIFFERENCES:
        yield many(len(unlike) - MOST_DIFFERENCES, "more fact"), *("" for _ in runs)


def figures(runs: Mapping[str, Summary]) -> Iterator[Row]:
    """Give the figures of each run's last step; those that none of them has are left out."""
    for label, of in FIGURES.items():
        cells = [of(run.last) for run in runs.values()]
        if any(cell != ABSENT for cell in cells):
            yield label, *cells


def limits(runs: Mapping[str, Summary]) -> Iterator[Row]:
    """Give each limit of a last step, what was measured for it in each run, and whether it was kept."""
    verdicts = [{each.limit: each for each in run.last.limits} for run in runs.values()]
    for limit in dict.fromkeys(name for each in verdicts for name in each):
        yield limit, *(_kept(of[limit]) if limit in of else ABSENT for of in verdicts)


def _kept(verdict: LimitResult) -> str:
    return f"{limit_value(verdict)}, {kept(verdict)}"


def _cpu_of_transaction(step: StepFigures) -> str:
    each = step.host.per_transaction
    return ABSENT if each is None or each.cpu_ms is None else seconds(each.cpu_ms / 1e3)


def _host_cpu(step: StepFigures) -> str:
    cpu = step.host.cpu
    return ABSENT if cpu is None else share((cpu.usr + cpu.sys) / 100)


FIGURES: dict[str, Callable[[StepFigures], str]] = {
    "transactions": lambda step: per_s(step.transactions.per_s),
    "  counted": lambda step: count(step.transactions.count),
    "response p50": lambda step: seconds(step.response.p50),
    "response p95": lambda step: seconds(step.response.p95),
    "response p99": lambda step: seconds(step.response.p99),
    "response p99, since sent": lambda step: seconds(step.response_from_sent.p99),
    "echo p50": lambda step: seconds(step.echo.p50),
    "echo p99": lambda step: seconds(step.echo.p99),
    "errors": lambda step: count(step.errors.count),
    "skipped": lambda step: count(step.skipped),
    "off the response-time law": lambda step: share(step.law.error) if step.law else ABSENT,
    "host CPU, usr + sys": _host_cpu,
    "host CPU of a transaction": _cpu_of_transaction,
    "lateness p99": lambda step: seconds(step.lateness.p99),
    "driver CPU": lambda step: share(step.driver.cpu),
}
