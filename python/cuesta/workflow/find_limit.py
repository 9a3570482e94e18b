"""Finds the largest load that meets an objective: settings → method → trials, each chosen by those before → result."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuesta import _native
from cuesta.analysis.search import Method, Outcome, Try, first_state, recorded_rate, replay, search_state
from cuesta.analysis.search.method import Rule
from cuesta.analysis.summary import Follower, Summary
from cuesta.engine.folder import check_empty
from cuesta.engine.job import SECOND, Job, count_looped_lines, prepare
from cuesta.engine.search import ENDING, NextTrial, SearchJob, search, seconds_of_trial
from cuesta.engine.search_folder import note_end
from cuesta.errors import Exit, InputError, UsageError
from cuesta.figures.search import SearchFigures
from cuesta.plan import Plan, RawOptions, Settings, load
from cuesta.plan.sweep import at_load
from cuesta.records.observation import SearchState
from cuesta.report.search import write_progress
from cuesta.units import minutes
from cuesta.workflow.control import Control
from cuesta.workflow.objective import check_objective
from cuesta.workflow.resumed_search import check_machine, check_tapes, read_resumed_plan
from cuesta.workflow.run_result import Run, finish

MOST_USERS = 2000
MOST_RATE = 1e5
"""The largest loads that are tried unless told otherwise: users, and arrivals a second."""
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
"""By `limited_by`. Where the driver set the limit, or none was found, nothing is known of the host: refused."""


@dataclass(frozen=True, repr=False)
class Search(Run):
    """A finished search: the run with a step for each trial, and what its trials together say."""

    @property
    def result(self) -> SearchFigures:
        """What was found: `users`, `interval`, `certified`, `limited_by`, … (docs/search.md)."""
        assert self.summary.search
        return self.summary.search.figures()

    @property
    def exit(self) -> Exit:
        """The code with which the command ends: a search whose budget ended without an interval found no limit."""
        if self.interrupted or not self.valid or self.unwritten:
            return super().exit
        code = EXITS[self.result.limited_by]
        return Exit.REFUSED if code == Exit.GOOD and None in self.result.interval else code


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """What a search is told besides the settings of its plan, as texts of flags."""

    most: str | None = None
    """The largest load that may be tried."""
    rule: Rule = "regression"
    budget: str | None = None
    """The duration within which it ends."""


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """A search, checked and ready to begin or to go on."""

    search: SearchJob
    settings: Settings
    method: Method
    budget: float | None
    """Seconds; None: it takes as long as it takes."""

    @property
    def first_trial(self) -> Job:
        """The job of the first trial alone."""
        return self.search.job.with_step(at_load(self.settings, self.method.start))

    def overview(self) -> str:
        """One sentence before the search."""
        what = "users" if self.method.whole else "arrivals a second"
        objective = " and ".join(limit.text for limit in self.settings.limits)
        trial = minutes(seconds_of_trial(self.settings, 0))
        takes = f"a trial takes about {trial}, and {TRIALS[self.method.rule]} trials are usual"
        within = f"; it ends within {minutes(self.budget)}" if self.budget else ""
        start = self.method.with_unit(self.method.start)
        return f"searches for the largest number of {what} with {objective}, from {start} on; {takes}{within}"


def prepare_search(options: RawOptions, terms: SearchTerms, here: Path, out: Path | None) -> PlannedSearch:
    """Read and check everything that a search needs. Paths are relative to `here`; `out` is to be its folder."""
    plan = _name_plan(load(options, here))
    if out:
        check_empty(out)
    return _plan_search(plan, _method(plan, terms), terms.budget)


def prepare_resumed(folder: Path, budget: str | None, here: Path) -> PlannedSearch:
    """Read and check what a search needs to go on in its folder. Raises InputError if machine or tapes differ."""
    planned = _plan_search(*read_resumed_plan(folder, here), budget)
    check_machine(folder)
    check_tapes(folder, planned.search.job)
    return planned


def find_limit(planned: PlannedSearch, out: Path, control: Control) -> Search:
    """Make the trials and sum them up."""
    control.prepare_lines(planned.search.job)
    chooser = Chooser(planned.settings, planned.method, planned.budget, control.tell)
    with control.open_engine(planned.settings) as engine:
        console = control.console.showing(lambda seen: replace(seen, search=chooser.state))
        result = search(planned.search, out, chooser, console, engine)
    return finish(result, Search)


def _plan_search(plan: Plan, method: Method, budget: str | None) -> PlannedSearch:
    most = at_load(plan.settings, method.highest)
    job = prepare(plan.with_step(most))
    if count_looped_lines(job, most):
        what = "a search tries any number of users, and lines at `bsc-loop` come in pairs"
        raise InputError(what, "sweep even numbers instead: cuesta run --users 2,4,8")
    if plan.settings.beside or any(group.background for group in plan.settings.group):
        what = "a search has nothing beside it: no neighbour (`beside`), no users in the background (`sessions`)"
        raise InputError(what, "sweep instead: cuesta run --users 1,2,5,10 --beside COMMAND")
    if any(group.is_probe for group in plan.settings.group):
        what = "a search has no probe: its trials are short, and a probe has few users"
        raise InputError(what, "run the load that it finds with a probe beside it")
    search_job = SearchJob(job, most, {"method": method.json()})
    return PlannedSearch(search_job, plan.settings, method, _budget(plan.settings, budget))


def _name_plan(plan: Plan) -> Plan:
    """The plan, called a search unless it has a name of its own."""
    is_named = plan.settings.name != Settings.model_fields["name"].default
    return plan if is_named else replace(plan, settings=plan.settings.model_copy(update={"name": "search"}))


def _method(plan: Plan, terms: SearchTerms) -> Method:
    """The settings of the search, checked. Raises UsageError or InputError."""
    if len(plan.steps) > 1:
        raise InputError(f"{plan.source}: sweep: a search makes its own steps", "leave the sweep out")
    check_objective(plan.settings)
    if terms.rule not in TRIALS:
        raise UsageError(f"--rule: expected {' or '.join(TRIALS)}, got {terms.rule!r}")
    groups = plan.settings.group
    rates = [group.load.per_s for group in groups if group.load.kind == "open"]
    start = recorded_rate(sum(rates)) if rates else float(sum(group.users for group in groups))
    return Method(
        rule=terms.rule,
        lowest=recorded_rate(LOWEST_RATE * start) if rates else 1.0,
        highest=_most(terms.most, start, rates=bool(rates)),
        start=start,
        whole=not rates,
        full_length=plan.settings.measure / SECOND,
        tries_again=terms.rule == "regression",
    )


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
    tell: Callable[[str], None]
    begun: int = field(default_factory=_native.now)
    load: float = 0.0
    """The load of the last trial in this process; 0 before it, as a search that is resumed begins without users."""
    follower: Follower | None = None
    reading: float = 0.0
    """Seconds that it took to sum up after each trial: the final summary and its page take about twice as long."""
    state: SearchState | None = None
    """What those who watch are shown of it."""

    def __call__(self, folder: Path) -> NextTrial | None:
        began = _native.now()
        summary = self._summarise(folder)
        self.reading += (_native.now() - began) / SECOND
        known = summary.search.replay if summary and summary.search else replay([], self.method)
        decision = known.next if self.load else known.resumed
        if isinstance(decision, Try) and (why := self._why_too_late(decision)):
            decision = known.conclude(why)
            note_end(folder, why)
        if summary and known.rows:
            self.tell(write_progress(summary, decision))
            self.state = search_state(summary, decision)
        else:
            self.state = first_state(self.method, [limit.text for limit in self.settings.limits], decision)
        if isinstance(decision, Outcome):
            return None
        drains = not self.method.whole and decision.load < self.load
        self.load = decision.load
        step = at_load(self.settings, decision.load)
        note = {"load": decision.load, "purpose": decision.purpose, "because": decision.because}
        return NextTrial(step, note, self._end_by(), is_recovery=decision.purpose == "recover", drains=drains)

    def _summarise(self, folder: Path) -> Summary | None:
        """Sum up the trials so far; None before an agent has recorded anything."""
        if not any(folder.glob("**/agent-*/series.jsonl")):
            return None
        self.follower = self.follower or Follower(folder)
        return self.follower.summarise()

    def _end_by(self) -> int | None:
        """The instant by which the last trial must have been measured."""
        return None if self.budget is None else self.begun + round((self.budget - ENDING - 2 * self.reading) * SECOND)

    def _why_too_late(self, trial: Try) -> str:
        """Why a trial cannot be measured within the budget; empty if it can."""
        end_by = self._end_by()
        if self.budget is None or end_by is None:
            return ""
        change = abs(trial.load - self.load) if self.method.whole else 0
        takes = seconds_of_trial(self.settings, change)
        is_in_time = _native.now() + takes * SECOND <= end_by
        return "" if is_in_time else f"the budget of {minutes(self.budget)} is spent"
