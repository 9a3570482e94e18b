"""The section on what ran beside the measurement."""

from collections.abc import Iterator

from cuesta.analysis.neighbour import quote_command
from cuesta.figures.step import StepFigures
from cuesta.report.figure import fact, write_figure
from cuesta.report.model import Fact, Facts, Section
from cuesta.units import many, seconds


def section(step: StepFigures) -> Iterator[Section]:
    """Nothing without a neighbour."""
    ran = step.neighbour
    if ran is None:
        return
    ended = f", {ran.ended}" if ran.ended else ""
    used = f"; used {write_figure('neighbour.cpu', step)} CPUs" if ran.cpu is not None else ""
    how = f"ran for {seconds(ran.seconds)} of {seconds(step.seconds)}, {many(ran.starts, 'start')}{ended}{used}"
    meaning = " ".join(fact(name, step).meaning for name in ("neighbour.seconds", "neighbour.starts", "neighbour.cpu"))
    yield Section("Beside it", [Facts([Fact(quote_command(ran.command), how, meaning)])], name="BESIDE")
