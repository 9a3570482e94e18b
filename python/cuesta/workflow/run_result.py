"""What is known of a finished run: its figures, whether they can be trusted, its text and its page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cuesta.analysis.summary import Summary, summarise
from cuesta.engine.run_job import RunResult
from cuesta.errors import CuestaError, Exit
from cuesta.figures.step import LimitResult, StepFigures
from cuesta.figures.whole_run import RunFigures
from cuesta.private_files import replace_json

if TYPE_CHECKING:
    from cuesta.workflow.query_ledger import Frame


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run.

    Its figures and those of its last step are attributes: `run.echo.p95` in seconds, `run.transactions.per_s`, and so
    on, as docs/summary.md lists them; None where nothing was measured.
    """

    summary: Summary
    """What `cuesta.analysis` derives from the folder."""
    failures: Sequence[str] = ()
    """Failures of the driver, a sentence each; those of the host are counted in `errors`."""
    notes: Sequence[str] = ()
    """What else happened, a sentence each."""
    unwritten: Sequence[str] = ()
    """Files that could not be written into the folder, each with the reason."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.folder}>"

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.summary.recorded.folder

    @property
    def valid(self) -> bool:
        """Whether the figures can be trusted."""
        return self.summary.valid

    @property
    def doubts(self) -> list[str]:
        """Why they cannot be trusted, a sentence each, with what to do."""
        return self.summary.invalid_because

    @property
    def limits(self) -> list[LimitResult]:
        """Each limit of each step, and whether it was kept."""
        return self.summary.limits

    @cached_property
    def limited_by(self) -> str:
        """One sentence: what limits the host, or that nothing did."""
        from cuesta.analysis.capacity.bottleneck import find_bottleneck  # noqa: PLC0415, slow, and not always wanted

        return str(find_bottleneck(self.summary))

    @property
    def steps(self) -> list[StepFigures]:
        """The figures of each step."""
        return self.summary.steps

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped; its figures are of the part before that."""
        return self.summary.ended == "interrupted"

    @property
    def exit(self) -> Exit:
        """The code with which the command ends. That it was stopped, or is invalid, has precedence over a limit."""
        if self.interrupted:
            return Exit.INTERRUPTED
        if not self.valid:
            return Exit.INVALID
        if self.unwritten:
            return Exit.FAILED
        return {True: Exit.GOOD, False: Exit.LIMIT, None: Exit.INCONCLUSIVE}[self.summary.limits_ok]

    def __getattr__(self, name: str) -> Any:
        """A figure, or a table of figures, of the run or of its last step."""
        if name in RunFigures.__dataclass_fields__:
            return getattr(self.summary.figures(), name)
        if name in StepFigures.__dataclass_fields__:
            return getattr(self.summary.last, name)
        raise AttributeError(f"a run has no figure `{name}`; docs/summary.md lists them")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *RunFigures.__dataclass_fields__, *StepFigures.__dataclass_fields__})

    def text(self, *, verbose: bool = False, colour: bool | None = False) -> str:
        """The summary for a terminal; `verbose`: not only its first screen; `colour` None: if this is a terminal."""
        from cuesta.report.run_report import text  # noqa: PLC0415, slow, and not always wanted

        return text(self.summary, colour, verbose=verbose)

    def page(self, file: Path | str | None = None) -> Path:
        """Write the page, by default `report.html` in the run folder; returns its file."""
        from cuesta.report.several import write_page  # noqa: PLC0415, slow, and not always wanted

        file = Path(file or self.folder / "report.html")
        write_page({self.folder.name: self.summary}, file)
        return file

    def frame(self, table: str = "steps") -> "Frame":
        """A table of the ledger with this run's rows, for anything that reads Arrow (`cuesta ledger --tables`)."""
        from cuesta.workflow.query_ledger import frame_of_run  # noqa: PLC0415, DuckDB is slow to load

        return frame_of_run(self.folder, table)

    def _repr_html_(self) -> str:
        """The page of the run, in a frame of its own, for notebooks."""
        from cuesta.report.several import build_page  # noqa: PLC0415, slow, and not always wanted

        # As `str`: a `Markup` would escape what `escape` puts into it once more.
        page = escape(str(build_page({self.folder.name: self.summary}, self.folder)))
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints (docs/summary.schema.json)."""
        return self.summary.json()


Finished = TypeVar("Finished", bound=Run)


def finish(result: RunResult, kind: type[Finished]) -> Finished:
    """Derive everything from the folder of a run that has just ended, and write it there.

    The result names those of `summary.json` and `report.html` that could not be written.
    """
    run, unwritten = kind(summarise(result.folder), result.failures, result.notes), list[str]()
    for name, write in (("summary.json", lambda file: replace_json(file, run.json())), ("report.html", run.page)):
        try:
            write(run.folder / name)
        except OSError as error:
            unwritten.append(f"{name}: {error.strerror}")
        except CuestaError as error:
            unwritten.append(f"{name}: {error}")
    return replace(run, unwritten=unwritten)
