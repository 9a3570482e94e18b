"""`cuesta search`: finds the largest load that meets an objective, and reports it."""

import argparse
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuesta import _native, analysis
from cuesta.analysis.search import Method, Outcome, Try, conclude, decide, go_on, recorded_rate, trials_of
from cuesta.analysis.search.method import Rule
from cuesta.cli.dry_run import plan_data, show_plan
from cuesta.cli.interrupts import interrupts
from cuesta.cli.options import raw_options
from cuesta.cli.output import check_json, say, write_derived, write_json
from cuesta.cli.resumed import check_machine, check_tapes, resumed
from cuesta.engine.folder import check_empty
from cuesta.engine.job import SECOND, Job, prepare, wrapped_lines
from cuesta.engine.search import ENDING, NextTrial, SearchJob, search, seconds_of_trial, with_step
from cuesta.engine.search_folder import note_end
from cuesta.errors import Exit, InputError, UsageError
from cuesta.figures.limit import Limit
from cuesta.plan import Plan, Settings, Step, load
from cuesta.plan.sweep import at_load
from cuesta.report.search import progress
from cuesta.terminal import inform
from cuesta.units import minutes

MOST_USERS = 2000
MOST_RATE = 1e5
"""The largest loads that are tried unless told otherwise: users, and arrivals a second."""
FALLING = ("fairness.jain", "host.cpu.idle", "characters.in_per_s_per_user")
"""Figures that fall as the load grows: an objective may ask for more of these, and of no others."""
OF_OPENINGS = ("connect", "negotiation", "login")
"""Figures of which only users whose line is opened have values."""
OF_THE_DRIVER = ("lateness", "driver")
"""Figures, by their first word, that tell how well the driver did."""
LOWEST_RATE = 0.01
"""The lowest rate that is tried, as a share of the first."""
TRIALS = {"regression": "16 to 32", "rfc9971": "20 to 30"}
"""How many trials most searches make (docs/search.md)."""
EXITS = {
    "host": Exit.GOOD,
    "host gave out": Exit.GOOD,
    "budget": Exit.GOOD,
    "doubts": Exit.INVALID,
    "changed": Exit.REFUSED,
    "driver": Exit.REFUSED,
    "users": Exit.REFUSED,
    "lowest": Exit.REFUSED,
    "highest": Exit.REFUSED,
}
"""By what the search says set the limit. A limit of the driver's, or none, is no answer about the host."""


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    if arguments.resume:
        plan, method = resumed(arguments)
    else:
        plan = _named(load(raw_options(arguments), Path.cwd()))
        method = _method(plan, arguments)
    most = at_load(plan.settings, method.highest)
    job = prepare(replace(plan, settings=most.settings, steps=(most,)))
    if wrapped_lines(job, most):
        what = "a search tries any number of users, and lines at `bsc-loop` come in pairs"
        raise InputError(what, "sweep even numbers instead: cuesta run --users 2,4,8")
    if arguments.resume:
        check_machine(arguments.resume)
        check_tapes(arguments.resume, job)
    chooser = Chooser(plan.settings, method, _budget(plan.settings, arguments.budget), arguments.quiet)
    if arguments.dry_run:
        return _dry_run(job, at_load(plan.settings, method.start), chooser, arguments)
    from cuesta.live import watching  # noqa: PLC0415, a dry run shows no progress

    if not arguments.quiet:
        inform(f"cuesta: {chooser.overview()}")
    with interrupts() as stopping, watching(arguments.quiet) as look:
        search_job = SearchJob(job, most, {"method": method.json()})
        result = search(search_job, arguments.resume or arguments.out, chooser, look, stopping)
        code = sum_up(result.folder, arguments)
        for failure in result.failures:
            inform(f"cuesta: {failure}")
        return Exit.INTERRUPTED if stopping.is_set() else code


def _named(plan: Plan) -> Plan:
    """The plan, called a search unless it has a name of its own."""
    is_named = plan.settings.name != Settings.model_fields["name"].default
    return plan if is_named else replace(plan, settings=plan.settings.model_copy(update={"name": "search"}))


def _method(plan: Plan, arguments: argparse.Namespace) -> Method:
    """The settings of the search, checked. Raises UsageError or InputError."""
    if arguments.out:
        check_empty(arguments.out)
    if len(plan.steps) > 1:
        raise InputError(f"{plan.source}: sweep: a search makes its own steps", "leave the sweep out")
    if not plan.settings.limits:
        raise UsageError("a search needs an objective", "give one, such as --limit 'echo.p95 < 100ms'")
    groups = plan.settings.group
    for limit in plan.settings.limits:
        _check_objective(limit)
        if limit.figure.metric in OF_OPENINGS and all(group.load.arrivals != "sessions" for group in groups):
            why = "users keep their lines from trial to trial, so that only the first trial has it"
            raise InputError(
                f"limit `{limit}`: {why}",
                "give a load of sessions, each with a line of its own: --load open:2/s:sessions",
            )
    rates = [group.load.per_s for group in groups if group.load.kind == "open"]
    start = recorded_rate(sum(rates)) if rates else float(sum(group.users for group in groups))
    lowest = recorded_rate(LOWEST_RATE * start) if rates else 1.0
    highest = _most(arguments.most, start, rates=bool(rates))
    seconds = plan.settings.measure / SECOND
    rule: Rule = arguments.rule or "regression"
    again = rule == "regression"
    return Method(rule, lowest, highest, start, whole=not rates, full_length=seconds, tries_again=again)


def _check_objective(limit: Limit) -> None:
    """Raise InputError for a limit that no load is the largest to meet."""
    if limit.figure.metric.partition(".")[0] in OF_THE_DRIVER:
        why = f"{limit.figure} is the driver's, and says nothing about the host"
        raise InputError(f"limit `{limit}`: {why}", "a trial with a driver too late or too busy does not count anyway")
    asks_for_more, falls = limit.comparison in {">", ">="}, limit.figure.metric in FALLING
    if falls and not asks_for_more:
        why = f"{limit.figure} falls as the load grows, so that no load is the largest to meet it"
        raise InputError(f"limit `{limit}`: {why}", "give a lower bound (`>`); `cuesta run` takes this limit")
    if asks_for_more and not falls:
        why = f"{limit.figure} does not fall as the load grows, so that no load is the largest to meet it"
        raise InputError(
            f"limit `{limit}`: {why}", "give an upper bound, such as 'response.p95 < 1s'; `cuesta run` takes this limit"
        )
    if not asks_for_more and limit.value <= 0 and (limit.comparison == "<" or limit.figure.is_duration):
        raise InputError(f"limit `{limit}`: no load can meet it", "give a bound above 0")


def _most(text: str | None, start: float, *, rates: bool) -> float:
    """The highest load that is tried: whole if it is a number of users, with the digits that are recorded if a rate."""
    default, expected, first = (MOST_RATE, "a number", "--load") if rates else (MOST_USERS, "a whole number", "--users")
    try:
        most = float(text) if text is not None else float(max(default, start))
    except ValueError:
        most = -1.0
    if not start <= most <= 1e6 or not (rates or most.is_integer()):
        raise UsageError(
            f"--most: expected {expected} from {start:,.4g}, the first load, to 1e6, got {text!r}",
            f"give more, or begin with less ({first})",
        )
    return recorded_rate(most) if rates else most


def _budget(settings: Settings, text: str | None) -> float | None:
    """Seconds; None without a budget."""
    if text is None:
        return None
    try:
        budget: float = _native.duration(text) / SECOND
    except ValueError as error:
        raise UsageError(f"--budget: expected a duration such as 10m, got {text!r}: {error}") from None
    if budget < (least := seconds_of_trial(settings, 0) + ENDING):
        what = f"--budget {text}: a search of one trial takes {minutes(least)}"
        raise UsageError(what, "give more time, or measure for less")
    return budget


@dataclass
class Chooser:
    """Reads the folder after each trial, says what it shows, and chooses the next load."""

    settings: Settings
    method: Method
    budget: float | None
    """Seconds."""
    quiet: bool
    begun: int = field(default_factory=_native.now)
    connected: float = 0.0
    """The load of the last trial in this process: a search that goes on begins without users."""
    reading: float = 0.0
    """Seconds that the last summary took: the final one and its page together take about twice as long."""

    def __call__(self, folder: Path) -> NextTrial | None:
        has_any = any(folder.glob("**/agent-*/series.jsonl"))
        began = _native.now()
        summary = analysis.summarise(folder) if has_any else None
        self.reading = (_native.now() - began) / SECOND
        trials = trials_of(summary, self.method) if summary else []
        ask = decide(trials, self.method) if self.connected else go_on(trials, self.method)
        if isinstance(ask, Try) and (why := self._too_late(ask)):
            ask = conclude(trials, self.method, why)
            note_end(folder, why)
        if summary and trials and not self.quiet:
            inform(progress(summary, ask))
        if isinstance(ask, Outcome):
            return None
        drains = not self.method.whole and ask.load < self.connected
        self.connected = ask.load
        step = at_load(self.settings, ask.load)
        note = {"load": ask.load, "purpose": ask.purpose, "because": ask.because}
        return NextTrial(step, note, self._end_by(), is_recovery=ask.purpose == "recover", drains=drains)

    def overview(self) -> str:
        """One sentence before the search."""
        what = "users" if self.method.whole else "arrivals a second"
        objective = " and ".join(limit.text for limit in self.settings.limits)
        each = minutes(seconds_of_trial(self.settings, 0))
        takes = f"a trial takes about {each}, and {TRIALS[self.method.rule]} trials are usual"
        within = f"; it ends within {minutes(self.budget)}" if self.budget else ""
        start = self.method.written(self.method.start)
        return f"searches for the largest number of {what} with {objective}, from {start} on; {takes}{within}"

    def _end_by(self) -> int | None:
        """The instant by which the last trial must have been measured."""
        return None if self.budget is None else self.begun + round((self.budget - ENDING - 2 * self.reading) * SECOND)

    def _too_late(self, ask: Try) -> str:
        end_by = self._end_by()
        if self.budget is None or end_by is None:
            return ""
        change = abs(ask.load - self.connected) if self.method.whole else 0
        takes = seconds_of_trial(self.settings, change)
        is_in_time = _native.now() + takes * SECOND <= end_by
        return "" if is_in_time else f"the budget of {minutes(self.budget)} is spent"


def _dry_run(job: Job, first: Step, chooser: Chooser, arguments: argparse.Namespace) -> int:
    """Show the first trial, and what is searched."""
    trial = with_step(job, first)
    if arguments.json != "-":
        say(show_plan(trial, ["SEARCH", f"  {chooser.overview()}", "  above is the first trial"]), arguments.json)
    write_json(arguments.json, {**plan_data(trial), "search": chooser.method.json()})
    return Exit.GOOD


def sum_up(folder: Path, arguments: argparse.Namespace) -> int:
    """Derive, write and print the result."""
    from cuesta.report.run_report import text  # noqa: PLC0415, a dry run shows no report

    summary = analysis.summarise(folder)
    say(text(summary, verbose=arguments.verbose), arguments.json)
    is_written = write_derived(folder, summary)
    write_json(arguments.json, summary.json())
    assert summary.search
    outcome = summary.search.outcome
    if not summary.valid:
        return Exit.INVALID
    if not is_written:
        return Exit.FAILED
    code = EXITS[outcome.limited_by]
    return Exit.REFUSED if code == Exit.GOOD and None in outcome.interval else code
