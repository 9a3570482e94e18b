"""The library: what `import cuesta` offers. Each function takes the settings of a plan as keywords, by their own names.

Durations are timedeltas, numbers of seconds, or texts as flags have them. Paths are relative to `here`, whose
`cuesta.toml` holds. Nothing is printed, no signal is handled, no environment variable is read.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Unpack

from cuesta.analysis.search.method import Rule
from cuesta.engine.folder import new_folder
from cuesta.engine.ports import Observer
from cuesta.ledger.run_folder import read_run
from cuesta.plan import RawOptions
from cuesta.plan.keywords import PlanSettings
from cuesta.workflow.control import Control, ignore
from cuesta.workflow.find_limit import Search, SearchTerms, find_limit, prepare_resumed, prepare_search
from cuesta.workflow.measure import measure, prepare_run
from cuesta.workflow.run_result import Run, open_finished

File = str | Path


def run(
    tape: File | None = None,
    /,
    *,
    here: File = ".",
    out: File | None = None,
    observer: Observer = ignore,
    stop: threading.Event | None = None,
    **settings: Unpack[PlanSettings],
) -> Run:
    """Emulate users who play a tape, or a plan (a file that ends in `.toml`), and measure; as `cuesta run`.

    `out` is the run folder, new or empty; by default `runs/NAME-DATE-TIME` below `here`. `observer` receives the newest
    snapshot of each agent four times a second. If the event `stop` is set, the run ends early and keeps what was
    measured.

    Raises InputError for a plan or tape that cannot be used, UsageError for a setting, CuestaError if it cannot start.
    A failure of the host raises nothing: it is counted.
    """
    options = _options("cuesta.run", tape, here, settings)
    job = prepare_run(options, Path(here), _path(out))
    return measure(job, _folder(out, here, job.plan.settings.name), Control(observer, stop=stop or threading.Event()))


def search(  # noqa: PLR0913, keywords
    tape: File | None = None,
    /,
    *,
    most: float | None = None,
    rule: Rule = "regression",
    budget: str | None = None,
    resume: File | None = None,
    here: File = ".",
    out: File | None = None,
    observer: Observer = ignore,
    tell: Callable[[str], None] = ignore,
    stop: threading.Event | None = None,
    **settings: Unpack[PlanSettings],
) -> Search:
    """Find the largest load that meets the objective, `limits=["echo.p95 < 100ms"]`; as `cuesta search`.

    `most` is the largest load that is tried, `budget` the duration within which it ends (`20m`), `resume` the folder of
    a search that goes on as it was begun, without other settings. `tell` receives a sentence after each trial. All else
    is as for `run`.
    """
    control = Control(observer, tell, stop or threading.Event())
    if resume is not None:
        return find_limit(prepare_resumed(Path(resume), budget), Path(resume), control)
    terms = SearchTerms(None if most is None else f"{most:g}", rule, budget)
    planned = prepare_search(_options("cuesta.search", tape, here, settings), terms, Path(here), _path(out))
    return find_limit(planned, _folder(out, here, planned.settings.name), control)


def open(folder: File) -> Run:  # noqa: A001, as `cuesta.open`
    """Read a run folder, finished or not; a `Search` if it is one. Raises InputError if it cannot be read."""
    run = open_finished(Path(folder))
    return Search(run.summary) if "search" in read_run(Path(folder)) else run


def _options(function: str, tape: File | None, here: File, settings: PlanSettings) -> RawOptions:
    """What is to be run, as the command line would say it."""
    named = None if tape is None else str(tape)
    plan = Path(here, named) if named and named.endswith(".toml") else None
    command = (function, *([named] if named else []), *(f"{name}={value}" for name, value in settings.items()))
    return RawOptions(plan, None if plan else named, keywords={**settings}, command=command)


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _folder(out: File | None, here: File, name: str) -> Path:
    return Path(out) if out is not None else new_folder(Path(here), name)


__all__: Sequence[str] = ["open", "run", "search"]
