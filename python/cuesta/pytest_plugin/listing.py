"""The rows of pytest's summary: the figures and the verdict of each measurement, and where the pages are."""

import os
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from cuesta.columns import align_left, align_right, cut_start, wrap_text
from cuesta.plain_text import plain
from cuesta.pytest_plugin.measurement import Measurement
from cuesta.units import ABSENT, AT_LEAST, seconds

FIGURES = {"echo": ("echo.p50", "echo.p95"), "response": ("response.p50", "response.p95")}
"""Those of responses stand for tests whose tapes time no keys."""
WIDEST = 44
"""Columns for the name of a test."""


def list_rows(measurements: Sequence[Measurement], verbosity: int, columns: int) -> Iterator[str]:
    """A row for each measurement; with -v also its explanation and page, with -q only those that did not pass.

    Explanations are broken between words to fit into `columns`.
    """
    if verbosity < 0:
        measurements = [each for each in measurements if each.outcome in {"failed", "cannot tell"}]
    if not measurements:
        return
    timed = {name.partition(".")[0] for each in measurements for name in list(each.figures)[:1]}
    shown = [name for series, names in FIGURES.items() if series in timed for name in names]
    names = [cut_start(plain(each.name), WIDEST) for each in measurements]
    width = max(map(cell_len, names))
    yield " ".join(
        [align_left("test", width), *(align_right(name.replace(".", " "), 12) for name in shown), " verdict"]
    )
    for name, each in zip(names, measurements, strict=True):
        cells = (align_right(write_figure(figure, each), 12) for figure in shown)
        yield " ".join([align_left(name, width), *cells, f" {each.outcome}"])
        if each.outcome == "cannot tell" or (verbosity > 0 and each.outcome != "failed"):  # pytest explains failures
            for row in each.explanation.splitlines():
                yield from wrap_text(row, columns, "  ", "    ")
        if verbosity > 0:
            yield f"  page: {each.page}"
    if verbosity <= 0:
        yield name_pages([each.page for each in measurements])


def name_pages(pages: Sequence[str]) -> str:
    if len(pages) == 1:
        return f"page: {pages[0]}"
    return f"pages: */*/report.html in {os.path.commonpath(pages)}"


def write_figure(name: str, measurement: Measurement) -> str:
    value = measurement.figures.get(name)
    return ABSENT if value is None else AT_LEAST * (name in measurement.lower_bounds) + seconds(value)
