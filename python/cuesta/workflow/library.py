"""The library: what `import cuesta` offers. Each function takes the settings of a plan as keywords, by their own names.

Durations are timedeltas, numbers of seconds, or texts as flags have them. Paths are relative to `here`, whose
`cuesta.toml` holds. Nothing is printed, no signal is handled, no environment variable is read.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cuesta.analysis.certify.grade import LEAST_RUNS
from cuesta.analysis.compare.comparison import Terms
from cuesta.analysis.predict.prediction import MARGIN as OF_PREDICTION
from cuesta.analysis.search.method import Rule
from cuesta.analysis.summary import summarise
from cuesta.engine.console import Console, look_away
from cuesta.engine.folder import new_folder
from cuesta.engine.ports import Engine, Observer
from cuesta.errors import InputError, UsageError
from cuesta.ledger.certification import is_certification
from cuesta.ledger.versions import is_versions
from cuesta.line_kinds import is_target
from cuesta.plan import RawOptions, load
from cuesta.plan.keywords import PlanSettings
from cuesta.plan.reading import as_written, number_as_text
from cuesta.shipped_tapes import ShippedTape
from cuesta.target import without_passwords
from cuesta.workflow.certify_system import (
    Certification,
    CertificationTerms,
    certify_systems,
    prepare_certifications,
    read_certification,
)
from cuesta.workflow.check_tape import Check, check_plan, check_tape
from cuesta.workflow.compare_runs import Comparison, check_terms, compare_folders, compare_pairs
from cuesta.workflow.compare_versions import (
    BUDGET,
    MARGIN,
    Versions,
    VersionsSettings,
    prepare_versions,
    read_budget,
    read_comparison,
    read_margin,
    run_versions,
)
from cuesta.workflow.control import Control, ignore
from cuesta.workflow.find_limit import Search, SearchTerms, find_limit, prepare_resumed, prepare_search
from cuesta.workflow.list_tapes import list_tapes
from cuesta.workflow.measure import measure, prepare_run
from cuesta.workflow.neighbours import Neighbours
from cuesta.workflow.predict_loads import Prediction, Questions, predict_loads
from cuesta.workflow.run_pairs import prepare_pairs, run_pairs
from cuesta.workflow.run_result import Run
from cuesta.workflow.web_pages import refuse_page

if TYPE_CHECKING:
    from cuesta.workflow.query_ledger import Frame

File = str | Path


def run(  # noqa: PLR0913, keywords
    tape: File | None = None,
    /,
    *,
    here: File = ".",
    out: File | None = None,
    observer: Observer = look_away,
    stop: threading.Event | None = None,
    engine: Engine | str | None = None,
    **settings: Unpack[PlanSettings],
) -> Run:
    """Emulate users who play a tape, or a plan (a file that ends in `.toml`), and measure; as `cuesta run`.

    `out` is the run folder, new or empty; by default `runs/NAME-DATE-TIME` below `here`. `observer` receives the newest
    snapshot of each agent four times a second. If the event `stop` is set, the run ends early and keeps what was
    measured. `engine` is where the users are, as in plans (`"ray:10.0.0.1:6379"`, with `nodes=3`), or what else has the
    ports of `cuesta.engine.ports.Engine`.

    Raises InputError for a plan or tape that cannot be used, UsageError for a setting, CuestaError if it cannot start.
    A failure of the host raises nothing: it is counted.
    """
    options = _options("cuesta.run", tape, here, settings, engine)
    job = prepare_run(options, Path(here), _path(out, here))
    return measure(job, _folder(out, here, job.plan.settings.name), _control(observer, stop, engine))


def search(  # noqa: PLR0913, keywords
    tape: File | None = None,
    /,
    *,
    most: float | str | None = None,
    rule: Rule = "regression",
    budget: timedelta | float | str | None = None,
    resume: File | None = None,
    here: File = ".",
    out: File | None = None,
    observer: Observer = look_away,
    tell: Callable[[str], None] = ignore,
    stop: threading.Event | None = None,
    engine: Engine | str | None = None,
    **settings: Unpack[PlanSettings],
) -> Search:
    """Find the largest load that meets the objective, `limits=["echo.p95 < 100ms"]`; as `cuesta search`.

    `most` is the largest load that is tried, `budget` the duration within which it ends, `resume` the folder of
    a search that goes on as it was begun, without other settings. `tell` receives a sentence after each trial. All else
    is as for `run`.
    """
    control = _control(observer, stop, engine, tell)
    terms = SearchTerms(_number(most), rule, _number(as_written(budget)))
    if resume is not None:
        given = {"a tape": tape, "most": most, "out": out, **settings}
        if wrong := [name for name, value in given.items() if value is not None]:
            what = f"resume: the search goes on as it was begun, without {', '.join(wrong)}"
            raise UsageError(what, "leave it out")
        folder = Path(here, resume)
        return find_limit(prepare_resumed(folder, terms.budget, Path(here)), folder, control)
    options = _options("cuesta.search", tape, here, settings, engine)
    planned = prepare_search(options, terms, Path(here), _path(out, here))
    return find_limit(planned, _folder(out, here, planned.settings.name), control)


def compare(  # noqa: PLR0913, keywords
    base: File | Run,
    new: File | Run | None = None,
    /,
    *,
    margin: float = 0.05,
    step: int | None = None,
    despite: str | None = None,
    compensation: Mapping[str, float] | None = None,
    pairs: int | None = None,
    here: File = ".",
    out: File | None = None,
    observer: Observer = look_away,
    tell: Callable[[str], None] = ignore,
    stop: threading.Event | None = None,
    engine: Engine | str | None = None,
    nodes: int | None = None,
) -> Comparison:
    """Compare two sides of runs: folders, or runs, or two plans, which are run in turn; as `cuesta compare`.

    Without `new`, `base` is a folder of pairs. `margin` is the least change that matters, a share; `step` counts from
    0, by default the last; `despite` is the reason to compare sides that differ, `compensation` the factor of each
    figure that makes up for a changed method. `pairs` and what follows are for plans. Versions of one program, as
    targets: `compare_versions`.
    """
    if targets := [side for side in (base, new) if isinstance(side, str) and is_target(side)]:
        what = f"{without_passwords(targets[0])}: a target, and what is compared is runs"
        raise UsageError(what, "compare targets with cuesta.compare_versions")
    terms = check_terms(Terms(margin, despite, compensation or {}))
    if step is not None and not (isinstance(step, int) and step >= 0):
        raise UsageError(f"step: expected a number from 0, got {step!r}", "steps count from 0 here, from 1 in reports")
    if not _are_plans(base, new) or new is None:
        if pairs is not None or out is not None:
            raise UsageError("pairs and out are for two plans, which are run in turn", "leave them out")
        one = _place(base, here)
        return compare_pairs(one, terms, step) if new is None else compare_folders(one, _place(new, here), terms, step)
    one_plan, other = (
        RawOptions(_place(plan, here), keywords=_place_of(engine, nodes), command=("cuesta.compare", str(plan)))
        for plan in (base, new)
    )
    planned = prepare_pairs(one_plan, other, Path(here), None if pairs is None else str(pairs), terms)
    control = _control(observer, stop, engine, tell)
    return compare_pairs(run_pairs(planned, _folder(out, here, "compare"), step, control), terms, step)


def compare_versions(  # noqa: PLR0913, keywords
    base: str,
    new: str | None = None,
    /,
    *,
    tape: File | None = None,
    margin: float | str = MARGIN,
    budget: timedelta | float | str = BUDGET,
    figures: Sequence[str] = (),
    despite: str | None = None,
    revisions: str | None = None,
    build: str | None = None,
    beside: str | None = None,
    sessions: int | str | None = None,
    sessions_tape: File | None = None,
    here: File = ".",
    out: File | None = None,
    observer: Observer = look_away,
    tell: Callable[[str], None] = ignore,
    stop: threading.Event | None = None,
    engine: Engine | str | None = None,
    nodes: int | None = None,
) -> Versions:
    """Compare two versions of a program, `"pty:./app-1.4"` and `"pty:./app-1.5"`; as `cuesta compare TARGET TARGET`.

    Pairs of short runs are made until they tell whether the new version is worse, or `budget` is used up. `margin` is
    the least change for the worse that matters: a share, `"5%"`, `"2ms"`. `figures` are judged, by default `echo.p50`.
    `revisions="main..HEAD"` compares two revisions of one target, each in a worktree, where the command `build` builds
    it. One target with `beside="make -j8"` or `sessions=10` is compared with itself: alone, and beside the command or
    nine other sessions. The folder of a comparison that was made before is derived again.
    """
    if not is_target(base) and new is None and is_versions(Path(here, base)):
        return read_comparison(Path(here, base))
    settings = VersionsSettings(read_margin(margin), _budget(budget), _texts(figures), despite)
    targets = [base] if new is None else [base, new]
    planned = prepare_versions(
        targets,
        _word(tape),
        settings,
        Path(here),
        command=("cuesta.compare_versions", *targets),
        flags=_place_of(engine, nodes),
        revisions=revisions,
        build=build,
        neighbours=Neighbours(beside, None if sessions is None else str(sessions), _word(sessions_tape)),
    )
    return run_versions(planned, _folder(out, here, "compare"), _control(observer, stop, engine, tell))


def predict(  # noqa: PLR0913, keywords
    *inputs: File | Run,
    at: Sequence[str] = (),
    users: float | str | None = None,
    limit: str | None = None,
    configuration: Sequence[str] = (),
    fit: Sequence[str] = (),
    margin: float = OF_PREDICTION,
    demand: Sequence[str] = (),
    servers: Sequence[str] = (),
    seed: int | None = None,
    here: File = ".",
) -> Prediction:
    """Predict other loads from run folders, runs or a typed table; as `cuesta predict`.

    Questions are written as in the flags: `at=["users=500,think=5s"]`, `demand=["cpu=-20%"]`; a single one may be a
    text. `margin` is a share. With `seed` the fitted model is simulated, and gives percentiles.
    """
    at, configuration, fit, demand, servers = map(_texts, (at, configuration, fit, demand, servers))
    asked = Questions(at, _number(users), limit, configuration, fit, margin, demand, servers, seed)
    return predict_loads([_place(each, here) for each in inputs], asked, ignore)


def certify(  # noqa: PLR0913, keywords
    plan: File,
    /,
    *,
    runs: int = LEAST_RUNS,
    absentee: bool = False,
    system: str | None = None,
    reference: File | None = None,
    profile: File | None = None,
    comments: Sequence[str] = (),
    here: File = ".",
    out: File | None = None,
    observer: Observer = look_away,
    tell: Callable[[str], None] = ignore,
    stop: threading.Event | None = None,
    engine: Engine | str | None = None,
    nodes: int | None = None,
) -> dict[str, Certification]:
    """Certify each group of a plan by repeated runs on this machine; as `cuesta certify`.

    Returns the certification of each group. `runs` is how many must count; the other terms are the flags'
    (docs/certify.md). The folder of a certification that was made before is derived again.
    """
    if Path(here, plan).is_dir():
        given = {"absentee": absentee, "system": system, "reference": reference, "profile": profile, "out": out}
        if wrong := [name for name, value in {**given, "comments": comments}.items() if value]:
            what = f"{', '.join(wrong)}: for a plan that is run, and {plan} was made already"
            raise UsageError(what, "leave it out")
        certification = read_certification(Path(here, plan))
        return {certification.record.given.group: certification}
    where = _place_of(engine, nodes)
    loaded = load(RawOptions(Path(here, plan), keywords=where, command=("cuesta.certify", str(plan))), Path(here))
    terms = CertificationTerms(runs, absentee, system, _path(reference, here), _path(profile, here), _texts(comments))
    planned = prepare_certifications(loaded, terms, _folder(out, here, loaded.settings.name))
    return dict(certify_systems(planned, _control(observer, stop, engine, tell)))


def open(folder: File) -> Run:  # noqa: A001, as `cuesta.open`
    """Read a run folder, finished or not; a `Search` if it is one. Raises InputError if it cannot be read."""
    if is_certification(Path(folder)):
        raise InputError(f"{folder}: a certification, and no run folder", f"cuesta.certify({str(folder)!r}) reads it")
    summary = summarise(Path(folder))
    return Search(summary) if "search" in summary.recorded.run else Run(summary)


def query(sql: str, /, *places: File) -> "Frame":
    """Select from the tables of the ledger, filled from the runs and certifications in folders and below them.

    Arrow's readers take the result as it is: `polars.DataFrame(cuesta.query("FROM steps", "runs"))`. Raises UsageError
    for a query that is not one SELECT (`cuesta ledger --tables` lists tables and columns).
    """
    from cuesta.workflow.query_ledger import query_ledger  # noqa: PLC0415, DuckDB is slow to load

    return query_ledger(sql, [Path(place) for place in places or (".",)])


def check(file: File, /, *, here: File = ".") -> Check:
    """Check a tape or a plan, and tell how it is read. Raises InputError with the place, and what was expected."""
    is_plan = str(file).endswith(".toml")
    return check_plan(Path(here, file), Path(here)) if is_plan else check_tape(str(file), Path(here))


def tapes() -> Sequence[ShippedTape]:
    """The tapes that ship with Cuesta: the `word`, `purpose`, `target` and `text` of each; as `cuesta tapes`."""
    return list_tapes().tapes


def _options(
    function: str, tape: File | None, here: File, settings: PlanSettings, engine: Engine | str | None
) -> RawOptions:
    """What is to be run, as the command line would say it."""
    refuse_page(settings.get("target"))
    if tape is None and "tape" in settings:
        tape = settings.pop("tape")
    named = None if tape is None else str(tape)
    plan = Path(here, named) if named and named.endswith(".toml") else None
    keywords = {**settings, **_place_of(engine, None)}
    command = (function, *([named] if named else []), *(f"{name}={value}" for name, value in keywords.items()))
    return RawOptions(plan, None if plan else named, keywords=keywords, command=command)


def _place_of(engine: Engine | str | None, nodes: int | None) -> dict[str, object]:
    """The settings that say where the users are."""
    given = {"engine": engine if isinstance(engine, str) else None, "nodes": nodes}
    return {name: value for name, value in given.items() if value is not None}


def _number(value: object) -> str | None:
    """A number as its flag has it."""
    return None if value is None else number_as_text(value)


def _are_plans(base: File | Run, new: File | Run | None) -> bool:
    """Whether two sides are plans. Raises UsageError if only one is."""
    plans = [side for side in (base, new) if str(side).endswith(".toml")]
    if len(plans) == 1:
        raise UsageError(f"{plans[0]}: a plan, and the other side is none", "give two plans, or two runs")
    return bool(plans)


def _budget(duration: timedelta | float | str) -> float:
    """Seconds."""
    return read_budget(number_as_text(as_written(duration)))


def _texts(texts: Sequence[str]) -> Sequence[str]:
    """Texts that may be given as one."""
    return [texts] if isinstance(texts, str) else texts


def _place(side: File | Run, here: File) -> Path:
    """The folder of a run, or the path of a file."""
    return side.folder if isinstance(side, Run) else Path(here, side)


def _word(tape: File | None) -> str | None:
    """The name of a tape as text."""
    return None if tape is None else str(tape)


def _control(
    observer: Observer, stop: threading.Event | None, engine: Engine | str | None, tell: Callable[[str], None] = ignore
) -> Control:
    console = Console(observer, stop or threading.Event())
    return Control(console, tell, engine=None if isinstance(engine, str) else engine)


def _path(file: File | None, here: File) -> Path | None:
    return None if file is None else Path(here, file)


def _folder(out: File | None, here: File, name: str) -> Path:
    return _path(out, here) or new_folder(Path(here), name)
