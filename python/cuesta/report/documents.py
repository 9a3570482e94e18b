"""Writes runs as documents: text, Markdown or a page."""

from collections.abc import Mapping
from pathlib import Path

from cuesta.analysis.summary import Summary
from cuesta.report import render
from cuesta.report.page import write
from cuesta.report.run import of_run
from cuesta.report.several import of_runs


def text(summary: Summary, colour: bool | None = None, *, verbose: bool = False) -> str:
    """Write one run for a terminal."""
    return render.text(of_run(summary), colour, verbose=verbose)


def markdown(runs: Mapping[str, Summary]) -> str:
    """Write one run, or several by name, as Markdown."""
    return render.markdown(of_runs(runs))


def html(runs: Mapping[str, Summary], file: Path) -> None:
    """Write the page of one run, or of several by name."""
    write(file, render.html(of_runs(runs), file.absolute().parent))
